// Time, ids, randomness and logging as arguments.

import type { EpochMs } from '../types/ids.ts';

export interface Clock {
  now(): EpochMs;
  /** Resolves after `ms`, or at once when aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export interface IdSource {
  /** 26 lower-case Crockford characters; sorts by time, and in order of calls within one process. */
  ulid(): string;
  /** 128 random bits as text: nonces, revisions. */
  nonce(): string;
  /** 0 ≤ x < 1. */
  random(): number;
}

export interface Logger {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** What the pure rooms may not compute themselves. */
export interface Hashing {
  sha256(bytes: Uint8Array | string): string;
}
