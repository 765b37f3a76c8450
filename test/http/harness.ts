// The application over real storage in memory, real files for blobs and the real engine; the model plays scripted answers.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileBlobs } from '../../shared/adapters/file-blobs.ts';
import { createLocalWake } from '../../shared/adapters/local-wake.ts';
import { createSqliteStore } from '../../shared/adapters/sqlite-store.ts';
import { createIdSource, hashing, systemClock } from '../../shared/adapters/system.ts';
import { createApp } from '../../shared/http/app.ts';
import { createAuth } from '../../shared/http/auth.ts';
import type { Model } from '../../shared/ports/model.ts';
import type { Ports } from '../../shared/ports/ports.ts';
import type { Workspace } from '../../shared/ports/sandbox.ts';
import { createEngine } from '../../shared/turn/engine.ts';
import type { Engine } from '../../shared/turn/engine-types.ts';
import type { WorkspacePath } from '../../shared/types/ids.ts';
import { LIMITS, type Limits } from '../../shared/types/limits.ts';
import { createSseParser, type SseFrame } from '../support/sse.ts';
import type { Answer } from '../turn/harness.ts';

export const KEY = 'rk_bootstrap_0123456789';
export const MODEL = 'claude-opus-5-5';

export interface Answered<T = Record<string, unknown>> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

export interface HttpHarness {
  readonly engine: Engine;
  readonly ports: Ports;
  /** What the service logged as errors; empty at the end of every test. */
  readonly failures: string[];
  /** The door itself, for tests that put a server before it. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** A raw request with the bootstrap key; an object as body is sent as JSON. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The same, with its JSON answer read. */
  call<T = Record<string, never>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answered<T>>;
  script(...answers: Answer[]): void;
  /** A new session of a new agent; gives its id. */
  session(agent?: object, session?: object): Promise<string>;
  idle(session: string): Promise<void>;
  /** Waits until a model request of the session is under way. */
  asking(session: string): Promise<void>;
  close(): Promise<void>;
}

export function startHttp(options: { readonly limits?: Partial<Limits>; readonly lambda?: boolean } = {}): HttpHarness {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-http-'));
  const failures: string[] = [];
  const logger = {
    info() {},
    warn() {},
    error: (message: string, fields?: object) => void failures.push(`${message} ${JSON.stringify(fields)}`),
  };
  const script: Answer[] = [];
  const model: Model = {
    label: 'scripted',
    stream(request, signal) {
      const answer = script.shift();
      if (!answer) throw new Error('the script has no answer left for this model call');
      return answer(request, signal);
    },
  };
  const wake = createLocalWake({ logger });
  const ports: Ports = {
    storage: createSqliteStore({ path: ':memory:' }),
    blobs: createFileBlobs({ directory }),
    model,
    sandbox: { driver: 'virtual', open: () => writingWorkspace(), close: async () => {} },
    wake,
    clock: systemClock,
    ids: createIdSource(),
    hashing,
    logger,
    limits: { ...LIMITS, retryBaseMs: 1, ...options.limits },
    tools: () => [],
  };
  const engine = createEngine(ports);
  wake.onWake(engine.run);
  const app = createApp({
    ports,
    engine,
    auth: createAuth(ports, KEY),
    version: '0.0.0-test',
    openapi: 'openapi: 3.1.0\npaths:\n  /v1/x:\n    get:\n      summary: A <b> & c\n      tags:\n        - T\n',
    lambda: options.lambda ?? false,
  });

  const request: HttpHarness['request'] = async (method, path, body, headers = {}) => {
    const isText = typeof body === 'string' || body instanceof FormData || body instanceof Uint8Array;
    const json: Record<string, string> = body === undefined || isText ? {} : { 'content-type': 'application/json' };
    return app.request(path, {
      method,
      headers: { 'x-api-key': KEY, ...json, ...headers },
      ...(body === undefined ? {} : { body: isText ? (body as string) : JSON.stringify(body) }),
    });
  };
  const call: HttpHarness['call'] = async <T>(...args: Parameters<HttpHarness['request']>) => {
    const response = await request(...args);
    return { status: response.status, body: (await response.json()) as T, headers: response.headers };
  };
  return {
    engine,
    ports,
    failures,
    fetch: app.fetch,
    request,
    call,
    script: (...answers) => void script.push(...answers),
    async session(agent = {}, session = {}) {
      const made = await call<{ id: string }>('POST', '/v1/agents', { name: 'A', model: MODEL, ...agent });
      const environment = await call<{ id: string }>('POST', '/v1/environments', { name: 'e' });
      const body = { agent: made.body.id, environment_id: environment.body.id, ...session };
      const created = await call<{ id: string }>('POST', '/v1/sessions', body);
      if (created.status !== 200) throw new Error(JSON.stringify(created.body));
      return created.body.id;
    },
    async idle(session) {
      for (let i = 0; i < 500; i++) {
        const { body } = await call<{ status: string }>('GET', `/v1/sessions/${session}`);
        if (body.status === 'idle') return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error('the session did not become idle');
    },
    async asking(session) {
      for (let i = 0; i < 500; i++) {
        const { body } = await call<{ data: { type: string }[] }>('GET', `/v1/sessions/${session}/events?order=desc`);
        if (body.data.find((e) => e.type.startsWith('span.'))?.type === 'span.model_request_start') return;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error('no model request began');
    },
    async close() {
      await engine.drain(2000);
      wake.close();
      await ports.storage.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** No tool runs in these tests. */
function writingWorkspace(): Workspace {
  const files = new Map<WorkspacePath, Uint8Array>();
  return {
    stat: () => undefined,
    isDirectory: () => false,
    list: () => [],
    read: async (path) => files.get(path),
    write: async () => ({ ok: true, created: true }),
    exec: async () => ({ stdout: '', stderr: '', exitCode: 0, killed: null, notes: [] }),
    shell: { cwd: '/workspace', exports: {} },
    restartShell() {},
    search: async () => ({ ok: true, lines: [], more: false }),
    snapshot: async () => null,
    close: async () => {},
  };
}

export interface Frame {
  readonly id: string | undefined;
  readonly event: { readonly type: string; readonly id: string; readonly [field: string]: unknown };
}

/** Reads frames of a stream until one of `until`'s type, or the end; then leaves. Pings are left out. */
export async function readFrames(response: Response, until?: string): Promise<Frame[]> {
  const parse = createSseParser();
  const decoder = new TextDecoder();
  const frames: Frame[] = [];
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return frames;
    for (const frame of parse(decoder.decode(value, { stream: true })).filter(isMessage)) {
      frames.push({ id: frame.id, event: JSON.parse(frame.data) as Frame['event'] });
      if (frames.at(-1)?.event.type !== until) continue;
      await reader.cancel();
      return frames;
    }
  }
}

const isMessage = (frame: SseFrame): boolean => frame.event === 'message';

export const says = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });
export const typesOf = (frames: readonly Frame[]): string[] => frames.map((f) => f.event.type);
