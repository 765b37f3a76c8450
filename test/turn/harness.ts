// An engine over real storage in memory and a model that plays scripted answers through the port; for tests of the turn.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileBlobs } from '../../shared/adapters/file-blobs.ts';
import { createSqliteStore } from '../../shared/adapters/sqlite-store.ts';
import { createIdSource, hashing, systemClock } from '../../shared/adapters/system.ts';
import { createSession } from '../../shared/log/sessions.ts';
import type { Model, ModelBatch, ModelRequest, RawModelEvent } from '../../shared/ports/model.ts';
import type { Ports } from '../../shared/ports/ports.ts';
import type { Workspace } from '../../shared/ports/sandbox.ts';
import type { Storage } from '../../shared/ports/store.ts';
import type { Logger } from '../../shared/ports/system.ts';
import { createEngine } from '../../shared/turn/engine.ts';
import type { Engine } from '../../shared/turn/engine-types.ts';
import { readEntries } from '../../shared/turn/spill-entries.ts';
import type { EventId, SessionId, TenantId } from '../../shared/types/ids.ts';
import { LIMITS, type Limits } from '../../shared/types/limits.ts';
import type { ClientEvent, ControlEvent, LogEntry } from '../../shared/types/log.ts';
import type { ContentBlock } from '../../shared/types/message.ts';
import type { Session } from '../../shared/types/session.ts';
import type { Tool, ToolOutcome } from '../../shared/types/tool.ts';
import { session as sessionOf } from '../core/builders.ts';

export type Answer = (request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelBatch>;

/** The raw events of an answer with these blocks. */
export function eventsOf(content: readonly ContentBlock[], stopReason = 'end_turn'): RawModelEvent[] {
  const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
  const blocks = content.flatMap((block, index) => [
    { type: 'content_block_start', index, content_block: emptyOf(block) },
    ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]);
  return [
    {
      type: 'message_start',
      message: { id: 'msg_1', model: 'claude-opus-5-5', role: 'assistant', content: [], usage },
    },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason: stopReason }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ];
}

function emptyOf(block: ContentBlock): ContentBlock {
  if (block.type === 'text') return { ...block, text: '' };
  if (block.type === 'tool_use') return { ...block, input: {} };
  if (block.type === 'thinking') return { ...block, thinking: '', signature: '' };
  return block;
}

function deltasOf(block: ContentBlock): object[] {
  if (block.type === 'text') return [{ type: 'text_delta', text: block.text }];
  if (block.type === 'tool_use') return [{ type: 'input_json_delta', partial_json: JSON.stringify(block.input) }];
  if (block.type === 'thinking') {
    return [
      { type: 'thinking_delta', thinking: block.thinking },
      { type: 'signature_delta', signature: block.signature },
    ];
  }
  return [];
}

export const answers = (content: readonly ContentBlock[], stopReason?: string): Answer =>
  async function* () {
    yield { kind: 'events', events: eventsOf(content, stopReason) };
    yield { kind: 'done', requestId: null };
  };

export const calls = (...content: ContentBlock[]): Answer => answers(content, 'tool_use');

export const fails = (status: number, apiType: string, message: string = apiType): Answer =>
  async function* () {
    yield {
      kind: 'error',
      error: { kind: 'http', status, apiType, message, retryAfterMs: 1, requestId: null },
    };
  };

/** Sends the first events of an answer, then waits to be aborted. */
export const hangs = (content: readonly ContentBlock[], eventCount: number): Answer =>
  async function* (_request, signal) {
    yield { kind: 'events', events: eventsOf(content).slice(0, eventCount) };
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    yield {
      kind: 'error',
      error: { kind: 'aborted', status: null, apiType: null, message: 'aborted', retryAfterMs: null, requestId: null },
    };
  };

export interface Harness {
  readonly engine: Engine;
  readonly session: Session;
  readonly requests: readonly ModelRequest[];
  readonly runs: readonly string[];
  send(...events: (ClientEvent | ControlEvent)[]): Promise<EventId[]>;
  log(): Promise<readonly LogEntry[]>;
  idle(): Promise<void>;
  close(): Promise<void>;
}

