// A real engine in this process over a counting storage: what one turn writes, counted exactly.

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createIdSource } from '../shared/adapters/system.ts';
import { composeLocal, type LocalParts } from '../shared/compose/local.ts';
import { readConfig } from '../shared/config.ts';
import { createSession } from '../shared/log/sessions.ts';
import { createEngine } from '../shared/turn/engine.ts';
import type { Engine } from '../shared/turn/engine-types.ts';
import {
  type BlobKey,
  blobKey,
  type EpochMs,
  type EventId,
  type FileId,
  type TenantId,
  type WorkspacePath,
} from '../shared/types/ids.ts';
import type { Message } from '../shared/types/message.ts';
import type { Session } from '../shared/types/session.ts';
import { type CountingStorage, type Counts, countStorage } from './count-storage.ts';
import { seedStore } from './history.ts';
import { promptOf, type Script } from './prompts.ts';
import { type Bench, MODEL_KEYS, NOTE, SYSTEM } from './targets.ts';

const TENANT = 'default' as TenantId;
const NOTE_PATH = '/mnt/session/uploads/note.txt';

/** The parts of a service, without its doors. */
export interface Inside {
  readonly parts: LocalParts;
  readonly engine: Engine;
  readonly storage: CountingStorage;
  /** The latest run. */
  running(): Promise<void>;
}

/** Opens one on a data directory of its own; `parts.close()` ends it. */
export async function openInside({ directory, modelUrl, root }: Bench): Promise<Inside> {
  const config = readConfig({
    REPRISE_DATA_DIR: join(directory, 'inside'),
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: MODEL_KEYS.inside,
  });
  const parts = await composeLocal(config, join(root, 'dist/sandbox-child.mjs'));
  const storage = countStorage(parts.ports.storage);
  const engine = createEngine({ ...parts.ports, storage });
  let running: Promise<void> = Promise.resolve();
  parts.onWake((tenant, session) => {
    running = engine.run(tenant, session);
    return running;
  });
  return { parts, engine, storage, running: () => running };
}

/** A session with the whole toolset and one small file, its history seeded. */
export async function newSession({ parts, storage }: Inside, messages: number): Promise<Session> {
  const { ports } = parts;
  const blob = blobKey('bench/note');
  await ports.blobs.put(blob, Buffer.from(NOTE));
  const session = sessionOf(blob);
  const store = storage.forTenant(TENANT);
  await createSession({ store, clock: ports.clock, ids: ports.ids, limits: ports.limits }, session, []);
  await seedStore(store, session.id, messages);
  return session;
}

function sessionOf(blob: BlobKey): Session {
  const ulid = createIdSource().ulid();
  const createdAt = Date.now() as EpochMs;
  const model = { id: 'claude-opus-5-5', effort: null, speed: 'standard' } as const;
  const toolset = { kind: 'toolset', defaultEnabled: true, defaultPolicy: 'always_allow', configs: [] } as const;
  const file = {
    filename: 'note.txt',
    mimeType: 'text/plain',
    sizeBytes: NOTE.length,
    createdAt,
    updatedAt: createdAt,
  };
  const sha256 = createHash('sha256').update(NOTE).digest('hex');
  return {
    id: `sesn_${ulid}` as Session['id'],
    tenant: TENANT,
    agent: {
      id: `agent_${ulid}` as Session['agent']['id'],
      version: 1,
      name: 'bench',
      description: null,
      model,
      system: SYSTEM,
      tools: [{ ...toolset, face: 'agent_toolset' }],
      mcpServers: [],
      reprise: {},
    },
    environmentId: `env_${ulid}` as Session['environmentId'],
    environmentType: 'cloud',
    title: null,
    metadata: {},
    resources: [
      {
        ...file,
        id: `sesrsc_${ulid}`,
        type: 'file',
        fileId: `file_${ulid}` as FileId,
        mountPath: NOTE_PATH as WorkspacePath,
        blob,
        sha256,
      },
    ],
    budget: null,
    reprise: {},
    createdAt,
  };
}

export interface Written extends Counts {
  /** Of the messages that the turn added, as the API's JSON. */
  readonly messageBytes: number;
}

/** Runs one turn from accepted message to the released lease. */
export async function countTurn(inside: Inside, session: Session, script: Partial<Script>): Promise<Written> {
  const { engine, storage, parts } = inside;
  const before = await engine.load(TENANT, session.id);
  if (before === undefined || before === 'deleted') throw new Error('the session is gone');
  const start = storage.counts();
  const text = promptOf({ ...script, path: NOTE_PATH });
  const id = `sevt_${parts.ports.ids.ulid()}` as EventId;
  const event = {
    type: 'user.message',
    content: [{ type: 'text', text }],
    id,
    acceptedAt: parts.ports.clock.now(),
  } as const;
  const { sessionRev } = before;
  await engine.accept({ tenant: TENANT, session: session.id, sessionRev, events: [event], claims: [] });
  await untilIdle(inside, session);
  const end = storage.counts();
  const after = await engine.load(TENANT, session.id);
  if (after === undefined || after === 'deleted') throw new Error('the session is gone');
  if (after.state.lastOutcome?.kind !== 'completed') {
    throw new Error(`the turn did not complete: ${JSON.stringify(after.state.lastOutcome)}`);
  }
  const added = after.state.messages.slice(before.state.messages.length);
  const messageBytes = added.reduce((sum, message) => sum + bytesOf(message), 0);
  return { writes: end.writes - start.writes, bytes: end.bytes - start.bytes, messageBytes };
}

/** Waits until the accepted event was taken and its turn has left nothing to do. */
async function untilIdle({ engine, running }: Inside, session: Session): Promise<void> {
  for (;;) {
    await delay(2);
    await running();
    const now = await engine.load(TENANT, session.id);
    if (now === undefined || now === 'deleted') throw new Error('the session is gone');
    if (now.status === 'idle' && now.inbox.length === 0) return;
  }
}

const bytesOf = ({ role, content }: Message): number => Buffer.byteLength(JSON.stringify({ role, content }));
