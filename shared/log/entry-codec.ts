// Entries as they are stored: the same, with short names for the fields and kinds that every turn writes, times as distances,
// and counts of zero left out. Decoding gives back what was encoded; names and kinds it does not know pass as they are.
// The tables are part of the stored format: add to them, never change or reuse a code.

import type { EntryBody } from '../types/log.ts';
import { NO_TOTALS, NO_USAGE } from '../types/message.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Names {
  readonly toShort: ReadonlyMap<string, string>;
  readonly toLong: ReadonlyMap<string, string>;
}

const namesOf = (table: Readonly<Record<string, string>>): Names => ({
  toShort: new Map(Object.entries(table).map(([short, long]) => [long, short])),
  toLong: new Map(Object.entries(table)),
});

const KINDS = namesOf({
  ts: 'turn_started',
  re: 'resumed',
  in: 'input',
  ms: 'model_started',
  m: 'message',
  mf: 'model_failed',
  d: 'decided',
  to: 'tool_started',
  tr: 'tool_result',
  ws: 'workspace_saved',
  te: 'turn_ended',
  of: 'tools_offered',
  su: 'session_updated',
});

const ENTRY = namesOf({
  k: 'kind',
  t: 'turnId',
  e: 'event',
  m: 'model',
  n: 'attempt',
  f: 'fingerprint',
  s: 'modelSeq',
  c: 'content',
  u: 'usage',
  r: 'stopReason',
  l: 'calls',
  i: 'toolUseIds',
  j: 'toolUseId',
  b: 'block',
  p: 'callKind',
  x: 'isError',
  g: 'changes',
  h: 'shell',
  o: 'outcome',
  q: 'totals',
  w: 'names',
  v: 'hash',
  y: 'inputId',
  z: 'change',
});

const EVENT_TYPES = namesOf({
  m: 'user.message',
  i: 'user.interrupt',
  c: 'user.tool_confirmation',
  r: 'user.custom_tool_result',
  t: 'user.tool_result',
  s: 'system.message',
});

/** `a` is the time from acceptance to that of the item, where they differ. */
const EVENT = namesOf({ y: 'type', c: 'content', i: 'id', a: 'acceptedAt' });
const CALL = namesOf({ j: 'toolUseId', b: 'block', n: 'name', i: 'input', k: 'kind', d: 'decision', r: 'reason' });
const USAGE = namesOf({
  i: 'input_tokens',
  o: 'output_tokens',
  r: 'cache_read_input_tokens',
  w: 'cache_creation_input_tokens',
  d: 'cache_creation',
});
const TOTALS = namesOf({
  i: 'inputTokens',
  o: 'outputTokens',
  r: 'cacheReadTokens',
  w: 'cacheWrite5mTokens',
  h: 'cacheWrite1hTokens',
  c: 'costMicroCents',
  a: 'activeMs',
});

/** A name that could be taken for a code is stored behind this. */
const ESCAPE = '~';

/** The stored form of an entry whose append bears the time `at`. */
export function encodeEntry(body: EntryBody, at: number): Fields {
  const { kind, ...fields } = body as EntryBody & Fields;
  return {
    k: shorten(KINDS, kind),
    ...rename(fields, ENTRY, (name, value) => {
      if (name === 'event' && isFields(value)) return encodeEvent(value, at);
      if (name === 'usage' && isFields(value)) return rename(withoutZeros(value, NO_USAGE), USAGE);
      if (name === 'totals' && isFields(value)) return rename(withoutZeros(value, NO_TOTALS), TOTALS);
      if (name === 'calls' && Array.isArray(value)) return value.map((v) => (isFields(v) ? rename(v, CALL) : v));
      return value;
    }),
  };
}

/** The entry of a stored form. */
export function decodeEntry(stored: Fields, at: number): EntryBody {
  const { k, ...fields } = stored;
  if (typeof k !== 'string') throw new Error('a log entry without a kind');
  const body = restore(fields, ENTRY, (name, value) => {
    if (name === 'event' && isFields(value)) return decodeEvent(value, at);
    if (name === 'usage' && isFields(value)) return { ...NO_USAGE, ...restore(value, USAGE) };
    if (name === 'totals' && isFields(value)) return { ...NO_TOTALS, ...restore(value, TOTALS) };
    if (name === 'calls' && Array.isArray(value)) return value.map((v) => (isFields(v) ? restore(v, CALL) : v));
    return value;
  });
  return { kind: lengthen(KINDS, k), ...body } as unknown as EntryBody;
}

/** The stored form of an event in an item that bears the time `at`, mostly that of its acceptance. */
export function encodeEvent(event: Fields, at: number): Fields {
  const { acceptedAt, ...fields } = event;
  const encoded = rename(fields, EVENT, (name, value) =>
    name === 'type' && typeof value === 'string' ? shorten(EVENT_TYPES, value) : value,
  );
  return acceptedAt === at ? encoded : { ...encoded, a: at - (acceptedAt as number) };
}

/** The event of a stored form. */
export function decodeEvent(stored: Fields, at: number): Fields {
  const { a = 0, ...fields } = stored;
  if (typeof a !== 'number') throw new Error('an event without a time');
  const event = restore(fields, EVENT, (name, value) =>
    name === 'type' && typeof value === 'string' ? lengthen(EVENT_TYPES, value) : value,
  );
  return { ...event, acceptedAt: at - a };
}

type Change = (name: string, value: unknown) => unknown;

const rename = (fields: Fields, names: Names, change: Change = (_, value) => value): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [shorten(names, name), change(name, value)]));

const restore = (fields: Fields, names: Names, change: Change = (_, value) => value): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([short, value]) => {
      const name = lengthen(names, short);
      return [name, change(name, value)];
    }),
  );

function shorten({ toShort, toLong }: Names, name: string): string {
  return toShort.get(name) ?? (toLong.has(name) || name.startsWith(ESCAPE) ? ESCAPE + name : name);
}

function lengthen({ toLong }: Names, short: string): string {
  return toLong.get(short) ?? (short.startsWith(ESCAPE) ? short.slice(ESCAPE.length) : short);
}

/** Only what decoding puts back: zeros of fields that are always there. */
const withoutZeros = (fields: Fields, all: object): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name, value]) => value !== 0 || !Object.hasOwn(all, name)));

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
