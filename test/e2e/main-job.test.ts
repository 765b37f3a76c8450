// The main job on real input: two files as resources, a question that needs several tool rounds, streamed with deltas, the right
// answer, and the download of what the agent wrote. The demo model does it, truly from the files: other files, other answers.

import { toFile } from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { countByColumn, parseCsv, readFixture } from '../support/main-job.ts';
import { agentText, createSession, listAll, only, runTurn, TOOLSET, userText } from '../support/sessions.ts';

const harness = useHarness();
const QUESTION =
  'Which value of "code" occurs most often in time-zones.csv? Look up its row in countries.csv, ' +
  'and write the count per code to /mnt/session/outputs/report.csv.';

/** Uploads the two files, asks the question, and gives all that a client can see of it. */
async function runMainJob(zones: string, countries: string, question = QUESTION) {
  const client = harness.client();
  const files = await Promise.all(
    [
      ['time-zones.csv', zones],
      ['countries.csv', countries],
    ].map(async ([name, content]) =>
      client.beta.files.upload({ file: await toFile(Buffer.from(content ?? ''), name) }),
    ),
  );
  const resources = files.map((file) => ({ type: 'file' as const, file_id: file.id, mount_path: file.filename }));
  const session = await createSession(client, { tools: [TOOLSET], system: 'Answer from the files.' }, { resources });
  const events = await runTurn(client, session, userText(question), { eventDeltas: ['agent.message'] });
  const outputs = (await client.beta.files.list({ scope_id: session })).data.filter((file) => file.downloadable);
  const texts = await Promise.all(outputs.map(async (file) => (await client.beta.files.download(file.id)).text()));
  return { session, events, outputs, texts, uses: only(events, 'agent.tool_use') };
}

const mostFrequent = (csv: string) => countByColumn(csv, 'code')[0] ?? ['', 0];

describe('the main job', () => {
  test('right answer, several tool rounds, deltas, and the report as a download', async () => {
    const zones = await readFixture('time-zones.csv');
    const countries = await readFixture('countries.csv');
    const { session, events, outputs, texts, uses } = await runMainJob(zones, countries);

    const [code, count] = mostFrequent(zones);
    const country = parseCsv(countries).find((row) => row.code === code)?.country ?? '';
    const answer = agentText(events);
    expect(answer).toContain(code);
    expect(answer).toContain(String(count));
    expect(answer).toContain(country);

    expect(only(events, 'span.model_request_start').length).toBeGreaterThanOrEqual(3);
    expect(new Set(uses.map((use) => use.name)).size).toBeGreaterThanOrEqual(2);
    expect(only(events, 'agent.tool_result')).toHaveLength(uses.length);
    expect(only(events, 'agent.tool_result').every((result) => !result.is_error)).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: 'session.status_idle', stop_reason: { type: 'end_turn' } });

    for (const message of only(events, 'agent.message')) {
      const deltas = only(events, 'event_delta').filter((event) => event.event_id === message.id);
      const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      expect(deltas.map((event) => event.delta.content.text).join('')).toBe(text);
    }
    expect(only(events, 'event_delta').length).toBeGreaterThan(3);

    expect(outputs.map((file) => file.filename)).toContain('report.csv');
    const report = parseCsv(texts[outputs.findIndex((file) => file.filename === 'report.csv')] ?? '');
    const counted = new Map(report.map((row) => Object.values(row)).map(([key, value]) => [key, Number(value)]));
    expect(counted).toEqual(new Map(countByColumn(zones, 'code')));

    const listed = await listAll(harness.client(), session);
    expect(only(listed, 'agent.message')).toEqual(only(events, 'agent.message'));
    const { usage } = await harness.client().beta.sessions.retrieve(session);
    expect(usage.output_tokens).toBeGreaterThan(0);
  });

  test('a changed file changes the answer', async () => {
    const zones = await readFixture('time-zones.csv');
    const [before] = mostFrequent(zones);
    const changed = zones.replaceAll(new RegExp(`^${before},`, 'gm'), 'QQ,').replace(/^DE,/m, 'QQ,');
    const countries = `${await readFixture('countries.csv')}QQ,Quietland\n`;
    const { events, texts } = await runMainJob(changed, countries);
    const [code, count] = mostFrequent(changed);
    expect(code).toBe('QQ');
    const answer = agentText(events);
    expect(answer).toContain('QQ');
    expect(answer).toContain(String(count));
    expect(answer).toContain('Quietland');
    expect(texts.join()).toContain(`QQ,${count}`);
  });

  test('a next question in the same session is answered from the same files', async () => {
    const zones = await readFixture('time-zones.csv');
    const { session } = await runMainJob(zones, await readFixture('countries.csv'));
    const more = await runTurn(harness.client(), session, userText('How many rows does time-zones.csv have?'));
    expect(agentText(more)).toContain(String(parseCsv(zones).length));
  });

  test('a question about numbers', async () => {
    const zones = await readFixture('time-zones.csv');
    const latitudes = parseCsv(zones).map((row) => Number(row.latitude));
    const question = 'What is the highest latitude in time-zones.csv?';
    const { events } = await runMainJob(zones, await readFixture('countries.csv'), question);
    expect(agentText(events)).toContain(String(Math.max(...latitudes)));
  });
});
