// The machine's time, ids, randomness, hashing and log lines. Log lines go to stderr and never show anything like a key.

import { createHash, randomBytes } from 'node:crypto';
import type { Clock, Hashing, IdSource, Logger } from '../ports/system.ts';
import { epochMs } from '../types/ids.ts';

export const systemClock: Clock = {
  now: () => epochMs(Date.now()),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal.addEventListener('abort', done, { once: true });
    }),
};

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARS = 10;
const RANDOM_CHARS = 16;

/** Ids of this process sort in the order of the calls, also within one millisecond and when the clock steps back. */
export function createIdSource(now: () => number = Date.now): IdSource {
  let time = -1;
  let prefix = '';
  let digits: number[] = [];

  return {
    ulid() {
      const current = now();
      if (current > time) {
        time = current;
        prefix = encodeTime(time);
        digits = [...randomBytes(RANDOM_CHARS)].map((byte) => byte & 31);
        digits[0] = (digits[0] as number) & 15; // room to count up
      } else countUp(digits);
      return prefix + digits.map((digit) => CROCKFORD[digit]).join('');
    },
    nonce: () => randomBytes(16).toString('base64url'),
    random: Math.random,
  };
}

function encodeTime(time: number): string {
  let text = '';
  for (let left = time, i = 0; i < TIME_CHARS; i++, left = Math.floor(left / 32)) text = CROCKFORD[left % 32] + text;
  return text;
}

function countUp(digits: number[]): void {
  for (let i = digits.length - 1; i >= 0; i--) {
    digits[i] = ((digits[i] as number) + 1) % 32;
    if (digits[i] !== 0) return;
  }
}

export const hashing: Hashing = {
  sha256: (bytes) => createHash('sha256').update(bytes).digest('hex'),
};

const SECRETS = /\b(rk_|sk-ant-|sk-)[A-Za-z0-9_-]{4,}|\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{4,}/gi;

/** The text without what looks like a key: `rk_…`, `sk-…`, and what follows `Bearer`. */
export function redactSecrets(text: string): string {
  return text.replace(SECRETS, (_all, key: string | undefined, scheme: string | undefined) =>
    key ? `${key}[redacted]` : `${scheme} [redacted]`,
  );
}

type Level = 'info' | 'warn' | 'error';

/** Where log lines go; standard error by default. */
export interface LogSink {
  write(line: string): unknown;
  readonly isTTY?: boolean;
}

/** JSON lines `{at, level, message, …fields}`; a short form for people where the sink is a terminal. */
export function createLogger(sink: LogSink = process.stderr): Logger {
  const form = sink.isTTY ? formForPeople : formAsJson;
  const log = (level: Level) => (message: string, fields?: Readonly<Record<string, unknown>>) => {
    sink.write(`${redactSecrets(form(level, message, fields ?? {}))}\n`);
  };
  return { info: log('info'), warn: log('warn'), error: log('error') };
}

function formAsJson(level: Level, message: string, fields: Readonly<Record<string, unknown>>): string {
  return toJson({ at: new Date().toISOString(), level, message, ...fields });
}

function formForPeople(level: Level, message: string, fields: Readonly<Record<string, unknown>>): string {
  const rest = Object.entries(fields).map(
    ([name, value]) => ` ${name}=${typeof value === 'string' ? value : partToJson(value)}`,
  );
  return `${new Date().toISOString().slice(11, 19)} ${level === 'info' ? '' : `${level}: `}${message}${rest.join('')}`;
}

/** Never throws: a log line must not break what it tells of. What is no JSON (a circle) is only named. */
function toJson(value: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(value).map(([name, part]) => `${JSON.stringify(name)}:${partToJson(part)}`);
  return `{${parts.join(',')}}`;
}

function partToJson(value: unknown): string {
  try {
    return JSON.stringify(value, plainPart) ?? 'null';
  } catch {
    return '"(not printable)"';
  }
}

function plainPart(_key: string, part: unknown): unknown {
  if (part instanceof Error) return { name: part.name, message: part.message, stack: part.stack };
  return typeof part === 'bigint' ? String(part) : part;
}
