// Prompt caching as the API does it, over the bytes of a request: what a mark has written, a later request with the same prefix
// reads, so that a test can tell a stable history from one that changed.

import { hash } from 'node:crypto';
import { asBlocks, messagesOf } from './request-parts.ts';
import type { Block, RequestBody } from './script.ts';

const CHARS_PER_TOKEN = 4;
/** Blocks before a mark that are searched for an older prefix. */
const LOOKBACK_BLOCKS = 20;
const PREFIXES_MAX = 20_000;
const TTL_MS = 5 * 60_000;
const TTL_LONG_MS = 60 * 60_000;

export interface PrefixMemory {
  /** The `usage` of a request, in tokens of four characters; its marks are remembered. */
  use(request: RequestBody): Readonly<Record<string, unknown>>;
}

interface Position {
  readonly prefix: string;
  readonly chars: number;
  /** ms that a mark here keeps the prefix; 0 = no mark. */
  readonly ttlMs: number;
}

export function createPrefixMemory(now: () => number): PrefixMemory {
  const expiries = new Map<string, number>();
  const isKnown = ({ prefix }: Position) => (expiries.get(prefix) ?? 0) > now();
  return {
    use(request) {
      const positions = positionsOf(request);
      const marks = [...positions.entries()].filter(([, p]) => p.ttlMs > 0);
      let readChars = 0;
      for (const [index] of marks) {
        const near = positions.slice(Math.max(0, index - LOOKBACK_BLOCKS), index + 1);
        readChars = Math.max(readChars, near.findLast(isKnown)?.chars ?? 0);
      }
      for (const [, { prefix, ttlMs }] of marks) {
        expiries.delete(prefix);
        expiries.set(prefix, now() + ttlMs);
      }
      for (const key of expiries.keys()) {
        if (expiries.size <= PREFIXES_MAX) break;
        expiries.delete(key);
      }
      const markedChars = marks.at(-1)?.[1].chars ?? 0;
      const writtenTokens = tokensOf(Math.max(0, markedChars - readChars));
      const long = (marks.at(-1)?.[1].ttlMs ?? 0) > TTL_MS;
      return {
        input_tokens: tokensOf((positions.at(-1)?.chars ?? 0) - Math.max(markedChars, readChars)),
        cache_read_input_tokens: tokensOf(readChars),
        cache_creation_input_tokens: writtenTokens,
        cache_creation: {
          ephemeral_5m_input_tokens: long ? 0 : writtenTokens,
          ephemeral_1h_input_tokens: long ? writtenTokens : 0,
        },
        service_tier: 'standard',
      };
    },
  };
}

/** Tokens of the whole request, for `count_tokens`. */
export const countTokens = (request: RequestBody): number => tokensOf(positionsOf(request).at(-1)?.chars ?? 0);

const tokensOf = (chars: number): number => Math.ceil(chars / CHARS_PER_TOKEN);

/** A chain of hashes over tools, system and message blocks, in the API's order; marks are no part of what is hashed. */
function positionsOf(request: RequestBody): readonly Position[] {
  const positions: Position[] = [];
  let prefix: string = request.model;
  let chars = 0;
  const add = (place: string, block: Block) => {
    const { cache_control: mark, ...rest } = block;
    const json = JSON.stringify(rest);
    prefix = hash('sha1', `${prefix}\n${place}\n${json}`);
    chars += json.length;
    positions.push({ prefix, chars, ttlMs: ttlOf(mark) });
  };
  for (const tool of asBlocks(request.tools)) add('tool', tool);
  for (const block of asBlocks(request.system)) add('system', block);
  for (const { role, blocks } of messagesOf(request)) for (const block of blocks) add(role, block);
  return positions;
}

function ttlOf(mark: unknown): number {
  if (typeof mark !== 'object' || mark === null) return 0;
  return 'ttl' in mark && mark.ttl === '1h' ? TTL_LONG_MS : TTL_MS;
}
