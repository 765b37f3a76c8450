// What service and child say to each other. The service writes its side by these types; the child's side it checks by the schemas,
// because after running what the model wrote the child is not to be trusted.

import { z } from 'zod';
import type { Search } from '../../ports/sandbox.ts';

/** A file of the index: path, size, mode, mtime in ms, sha256, and where its bytes lie in the frame's body (-1: ask for them). */
export type FileRow = readonly [
  path: string,
  size: number,
  mode: number,
  mtimeMs: number,
  sha256: string,
  offset: number,
];

export interface ExecRequest {
  readonly kind: 'exec';
  readonly command: string;
  readonly stdin: string;
  readonly cwd: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly emptyDirectories: readonly string[];
  readonly files: readonly FileRow[];
  /** Of files in all, and of each output stream. */
  readonly bytesMax: number;
  readonly outputBytesMax: number;
  readonly timeoutMs: number;
}

export interface SearchRequest {
  readonly kind: 'search';
  readonly search: Search;
  readonly files: readonly FileRow[];
  readonly linesMax: number;
  readonly timeoutMs: number;
}

/** Answers the `need` of that hash, in any order; the bytes are the body. */
export interface FileAnswer {
  readonly kind: 'file';
  readonly sha256: string;
  readonly found: boolean;
}

export type ToChild = ExecRequest | SearchRequest | FileAnswer;

const count = z.int().min(0);
const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A changed file: its bytes lie in the body, or they are those of a known file. */
const Change = z.object({
  path: z.string(),
  mode: count.max(0o7777),
  mtimeMs: z.number().min(0).max(8.64e15),
  at: count.optional(),
  size: count.optional(),
  sha256: Sha256.optional(),
});

export const ExecReply = z.object({
  kind: z.literal('done'),
  exitCode: z.int(),
  /** Bytes of each stream at the start of the body. */
  stdoutBytes: count,
  stderrBytes: count,
  changes: z.array(Change),
  removed: z.array(z.string()),
  emptyDirectories: z.array(z.string()),
  /** null: the shell's end could not be seen. */
  shell: z.object({ cwd: z.string(), exports: z.record(z.string(), z.string()) }).nullable(),
  notes: z.array(z.string()),
});
export type ExecReply = z.infer<typeof ExecReply>;

export const SearchReply = z.object({
  kind: z.literal('found'),
  error: z.string().nullable(),
  lines: z.array(z.string()),
  more: z.boolean(),
});
export type SearchReply = z.infer<typeof SearchReply>;

export const Need = z.object({ kind: z.literal('need'), sha256: Sha256 });
export const Ready = z.object({ kind: z.literal('ready') });
export type FromChild = z.infer<typeof Need> | z.infer<typeof Ready> | ExecReply | SearchReply;
