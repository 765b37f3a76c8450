// Bodies, counted while they are read: nothing over the limit is held, and what is wrong is named.

import type { z } from 'zod';
import { ServiceError } from '../types/errors.ts';
import { describeIssues } from '../wire/issues.ts';
import { limitIn, most } from '../wire/limits.ts';

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
/** So much of an oversized body is read and dropped, so that a client that only reads after writing gets its answer. */
const DRAIN_FACTOR = 2;

/** The body as JSON that fits `schema`. Throws 400 (naming the field), 413 or 415. */
export async function readJson<T extends z.ZodType>(raw: Request, schema: T, bytesMax: number): Promise<z.output<T>> {
  const type = raw.headers.get('content-type');
  if (type !== null && !JSON_TYPE.test(type)) {
    throw new ServiceError('unsupported_media_type', `content-type: must be application/json, not ${shown(type)}`, {
      field: 'content-type',
    });
  }
  const text = await readText(raw, bytesMax);
  if (text.trim() === '') throw new ServiceError('invalid_request', 'the body is empty; a JSON object is expected');
  return parseWith(schema, parseJson(text));
}

/** `value` as `schema` reads it, or a 400 that names the field. */
export function parseWith<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  const parsed = schema.safeParse(value, { reportInput: true });
  if (parsed.success) return parsed.data;
  const { field, message } = describeIssues(parsed.error);
  if (field === '') throw new ServiceError('invalid_request', `the body: ${message}`);
  const code = message.startsWith('not yet supported') ? 'unsupported' : 'invalid_request';
  throw new ServiceError(code, `${field}: ${message}`, { field, ...limitIn(message) });
}

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ServiceError('invalid_request', 'the body is not valid JSON');
  }
  checkShape(value);
  return value;
}

const [VALUES_MAX, TOO_MANY_VALUES] = most('bodyValuesMax', 'values');
const [DEPTH_MAX, TOO_DEEP] = most('bodyDepthMax', 'levels of nesting');
const refuseShape = (words: string): ServiceError =>
  new ServiceError('invalid_request', `the body: ${words}`, limitIn(words));

/** A large body is one with long texts. One of millions of tiny values would cost more to complain about than it is worth. */
function checkShape(body: unknown): void {
  const open: { readonly value: object; readonly depth: number }[] = [];
  let values = 0;
  const meet = (value: unknown, depth: number) => {
    if (++values > VALUES_MAX) throw refuseShape(TOO_MANY_VALUES);
    if (typeof value !== 'object' || value === null) return;
    if (depth > DEPTH_MAX) throw refuseShape(TOO_DEEP);
    open.push({ value, depth });
  };
  meet(body, 1);
  for (let next = open.pop(); next; next = open.pop()) {
    for (const key in next.value) meet((next.value as Record<string, unknown>)[key], next.depth + 1);
  }
}

const shown = (text: string): string => text.slice(0, 80).replace(/[^\x20-\x7e]/g, '?');

const tooLarge = (bytesMax: number): ServiceError =>
  new ServiceError('too_large', `the body: at most ${bytesMax} bytes (requestBodyBytesMax)`, {
    limit: 'requestBodyBytesMax',
    limit_value: bytesMax,
  });

async function readText(raw: Request, bytesMax: number): Promise<string> {
  const length = raw.headers.get('content-length');
  if (length === null || Number(length) > bytesMax) return new TextDecoder().decode(await readBytes(raw, bytesMax));
  return raw.text().catch(refuseHalf);
}

/** The client left, or its connection broke: no failure of the service, and mostly nobody is there to read of it. */
function refuseHalf(): never {
  throw new ServiceError('invalid_request', 'the body: ended before it was complete');
}

async function* chunksOf(raw: Request): AsyncGenerator<Uint8Array> {
  const reader = raw.body?.getReader();
  if (!reader) return;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(refuseHalf);
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {}); // what is not read is not wanted
  }
}

/** The body's bytes. Throws a 413 beyond `bytesMax`. */
export async function readBytes(raw: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  for await (const chunk of chunksOf(raw)) {
    total += chunk.byteLength;
    if (total <= bytesMax) chunks.push(chunk);
    else chunks.length = 0;
    if (total > bytesMax * DRAIN_FACTOR) break;
  }
  if (total > bytesMax) throw tooLarge(bytesMax);
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
