// The demo model's rules (the scripted model without a script): what to say, or which tools to call next, from the conversation
// alone. It answers from what the tools return; the figures and names of an answer stand nowhere in this project.

import { type Analysis, analyseFiles } from './demo-analysis.ts';
import { type Call, callOf, outcomeOf, readTalk, type Talk } from './demo-conversation.ts';
import { fileNamesIn, findUploads, pathsReadBefore, readFiles } from './demo-files.ts';
import { targetOf } from './demo-question.ts';
import { asksForAbilities, asksForFileNames, commandsIn, speaksOfFiles } from './demo-requests.ts';
import { toCsv } from './demo-table.ts';
import { callCustomTool } from './demo-tools.ts';
import type { Answer, AnswerBlock, RequestBody } from './script.ts';

const SMALL_TALK = /^\W*(hi|hello|hey|good (morning|day|evening|afternoon)|thanks?|thank you|ok(ay)?|bye)\b.{0,40}$/i;
const GIVEN_TEXT =
  /\b(?:write|save|put|create)\b[^"“]*(?:["“]([^"”]+)["”]\s+(?:to|into|in)\b|\b(?:text|content|contents|containing|says|with)\W+["“]([^"”]+)["”])/i;

/** Total: a conversation that the rules cannot make sense of gets a plain answer too. */
export function answerByRules(request: RequestBody): Answer {
  const talk = readTalk(request);
  try {
    return thinkAloud(talk, nextBlocks(talk));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { blocks: [`The demo model could not work this out (${reason}). ${introduceSelf(talk)}`] };
  }
}

type Step = readonly AnswerBlock[];

function nextBlocks(talk: Talk): Step {
  if (asksForAbilities(talk.question)) return [introduceSelf(talk)];
  const plain = runCommands(talk) ?? writeGivenText(talk) ?? useCustomTool(talk);
  return plain ?? listFiles(talk) ?? workOnFiles(talk) ?? [introduceSelf(talk)];
}

/** ``run `ls -l` `` */
function runCommands(talk: Talk): Step | null {
  const commands = commandsIn(talk.question);
  const calls = commands.flatMap((command) => callOf(talk, 'bash', { command }) ?? []);
  if (calls.length === 0) return null;
  const open = calls.filter((call) => outcomeOf(talk, 'bash', call.input ?? {}) === undefined);
  // Each command may need what the one before it did.
  if (open[0] !== undefined) return [`I run \`${commands[calls.indexOf(open[0])]}\`.`, open[0]];
  const reports = commands.map((command) => {
    const outcome = outcomeOf(talk, 'bash', { command });
    const output = outcome?.text.trim() === '' ? '(no output)' : outcome?.text;
    return `\`${command}\` ${outcome?.isError ? 'failed' : 'printed'}:\n\n${fence(output ?? '')}`;
  });
  return [reports.join('\n\n')];
}

/** `write "hello" to notes.txt` */
function writeGivenText(talk: Talk): Step | null {
  const given = GIVEN_TEXT.exec(talk.question)
    ?.slice(1)
    .find((text) => text !== undefined);
  const path = targetOf(talk.question);
  if (given === undefined || path === null) return null;
  return writeFile(talk, { path, content: `${given}\n` }, (said) => [said]);
}

function useCustomTool(talk: Talk): Step | null {
  const call = callCustomTool(talk);
  if (call === null) return null;
  const outcome = outcomeOf(talk, call.name.toLowerCase(), call.input ?? {});
  if (outcome === undefined) return [`I ask \`${call.name}\`.`, call];
  return [`\`${call.name}\` ${outcome.isError ? 'failed' : 'returned'}: ${outcome.text || '(nothing)'}`];
}

function listFiles(talk: Talk): Step | null {
  if (!asksForFileNames(talk.question)) return null;
  const { calls, paths, failures } = findUploads(talk);
  if (calls.length > 0) return ['I look for attached files.', ...calls];
  if (failures.length > 0) return [`I could not look for files:\n\n${fence(failures.join('\n'))}`];
  return paths.length === 0 ? null : [`These files are attached:\n\n${paths.map((path) => `- ${path}`).join('\n')}`];
}

function workOnFiles(talk: Talk): Step | null {
  const target = targetOf(talk.question);
  const question =
    target === null ? talk.question : talk.question.replaceAll(target, ' ').replaceAll(baseName(target), ' ');
  const names = fileNamesIn(question).join('\n');
  if (names === '' && SMALL_TALK.test(question)) return null;
  const reading = readFiles(talk, [
    names,
    talk.system.replaceAll(/\/mnt\/session\/\w+\/?/g, ' '),
    pathsReadBefore(talk.earlier),
  ]);
  if (reading.calls.length > 0) return [sayCalls(reading.calls), ...reading.calls];
  if (reading.files.length === 0) {
    return reading.failures.length === 0
      ? null
      : [`I could not read what the question is about:\n\n${fence(reading.failures.join('\n'))}`];
  }
  const analysis = analyseFiles(question, reading.files);
  const failures = reading.failures.map((failure) => `Not read: ${failure}`);
  const said = [...analysis.lines, ...failures].join('\n');
  if (target === null) return [said];
  const content = reportOf(talk.question, target, analysis);
  return writeFile(talk, { path: target, content }, (written) => [`${said}\n\n${written}`]);
}

interface FileToWrite {
  readonly path: string;
  readonly content: string;
}

function writeFile(talk: Talk, { path, content }: FileToWrite, say: (written: string) => Step): Step {
  const input = { file_path: path, content };
  const call = callOf(talk, 'write', input);
  if (call === undefined) return say(`No tool was offered that could write ${path}.`);
  const outcome = outcomeOf(talk, 'write', input);
  if (outcome === undefined) return [`I write ${path}.`, call];
  return say(outcome.isError ? `Writing ${path} failed: ${outcome.text}` : `Written to ${path}.`);
}

function reportOf(question: string, path: string, { lines, figures }: Analysis): string {
  const columns = figures?.columns ?? [];
  const rows = figures?.rows ?? [];
  if (/\.(csv|tsv)$/i.test(path) && columns.length > 0) return toCsv(columns, rows);
  if (/\.json$/i.test(path)) {
    const records = rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i] ?? ''])));
    return `${JSON.stringify({ question, answer: lines, figures: records }, null, 2)}\n`;
  }
  const table = [columns, columns.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`);
  return [
    `# Report`,
    '',
    `> ${question.replaceAll('\n', '\n> ')}`,
    '',
    ...lines,
    '',
    ...(columns.length > 0 ? table : []),
    '',
  ].join('\n');
}

