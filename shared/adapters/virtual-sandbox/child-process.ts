// One child seen from the service: give it a job, feed it the files it asks for, kill it at the deadline. It never outlives a job that
// went wrong.

import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createFrameReader, encodeFrame, type Frame } from './frames.ts';
import { type LaunchOptions, launchChild } from './launch.ts';
import { type ExecRequest, Need, Ready, type SearchRequest, type ToChild } from './protocol.ts';

export type KillReason = 'timeout' | 'aborted' | 'memory' | 'crashed';

export interface Job {
  readonly request: ExecRequest | SearchRequest;
  readonly body: readonly Uint8Array[];
  /** The bytes of a file of this workspace, or undefined for anything else. */
  readonly load: (sha256: string) => Promise<Uint8Array | undefined>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export type JobOutcome =
  | { readonly kind: 'reply'; readonly frame: Frame }
  | { readonly kind: 'killed'; readonly why: KillReason };

export interface Child {
  /** One at a time. After `killed` the child is gone. */
  run(job: Job): Promise<JobOutcome>;
  isAlive(): boolean;
  kill(): void;
}

export interface ChildOptions extends LaunchOptions {
  readonly frameBytesMax: number;
  /** Resident memory at which a running child is killed. */
  readonly residentBytesMax: number;
  /** Told what a child that ended by itself left behind; for operators, never for the model. */
  readonly onCrash: (detail: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly stderr: string;
  }) => void;
}

const MEMORY_POLL_MS = 200;
const PAGE_BYTES = 4096;
const UNREAD_BYTES_MAX = 128 * 1024 * 1024;
const DEATH_BY_MEMORY = /heap out of memory|Reached heap limit|Array buffer allocation failed/;

/** Starts a child; it may be given a job at once, which waits until it is ready. */
export function startChild(options: ChildOptions): Child {
  const state: ChildState = {
    process: null,
    alive: true,
    ready: false,
    onFrame: null,
    onEnd: null,
    killed: null,
    stderr: '',
  };
  const starting = launchChild(options).then((child) => attach(state, child, options));
  starting.catch(() => end(state, 'crashed'));
  return {
    run: async (job) => {
      await starting.catch(() => undefined);
      return runJob(state, job, options.residentBytesMax);
    },
    isAlive: () => state.alive,
    kill: () => kill(state, 'aborted'),
  };
}

interface ChildState {
  process: ChildProcess | null;
  alive: boolean;
  ready: boolean;
  onFrame: ((frame: Frame) => void) | null;
  onEnd: ((why: KillReason) => void) | null;
  killed: KillReason | null;
  stderr: string;
}

function attach(state: ChildState, child: ChildProcess, options: ChildOptions): void {
  state.process = child;
  const onFrame = (frame: Frame) => {
    if (!state.ready && Ready.safeParse(frame.header).success) state.ready = true;
    else if (state.onFrame) state.onFrame(frame);
    else kill(state, 'crashed'); // speaks without being asked
  };
  child.stdout?.on(
    'data',
    createFrameReader(options.frameBytesMax, onFrame, (reason) =>
      kill(state, reason === 'oversize' ? 'memory' : 'crashed'),
    ),
  );
  child.stderr?.on('data', (chunk: Buffer) => {
    state.stderr = (state.stderr + chunk.toString('latin1')).slice(-16_384);
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
  child.on('error', () => end(state, 'crashed'));
  child.on('close', (code, signal) => {
    if (state.killed === null) options.onCrash({ code, signal, stderr: state.stderr.slice(0, 1000) });
    end(state, DEATH_BY_MEMORY.test(state.stderr) ? 'memory' : 'crashed');
  });
  unref(child);
  if (state.killed) child.kill('SIGKILL');
}

/** An idle child must not keep the service's process from ending. */
function unref(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
}

function kill(state: ChildState, why: KillReason): void {
  state.killed ??= why;
  state.process?.kill('SIGKILL');
}

function end(state: ChildState, why: KillReason): void {
  state.alive = false;
  state.onEnd?.(state.killed ?? why);
}

async function runJob(state: ChildState, job: Job, residentBytesMax: number): Promise<JobOutcome> {
  if (!state.alive) return { kind: 'killed', why: state.killed ?? 'crashed' };
  if (job.signal.aborted) return { kind: 'killed', why: 'aborted' };
  const abort = () => kill(state, 'aborted');
  const deadline = setTimeout(() => kill(state, 'timeout'), job.timeoutMs);
  const watch = setInterval(() => void killIfOver(state, residentBytesMax), MEMORY_POLL_MS);
  job.signal.addEventListener('abort', abort, { once: true });
  try {
    return await new Promise<JobOutcome>((resolve) => {
      state.onEnd = (why) => resolve({ kind: 'killed', why });
      const onFrame = (frame: Frame) => {
        const need = Need.safeParse(frame.header);
        if (need.success) void answer(state, job, need.data.sha256, () => state.onFrame === onFrame);
        else resolve(state.killed ? { kind: 'killed', why: state.killed } : { kind: 'reply', frame });
      };
      state.onFrame = onFrame;
      say(state, job.request, job.body);
    });
  } finally {
    clearTimeout(deadline);
    clearInterval(watch);
    job.signal.removeEventListener('abort', abort);
    state.onFrame = null;
    state.onEnd = null;
  }
}

/** Answers leave in the order in which the reads finish: each names its file. None goes to the job after. */
async function answer(state: ChildState, job: Job, sha256: string, isOpen: () => boolean): Promise<void> {
  const bytes = await job.load(sha256).catch(() => undefined);
  if (isOpen()) say(state, { kind: 'file', sha256, found: bytes !== undefined }, bytes ? [bytes] : []);
}

/** A child that asks and does not read is ended before what it asked for fills the service. */
function say(state: ChildState, message: ToChild, body: readonly Uint8Array[]): void {
  if ((state.process?.stdin?.writableLength ?? 0) > UNREAD_BYTES_MAX) kill(state, 'crashed');
  for (const chunk of encodeFrame(message, body)) if (chunk.length > 0) state.process?.stdin?.write(chunk);
}

async function killIfOver(state: ChildState, residentBytesMax: number): Promise<void> {
  const pid = state.process?.pid;
  if (process.platform !== 'linux' || pid === undefined) return;
  const statm = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => '');
  if (Number(statm.split(' ')[1]) * PAGE_BYTES > residentBytesMax) kill(state, 'memory');
}
