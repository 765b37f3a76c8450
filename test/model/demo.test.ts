// The demo model, driven by the official SDK: it answers from what the tools return, whatever the files say.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createScriptedModel, type ScriptedModel } from '../../shared/adapters/scripted-model/server.ts';
import { checkRequest } from '../../shared/core/check-request.ts';
import { countByColumn, readFixture } from '../support/main-job.ts';
import { createHandLoop } from './hand-loop.ts';

let server: ScriptedModel;
let url = '';
beforeAll(async () => {
  server = createScriptedModel({ check: checkRequest });
  ({ url } = await server.listen());
});
afterAll(async () => {
  expect(server.refusals).toEqual([]);
  await server.close();
});

const UP = '/mnt/session/uploads';
const SALES = `id,date,region,product,unit_price,amount
1,2026-01-05,North,Tea,2.50,100
2,2026-01-06,South,Coffee,"1,004.25",250.5
3,2026-01-07,North,Tea,2.50,40
4,2026-01-08,"West, far",Cocoa,3.75,300
5,2026-01-09,South,Tea,2.50,9.25
`;
const loop = (files: Record<string, string> = { [`${UP}/sales.csv`]: SALES }, options = {}) =>
  createHandLoop(url, files, options);

describe('figures of one table', () => {
  it.each([
    ['What is the total amount in sales.csv?', '699.75'],
    ['sum up the amounts in sales.csv please', '699.75'],
    ['What is the average amount?', '139.95'],
    ['What is the median amount in sales.csv?', '100'],
    ['What is the highest unit price in sales.csv?', '1004.25'],
    ['What is the lowest amount in sales.csv, and in which row?', '9.25'],
    ['How many rows does sales.csv have?', '5'],
    ['How many different products are in sales.csv?', '3'],
    ['Which region has the highest total amount in sales.csv?', 'West, far has the highest total amount: 300'],
    ['Which product has the lowest average unit price in sales.csv?', 'Tea has the lowest average unit_price: 2.5'],
    ['Which region occurs most often in sales.csv?', 'North, South occur most often: 2'],
    ['Which product is the most common in sales.csv?', 'Tea occurs most often: 3 of 5'],
    ['Total amount per region in sales.csv', '- South: 259.75'],
    ['What is the average amount for each product?', '- Tea: 49.75'],
    ['How many rows per product are there in sales.csv?', '- Tea: 3'],
    ['What is the total amount for region North?', '140'],
    ['How much amount did Tea bring?', '149.25'],
    ['How many rows have an amount over 99 in sales.csv?', 'has 3 rows'],
    ['List the regions in sales.csv', 'North, South, West, far'],
    ['Tell me about sales.csv', '5 rows and 6 columns'],
    ['Which dates have an amount below 50?', '2026-01-07, 2026-01-09'],
    ['Which product has the most ids in sales.csv?', 'Tea has the highest number of rows: 3'],
  ])('%s', async (question, answer) => {
    const { text, calls } = await loop().ask(question);
    expect(text).toContain(answer);
    expect(calls.some((c) => c.name === 'read')).toBe(true);
  });

  it('changes with the file', async () => {
    const talk = loop();
    expect((await talk.ask('What is the total amount in sales.csv?')).text).toContain('699.75');
    talk.files.set(`${UP}/sales.csv`, SALES.replace('9.25', '1009.25'));
    const again = await talk.ask('And what is the total amount in /mnt/session/uploads now?');
    expect(again.text).toContain('1699.75');
    expect(again.calls.map((c) => c.input)).toEqual([{ file_path: `${UP}/sales.csv` }]);
  });

  it('under the other face, numbered lines and all', async () => {
    const { text, calls } = await loop(undefined, { face: 'claude_code' }).ask('Total amount in sales.csv?');
    expect(text).toContain('699.75');
    expect(calls.map((c) => c.name)).toEqual(['Read']);
    const described = await loop(undefined, { face: 'claude_code' }).ask('Describe sales.csv');
    expect(described.text).toContain('- id: 1 to 5');
  });

  it('a file too large for one read is read in parts, several at once', async () => {
    const rows = Array.from({ length: 4500 }, (_, n) => `${n},${n % 7}`);
    const big = { [`${UP}/big.csv`]: `id,score\n${rows.join('\n')}\n` };
    const sum = rows.reduce((total, row) => total + Number(row.split(',')[1]), 0);
    for (const face of ['own', 'claude_code']) {
      const { text, calls, rounds } = await loop(big, { face, fileReadCharsMax: 10_000 }).ask(
        'What is the total score in big.csv?',
      );
      expect(text).toContain(`${sum} (4500 rows`);
      expect(calls.length).toBeGreaterThan(rounds);
    }
  });
});

