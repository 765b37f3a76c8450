// Which files a question is about, and their text as the read tool returned it; what is not read yet comes back as calls.

import { type Call, callOf, type Outcome, outcomeOf, type Talk } from './demo-conversation.ts';

const UPLOADS = '/mnt/session/uploads';
const FILES_MAX = 8;
/** Of a file that is too large for one call, so many lines are read per call, and so many calls are made at once. */
const PAGE_LINES = 1000;
const PAGES_AT_ONCE = 4;
const PAGES_MAX = 40;

export interface ReadFile {
  /** Without its directory. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

export interface Reading {
  /** To be made next; empty when all is read. */
  readonly calls: readonly Call[];
  readonly files: readonly ReadFile[];
  /** What the tools said of files that could not be read. */
  readonly failures: readonly string[];
}

const NO_FILES = /https?:\/\/\S+|\/mnt\/session\/(?:uploads|outputs)\/?(?=[.,;:!?]?(?:[\s"'`)]|$))/g;
const FILE_NAME =
  /(?<![\w./~-])(?:\/|\.{1,2}\/)?[\w~-][\w./~-]*\.(?!com\b|org\b|net\b)(?:[A-Za-z][A-Za-z0-9]{1,5}|[chr])\b|(?<![\w./~-])\/[\w.-]+(?:\/[\w.-]+)+/g;

/** Names that look like files, in the order of their first mention. */
export const fileNamesIn = (text: string): readonly string[] => [
  ...new Set(text.replaceAll(NO_FILES, ' ').match(FILE_NAME) ?? []),
];

/** `sources` are searched for names in turn; the first that has any decides. Without a name, what was uploaded is looked up. */
export function readFiles(talk: Talk, sources: readonly string[]): Reading {
  const named = sources.map(fileNamesIn).find((names) => names.length > 0);
  const found = named === undefined ? findUploads(talk) : { calls: [], paths: named, failures: [] };
  const readings = found.paths.slice(0, FILES_MAX).map((path) => readOne(talk, path));
  return {
    calls: [...found.calls, ...readings.flatMap((r) => r.calls)],
    files: readings.flatMap((r) => r.files),
    failures: [...found.failures, ...readings.flatMap((r) => r.failures)],
  };
}

interface Found {
  readonly calls: readonly Call[];
  readonly paths: readonly string[];
  readonly failures: readonly string[];
}

/** What was attached; a directory that does not exist holds nothing. */
export function findUploads(talk: Talk): Found {
  const found = findByGlob(talk, '**/*', UPLOADS) ?? { calls: [], paths: [], failures: [] };
  return found.failures.some((failure) => !/no such file/i.test(failure)) ? found : { ...found, failures: [] };
}

function findByGlob(talk: Talk, pattern: string, path: string): Found | undefined {
  const call = callOf(talk, 'glob', { pattern, path });
  if (call === undefined) return undefined;
  const outcome = outcomeOf(talk, 'glob', { pattern, path });
  if (outcome === undefined) return { calls: [call], paths: [], failures: [] };
  if (outcome.isError) return { calls: [], paths: [], failures: [outcome.text] };
  const paths = outcome.text.split('\n').filter((line) => /^(?:\/|\S.*\.\w+$)/.test(line.trim()));
  const absolute = paths.map((p) => (p.startsWith('/') ? p : `${path}/${p}`));
  return { calls: [], paths: absolute.toSorted(), failures: [] };
}

/** Under the name as given, or where a file of that name lies. */
function readOne(talk: Talk, given: string): Reading {
  const path = given.startsWith('/') ? given : `${UPLOADS}/${given.replace(/^\.\//, '')}`;
  const name = given.slice(given.lastIndexOf('/') + 1);
  const reading = readWhole(talk, path, name);
  if (reading.failures.length === 0) return reading;
  const elsewhere = ['/mnt/session', '/workspace'].map((root) => findByGlob(talk, `**/${name}`, root));
  const calls = elsewhere.flatMap((found) => found?.calls ?? []);
  const other = elsewhere.flatMap((found) => found?.paths ?? []).find((p) => p !== path);
  if (calls.length > 0) return { calls, files: [], failures: [] };
  return other === undefined ? reading : readWhole(talk, other, name);
}

function readWhole(talk: Talk, path: string, name: string): Reading {
  const nothing: Reading = { calls: [], files: [], failures: [] };
  const input = { file_path: path };
  const call = callOf(talk, 'read', input);
  if (call === undefined) return readByShell(talk, path, name);
  const outcome = outcomeOf(talk, 'read', input);
  if (outcome === undefined) return { ...nothing, calls: [call] };
  const partly = /\[(?:…|\d+ more lines)|Use (?:view_range|offset and limit) to read a part/.test(outcome.text);
  if (partly) return readPages(talk, path, name);
  if (outcome.isError) return { ...nothing, failures: [outcome.text || `${name} could not be read`] };
  return { ...nothing, files: [{ name, path, text: stripNumbers(outcome.text) }] };
}

function readPages(talk: Talk, path: string, name: string): Reading {
  const claudeCode = talk.tool('read')?.name === 'Read';
  const texts: string[] = [];
  const inputs = Array.from({ length: PAGES_MAX }, (_, page) => {
    const first = page * PAGE_LINES + 1;
    const range = claudeCode ? { offset: first, limit: PAGE_LINES } : { view_range: [first, first + PAGE_LINES - 1] };
    return { file_path: path, ...range };
  });
  for (const [page, input] of inputs.entries()) {
    const outcome = outcomeOf(talk, 'read', input);
    if (outcome === undefined) {
      const next = inputs.slice(page, page + PAGES_AT_ONCE);
      return { calls: next.flatMap((i) => callOf(talk, 'read', i) ?? []), files: [], failures: [] };
    }
    if (outcome.isError) return { calls: [], files: [], failures: [outcome.text] };
    if (/^\(the file has \d+ lines/.test(outcome.text)) break;
    const text = stripNumbers(outcome.text);
    texts.push(text);
    if (text.split('\n').length < PAGE_LINES) break;
  }
  return { calls: [], files: [{ name, path, text: texts.join('\n') }], failures: [] };
}

/** Where only a shell is offered. */
function readByShell(talk: Talk, path: string, name: string): Reading {
  const input = { command: `cat '${path.replaceAll("'", "'\\''")}'` };
  const call = callOf(talk, 'bash', input);
  const outcome = outcomeOf(talk, 'bash', input);
  if (call === undefined) return { calls: [], files: [], failures: [`no tool was offered that could read ${name}`] };
  if (outcome === undefined) return { calls: [call], files: [], failures: [] };
  if (outcome.isError) return { calls: [], files: [], failures: [outcome.text] };
  return { calls: [], files: [{ name, path, text: outcome.text }], failures: [] };
}

/** Without the line numbers of `cat -n`, where every line has one. */
function stripNumbers(text: string): string {
  const lines = text.split('\n');
  const numbered = /^\s*\d+(?:\t|→)/;
  return lines.every((line) => line === '' || numbered.test(line))
    ? lines.map((line) => line.replace(numbered, '')).join('\n')
    : text;
}

/** Paths that earlier questions led to, newest first. */
export const pathsReadBefore = (earlier: readonly Outcome[]): string =>
  [...new Set(earlier.filter((o) => o.tool === 'read' && !o.isError).map((o) => String(o.input.file_path)))]
    .slice(-2)
    .join('\n');