export interface HarnessOptions {
  readonly script: readonly Answer[];
  /** Instead of the script: an answer for every request. */
  readonly answer?: Answer;
  readonly limits?: Partial<Limits>;
  /** A directory that outlives the harness: a second one on it is another process on the same data. */
  readonly directory?: string;
  /** Stands between the engine and the store. */
  readonly wrapStorage?: (storage: Storage) => Storage;
  readonly session?: Partial<Session>;
  /** Default: errors go to stderr. */
  readonly logger?: Logger;
  readonly tool?: (input: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<ToolOutcome>;
}

const TENANT = 'default' as TenantId;

export async function startHarness(options: HarnessOptions): Promise<Harness> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), 'reprise-turn-'));
  const raw = createSqliteStore({ path: join(directory, 'store.db') });
  const storage = options.wrapStorage?.(raw) ?? raw;
  const ids = createIdSource();
  const requests: ModelRequest[] = [];
  const runs: string[] = [];
  const script = [...options.script];
  const model: Model = {
    label: 'scripted',
    stream(request, signal) {
      requests.push(request);
      const answer = options.answer ?? script.shift();
      if (!answer) throw new Error('the script has no answer left for this model call');
      return answer(request, signal);
    },
  };
  const wakes: Promise<void>[] = [];
  let closed = false;
  const ports: Ports = {
    storage,
    blobs: createFileBlobs({ directory }),
    model,
    sandbox: { driver: 'virtual', open: () => emptyWorkspace, close: async () => {} },
    wake: { wake: async (tenant, session) => void (closed || wakes.push(engine.run(tenant, session))) },
    clock: systemClock,
    ids,
    hashing,
    logger: options.logger ?? {
      info() {},
      warn() {},
      error: (m, f) => process.stderr.write(`${m} ${JSON.stringify(f)}\n`),
    },
    limits: { ...LIMITS, retryBaseMs: 1, ...options.limits },
    tools: () => [toolOf('bash', 'unsafe'), toolOf('read', 'safe')],
  };
  const engine: Engine = createEngine(ports);
  const session = sessionOf(options.session);
  const deps = { store: storage.forTenant(TENANT), clock: systemClock, ids, limits: ports.limits };
  const raws = { ...deps, store: raw.forTenant(TENANT) };
  if (!(await raws.store.get({ partition: 'sessions', sort: session.id }))) await createSession(raws, session, []);

  function toolOf(name: string, replay: 'safe' | 'unsafe'): Tool<Workspace> {
    return {
      name,
      wireName: name,
      description: name,
      inputSchema: { type: 'object' },
      replay,
      readOnly: replay === 'safe',
      face: 'agent_toolset',
      check: (input) => ((input as { bad?: boolean }).bad ? 'bad: must not be set' : null),
      run: async (call, _workspace, signal) => {
        runs.push(`${name} ${call.toolUseId}`);
        return options.tool
          ? options.tool(call.input, signal)
          : { content: [{ type: 'text', text: `ran ${call.toolUseId}` }], isError: false };
      },
    };
  }

  return {
    engine,
    session,
    requests,
    runs,
    async send(...events) {
      const snapshot = await engine.load(TENANT, session.id);
      if (!snapshot || snapshot === 'deleted') throw new Error('no session');
      const full = events.map((e) => ({ ...e, id: `sevt_${ids.ulid()}` as EventId, acceptedAt: systemClock.now() }));
      const accepted = await engine.accept({
        tenant: TENANT,
        session: session.id as SessionId,
        sessionRev: snapshot.sessionRev,
        events: full,
        claims: [],
      });
      if (accepted.kind !== 'accepted') throw new Error(accepted.kind);
      return full.map((e) => e.id);
    },
    log: () => readEntries({ store: raws.store, blobs: ports.blobs }, session.id, 0),
    async idle() {
      while (wakes.length > 0) await wakes.shift();
    },
    async close() {
      closed = true;
      await engine.drain(options.wrapStorage ? 0 : 2000);
      await raw.close();
      if (!options.directory) rmSync(directory, { recursive: true, force: true });
    },
  };
}

const emptyWorkspace: Workspace = {
  stat: () => undefined,
  isDirectory: () => false,
  list: () => [],
  read: async () => undefined,
  write: async () => ({ ok: true, created: true }),
  exec: async () => ({ stdout: '', stderr: '', exitCode: 0, killed: null, notes: [] }),
  search: async () => ({ ok: true, lines: [], more: false }),
  shell: { cwd: '/workspace', exports: {} },
  restartShell() {},
  snapshot: async () => null,
  close: async () => {},
};
