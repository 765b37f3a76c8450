// What is wrong with a request in words that people use: the most telling fault of a failed parse, by its path.
// The parse must report its input (`reportInput`), or what is missing cannot be told from what is wrong.

import type { z } from 'zod';

export interface FieldError {
  /** `events[0].content[1].text`; empty for the body itself. */
  readonly field: string;
  readonly message: string;
}

const NAME_SHOWN_CHARS = 80;
const shown = (name: string): string =>
  name.length > NAME_SHOWN_CHARS ? `${name.slice(0, NAME_SHOWN_CHARS).toWellFormed()}…` : name;

/** The path of a zod issue as people write it. The values of a query's `types[]` are not numbered. */
export const pathOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((at, part) => {
    if (typeof part === 'number') return at.endsWith('[]') ? at : `${at}[${part}]`;
    const name = shown(String(part));
    return at === '' ? name : `${at}.${name}`;
  }, '');

/** The most telling wrong field of a request. */
export function describeIssues(error: z.ZodError): FieldError {
  const issue = error.issues[0] as Issue | undefined;
  if (!issue) return { field: '', message: 'is not valid' };
  const { path, words } = faultOf(issue, []);
  return { field: pathOf(path), message: words };
}

type Issue = z.core.$ZodIssue;
type IssueOf<C extends Issue['code']> = Extract<Issue, { code: C }>;

interface Fault {
  readonly path: readonly PropertyKey[];
  readonly words: string;
  /** Where the value is of a wrong type altogether: the types that would do. */
  readonly types: readonly string[];
}

function faultOf(issue: Issue, before: readonly PropertyKey[]): Fault {
  const path = [...before, ...issue.path];
  switch (issue.code) {
    case 'invalid_union':
      return unionFault(issue, path);
    case 'invalid_key': {
      const inner = issue.issues[0];
      const words = inner ? faultOf(inner as Issue, []).words : 'is not valid';
      return {
        path: path.slice(0, -1),
        words: `the key ${JSON.stringify(shown(String(path.at(-1))))}: ${words}`,
        types: [],
      };
    }
    case 'invalid_type': {
      if (issue.input === undefined) return { path, words: 'is required', types: [] };
      const type = issue.expected === 'record' ? 'object' : issue.expected;
      if (type === 'int') return { path, words: 'must be a whole number', types: [] };
      return { path, words: `expected ${type}`, types: [type] };
    }
    default:
      return { path, words: wordsOf(issue), types: [] };
  }
}

/** Of the alternatives the one that fits best: whose fault lies deepest, else one of the right type, else all their types. */
function unionFault(issue: IssueOf<'invalid_union'>, path: readonly PropertyKey[]): Fault {
  if (issue.discriminator !== undefined) {
    const given = (issue.input as Readonly<Record<string, unknown>> | undefined)?.[issue.discriminator];
    return {
      path,
      words: given === undefined ? 'is required' : oneOf('options' in issue ? (issue.options ?? []) : []),
      types: [],
    };
  }
  if (issue.input === undefined) return { path, words: 'is required', types: [] };
  const faults = issue.errors.flatMap((issues) => (issues[0] ? [faultOf(issues[0], path)] : []));
  const deepest = faults.reduce<Fault | null>((a, b) => (a && a.path.length >= b.path.length ? a : b), null);
  if (deepest && deepest.path.length > path.length) return deepest;
  const near = faults.find((f) => f.types.length === 0);
  if (near) return near;
  const types = [...new Set(faults.flatMap((f) => f.types))];
  return { path, words: `expected ${types.join(' or ')}`, types };
}

/** The schema's own words where it has some. */
function wordsOf(issue: Issue): string {
  if (!/^(Invalid|Too (big|small))/.test(issue.message)) return lower(issue.message);
  switch (issue.code) {
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : oneOf(issue.values);
    case 'too_small': {
      const isPart = issue.origin === 'string' || issue.origin === 'array';
      return isPart && Number(issue.minimum) === 1
        ? 'must not be empty'
        : bound('at least', issue.minimum, issue.origin);
    }
    case 'too_big':
      return bound('at most', issue.maximum, issue.origin);
    case 'invalid_format':
      return issue.format === 'datetime' ? 'must be a time as in RFC 3339' : lower(issue.message);
    default:
      return lower(issue.message);
  }
}

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${String(values[0])}` : `must be one of ${values.map(String).join(', ')}`;

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };
const bound = (words: string, value: number | bigint, origin: string): string =>
  `${words} ${value}${UNITS[origin] ?? ''}`;

const lower = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);
