// The two things that are compared, behind one interface: the raw SDK loop and the Reprise service, each a process of its
// own on the same CPU, asked by the same client.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { transformSync } from 'esbuild';
import { requestJson, runTurn, type Turn } from './client.ts';
import { type Launch, SERVICE_CPU, type Started, start } from './processes.ts';
import { promptOf, type Script } from './prompts.ts';

export interface Target {
  readonly name: 'raw' | 'reprise';
  readonly process: Started;
  /** A new conversation. `stored` matters to raw only: whether its history is kept in a file. */
  newSession(options?: { readonly stored?: boolean }): Promise<string>;
  turn(session: string, script: Partial<Script>): Promise<Turn>;
}

export interface Bench {
  readonly root: string;
  /** A directory on the project's own disk, removed at the end. */
  readonly directory: string;
  readonly modelUrl: string;
}

export const API_KEY = 'rk_bench_key_0123456789abcdef';
/** By these the mock tells who asks. */
export const MODEL_KEYS = { raw: 'bench-raw', reprise: 'bench-reprise', inside: 'bench-inside' } as const;
/** As long as a real one, the same for both. */
export const SYSTEM = 'You are a careful assistant. Work step by step and say what you did. '.repeat(22);
export const NOTE = 'A small file.\nIt has two lines.\n';

export const SERVICE_FLAGS = ['--disable-sigusr1', '--max-semi-space-size=4'];

/** The raw loop as plain JavaScript, so that its start pays for no type stripping. */
export function writeRawHost({ root, directory }: Bench): string {
  const file = join(directory, 'raw-host.mjs');
  const { code } = transformSync(readFileSync(join(root, 'bench/raw-host.ts'), 'utf8'), { loader: 'ts' });
  writeFileSync(file, code);
  return file;
}

export function rawLaunch(bench: Bench): Launch {
  const env = {
    RAW_DIR: bench.directory,
    RAW_SYSTEM: SYSTEM,
    ANTHROPIC_API_KEY: MODEL_KEYS.raw,
    ANTHROPIC_BASE_URL: bench.modelUrl,
  };
  return { args: [join(bench.directory, 'raw-host.mjs')], cpu: SERVICE_CPU, env, cwd: bench.root };
}

/** The service as `npm start` runs it; `nodeArgs` instead of the launcher starts its bundle directly with them. */
export function repriseLaunch(bench: Bench, dataDir: string, nodeArgs?: readonly string[]): Launch {
  const env = {
    PORT: '0',
    REPRISE_API_KEY: API_KEY,
    REPRISE_DATA_DIR: dataDir,
    ANTHROPIC_API_KEY: MODEL_KEYS.reprise,
    ANTHROPIC_BASE_URL: bench.modelUrl,
  };
  const launcher = [join(bench.root, 'bin/reprise.mjs'), 'dev'];
  const args = nodeArgs === undefined ? launcher : [...nodeArgs, join(bench.root, 'dist/local.mjs')];
  return { args, cpu: SERVICE_CPU, env, cwd: bench.root };
}

let sessions = 0;

export async function startRaw(bench: Bench): Promise<Target> {
  const started = await start(rawLaunch(bench));
  const note = join(bench.directory, 'note.txt');
  writeFileSync(note, NOTE);
  const stored = new Set<string>();
  return {
    name: 'raw',
    process: started,
    async newSession(options = {}) {
      const session = `raw-${++sessions}`;
      if (options.stored) stored.add(session);
      return session;
    },
    turn: (session, script) =>
      runTurn({
        url: `${started.url}/turn?session=${session}&store=${stored.has(session) ? 'file' : 'none'}`,
        headers: {},
        body: { text: promptOf({ ...script, path: note }) },
        read: (event, data) => {
          if (event === 'delta') return JSON.parse(data) as { text: string };
          return event === 'done' ? 'end' : undefined;
        },
      }),
  };
}

const HEADERS = { 'x-api-key': API_KEY };

export async function startReprise(bench: Bench, dataDir: string, nodeArgs?: readonly string[]): Promise<Target> {
  mkdirSync(dataDir, { recursive: true });
  const started = await start(repriseLaunch(bench, dataDir, nodeArgs));
  const create = <T>(path: string, body: unknown): Promise<T> => requestJson<T>(`${started.url}${path}`, HEADERS, body);
  const form = new FormData();
  form.append('file', new Blob([NOTE], { type: 'text/plain' }), 'note.txt');
  const file = await create<{ id: string }>('/v1/files', form);
  const environment = await create<{ id: string }>('/v1/environments', { name: 'bench' });
  const agent = await create<{ id: string }>('/v1/agents', {
    name: 'bench',
    model: 'claude-opus-5-5',
    system: SYSTEM,
    tools: [{ type: 'agent_toolset_20260401' }],
  });
  return {
    name: 'reprise',
    process: started,
    async newSession() {
      const session = await create<{ id: string }>('/v1/sessions', {
        agent: agent.id,
        environment_id: environment.id,
        resources: [{ type: 'file', file_id: file.id, mount_path: 'note.txt' }],
      });
      return session.id;
    },
    turn: (session, script) =>
      runTurn({
        url: `${started.url}/v1/sessions/${session}/events?event_deltas%5B%5D=agent.message`,
        headers: { ...HEADERS, accept: 'text/event-stream' },
        body: { events: [{ type: 'user.message', content: [{ type: 'text', text: repriseprompt(script) }] }] },
        read: readRepriseFrame,
      }),
  };
}

const repriseprompt = (script: Partial<Script>): string =>
  promptOf({ ...script, path: '/mnt/session/uploads/note.txt' });

interface Frame {
  readonly type: string;
  readonly delta?: { readonly content?: { readonly text?: string } };
  readonly stop_reason?: { readonly type: string };
  readonly error?: unknown;
}

function readRepriseFrame(_event: string, data: string): { readonly text: string } | 'end' | undefined {
  if (data === '') return undefined;
  const frame = JSON.parse(data) as Frame;
  if (frame.type === 'event_delta') return { text: frame.delta?.content?.text ?? '' };
  if (frame.type === 'session.error') throw new Error(`the turn failed: ${data}`);
  if (frame.type !== 'session.status_idle') return undefined;
  if (frame.stop_reason?.type !== 'end_turn') throw new Error(`the turn ended otherwise: ${data}`);
  return 'end';
}