function introduceSelf(talk: Talk): string {
  const tools = ['read', 'glob', 'bash', 'write'].filter((name) => talk.tool(name) !== undefined);
  const can =
    tools.length === 0
      ? 'No file tools were offered to me in this conversation.'
      : 'Attach a CSV, JSON or text file and ask for totals, averages, counts, rankings or a report, or ask me to run `a command`.';
  const self = `I am the offline demo model: fixed rules, no language model. ${can}`;
  if (asksForAbilities(talk.question)) return self;
  const quote = talk.question === '' ? 'You said nothing yet.' : `You said: "${talk.question.slice(0, 300)}".`;
  if (!talk.outcomes.some((o) => o.tool === 'glob')) return `${quote} ${self}`;
  const none = `No files are attached to this session. ${self}`;
  return speaksOfFiles(talk.question) ? none : `${quote} ${none}`;
}

function thinkAloud(talk: Talk, blocks: Step): Answer {
  if (!talk.thinks) return { blocks };
  const calls = blocks.filter((b): b is Call => typeof b !== 'string' && b.type === 'tool_use');
  const thinking =
    calls.length > 0
      ? `Next: ${calls.map((call) => call.name).join(', ')}.`
      : `${talk.outcomes.length} tool results are enough to answer.`;
  return { blocks: [{ type: 'thinking', thinking }, ...blocks] };
}

function sayCalls(calls: readonly Call[]): string {
  const what = calls.map(({ input = {} }) => String(input.file_path ?? input.pattern ?? input.command));
  return `I look at ${[...new Set(what.map(baseName))].map((name) => `\`${name}\``).join(', ')}.`;
}

const baseName = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const fence = (text: string): string => `\`\`\`\n${text.replace(/\n$/, '')}\n\`\`\``;