describe('several files', () => {
  const PEOPLE = 'name,team\nAda,red\nBob,blue\nCy,red\n';
  const SCORES = 'name;points\nAda;10\nBob;30\nCy;5\nDi;7\n';
  const files = { [`${UP}/people.csv`]: PEOPLE, [`${UP}/scores.csv`]: SCORES };

  it('joins over the common column', async () => {
    const { text, calls } = await loop(files).ask(
      'Which team in people.csv has the highest total points in scores.csv?',
    );
    expect(text).toContain('blue has the highest total points: 30');
    expect(calls.map((c) => (c.input as { file_path: string }).file_path)).toEqual([
      `${UP}/people.csv`,
      `${UP}/scores.csv`,
    ]);
  });

  it('finds them itself, and reads them in one round', async () => {
    const { text, rounds } = await loop(files).ask('What are the total points per team?');
    expect(text).toContain('- red: 15');
    expect(rounds).toBe(3);
  });

  it('takes a restriction from one file and the figure from the other', async () => {
    const { text } = await loop(files).ask('What is the total points of team red?');
    expect(text).toContain('The total points is 15');
  });

  it('compares', async () => {
    const { text } = await loop(files).ask('Compare people.csv and scores.csv');
    expect(text).toContain('Values of name in both: 3');
    expect(text).toContain('only in scores.csv: 1 (Di)');
  });

  it('the main job: a ranking, a look-up, and a report that holds the figures', async () => {
    const [zones, countries] = [await readFixture('time-zones.csv'), await readFixture('countries.csv')];
    const talk = loop({ [`${UP}/time-zones.csv`]: zones, [`${UP}/countries.csv`]: countries });
    const { text, rounds } = await talk.ask(
      'Which value of "code" occurs most often in time-zones.csv? Look up its row in countries.csv, and write the count per code to /mnt/session/outputs/report.csv.',
    );
    const [[code, count] = []] = countByColumn(zones, 'code');
    const country = countries
      .split('\n')
      .find((line) => line.startsWith(`${code},`))
      ?.split(',')[1];
    expect(text).toContain(`${code} occurs most often: ${count} of`);
    expect(text).toContain(`country = ${country}`);
    expect(rounds).toBeGreaterThan(2);
    const report = talk.files.get('/mnt/session/outputs/report.csv') ?? '';
    expect(report.split('\n')[0]).toBe('code,count');
    for (const [value, n] of countByColumn(zones, 'code')) expect(report).toContain(`\n${value},${n}\n`);
  });
});

describe('other requests', () => {
  it('a report without a name', async () => {
    const talk = loop();
    const { text } = await talk.ask('Total amount per region in sales.csv. Write a short report.');
    expect(text).toContain('Written to /mnt/session/outputs/report.md');
    expect(talk.files.get('/mnt/session/outputs/report.md')).toContain('| South | 259.75 |');
  });

  it('runs a command and reports what it printed', async () => {
    expect((await loop().ask('Please run `ls -l /tmp`')).text).toContain('ran ls -l /tmp');
    expect((await loop().ask('run `false` and then `date`')).text).toMatch(/`false` failed:[\s\S]*`date` printed/);
  });

  it('writes what it is given', async () => {
    const talk = loop();
    await talk.ask('Write "hello there" to /workspace/greeting.txt');
    expect(talk.files.get('/workspace/greeting.txt')).toBe('hello there\n');
  });

  it('plain text: the lines that the question is about', async () => {
    const notes = 'Meeting of May\nThe budget was raised to 900\nLunch at noon\n';
    const talk = loop({ [`${UP}/notes.txt`]: notes });
    expect((await talk.ask('What does notes.txt say about the budget?')).text).toContain(
      'line 2: The budget was raised to 900',
    );
    expect((await talk.ask('How many lines does notes.txt have?')).text).toContain('3 lines');
  });

  it('a file that lies elsewhere is found; one that is nowhere is said to be', async () => {
    const talk = loop({ '/workspace/deep/data.json': '[{"k":"a","v":2},{"k":"b","v":3}]' });
    expect((await talk.ask('What is the total v in data.json?')).text).toContain('The total v is 5');
    expect((await talk.ask('What is in nothere.csv?')).text).toContain('no such file');
  });

  it('a custom tool that the question speaks of', async () => {
    const { text, calls } = await loop({}, { tools: ['get_weather'] }).ask('What is the weather in "Oslo"?');
    expect(calls.map((c) => c.name)).toEqual(['get_weather']);
    expect(text).toContain('get_weather');
  });

  it('thinks where the request has thinking on', async () => {
    const { types } = await loop(undefined, { thinking: true }).ask('Total amount in sales.csv?');
    expect(types).toEqual(['thinking', 'text', 'tool_use', 'thinking', 'text']);
  });

  it.each(['What is in my files?', 'Which files do you see?', 'what files are there'])(
    'says so when there are no files: %s',
    async (question) => {
      const { text, calls } = await loop({}).ask(question);
      expect(text).toMatch(/^No files are attached\b.*\bCSV\b/s);
      expect(text).not.toMatch(/error|could not|demo model could/i);
      expect(calls.map((c) => c.name)).toEqual(['glob']);
    },
  );

  it('says so too where the place of uploads is missing', async () => {
    const { text } = await loop({}, { globFails: true }).ask('Which files do you see?');
    expect(text).toMatch(/^No files are attached\b/);
  });

  it('names the files that there are', async () => {
    const files = { [`${UP}/sales.csv`]: SALES, [`${UP}/sub/LICENSE`]: 'free' };
    for (const question of ['Which files do you see?', 'What files are attached?', 'List the files.']) {
      const { text, calls } = await loop(files).ask(question);
      expect(text).toContain(`- ${UP}/sales.csv\n- ${UP}/sub/LICENSE`);
      expect(calls.map((c) => c.name)).toEqual(['glob']);
    }
  });

  it.each(['What can you do?', 'help', 'Who are you?', 'what are you able to do'])(
    'says what it can do: %s',
    async (question) => {
      const { text, calls } = await loop().ask(question);
      expect(text).toMatch(/demo model: fixed rules, no language model\..*CSV/s);
      expect(calls).toEqual([]);
    },
  );

  it.each([
    ['Run ls', 'ls'],
    ['run ls -la /workspace, please.', 'ls -la /workspace'],
    ['Please execute "wc -l a.txt"', 'wc -l a.txt'],
    ['Run the command: echo hello > /workspace/a.txt', 'echo hello > /workspace/a.txt'],
    ['Can you run `date` for me?', 'date'],
  ])('runs a command without quotes: %s', async (question, command) => {
    const { text, calls } = await loop({}).ask(question);
    expect(calls.map((c) => c.input)).toEqual([{ command }]);
    expect(text).toContain(`ran ${command}`);
  });

  it('takes no sentence for a command', async () => {
    for (const question of ['Which region had the best run in sales.csv?', 'Run an analysis of sales.csv']) {
      expect((await loop().ask(question)).calls.map((c) => c.name)).not.toContain('bash');
    }
  });

  it('small talk: says what it is and can do, with the words it was given', async () => {
    const { text, calls } = await loop().ask('Good morning!');
    expect(text).toContain('Good morning!');
    expect(text).toContain('demo model');
    expect(calls).toEqual([]);
  });
});
