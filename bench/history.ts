// Long conversations, made without a model: the same messages as a JSONL file for the raw loop and as a log for Reprise,
// appended through the log's own code while the service has not yet seen the session.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSqliteStore } from '../shared/adapters/sqlite-store.ts';
import { createIdSource } from '../shared/adapters/system.ts';
import { appendEntries } from '../shared/log/session-log.ts';
import type { Store } from '../shared/ports/store.ts';
import type { EpochMs, EventId, SessionId, TenantId, ToolUseId, TurnId } from '../shared/types/ids.ts';
import type { EntryBody } from '../shared/types/log.ts';
import { type ContentBlock, NO_TOTALS, NO_USAGE } from '../shared/types/message.ts';

/** Messages of one turn of the history: the user's, a call, its result, the answer. */
const PER_TURN = 4;
const MODEL = 'claude-opus-5-5';
/** Appends in flight at once; the store syncs them together. */
const BATCH = 200;

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const filler = (turn: number): string => `In step ${turn} we looked at the figures of the quarter. `.repeat(4);

interface HistoryTurn {
  readonly user: ContentBlock;
  readonly call: ContentBlock;
  readonly result: ContentBlock;
  readonly answer: ContentBlock;
}

function historyTurn(turn: number): HistoryTurn {
  const id = `toolu_history_${turn}`;
  return {
    user: text(filler(turn)),
    call: { type: 'tool_use', id, name: 'read', input: { file_path: `/workspace/figures-${turn}.txt` } },
    result: text(filler(turn)),
    answer: text(filler(turn)),
  };
}

/** Writes a history of about `messages` messages where the raw loop reads it. */
export function seedRaw(directory: string, session: string, messages: number): void {
  const lines: string[] = [];
  for (let turn = 0; turn < Math.ceil(messages / PER_TURN); turn++) {
    const { user, call, result, answer } = historyTurn(turn);
    lines.push(
      JSON.stringify({ role: 'user', content: [user] }),
      JSON.stringify({ role: 'assistant', content: [call] }),
      JSON.stringify({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: [result] }] }),
      JSON.stringify({ role: 'assistant', content: [answer] }),
    );
  }
  writeFileSync(join(directory, `${session}.jsonl`), `${lines.join('\n')}\n`);
}

/** Appends a history of about `messages` messages to the log of a session that nobody has run yet. */
export async function seedStore(store: Store, session: SessionId, messages: number): Promise<void> {
  const ids = createIdSource();
  const at = Date.now() as EpochMs;
  let seq = 1;
  let pending: Promise<unknown>[] = [];
  for (let turn = 0; turn < Math.ceil(messages / PER_TURN); turn++) {
    for (const entries of appendsOf(turn, seq, `turn_${ids.ulid()}` as TurnId, `sevt_${ids.ulid()}` as EventId)) {
      pending.push(appendEntries(store, { session, seq, epoch: 0, nonce: ids.nonce(), at, entries }));
      seq += entries.length;
    }
    if (pending.length < BATCH) continue;
    await Promise.all(pending);
    pending = [];
  }
  await Promise.all(pending);
}

/** As `seedStore`, in the file of a running service: several processes may share it. */
export async function seedReprise(dataDir: string, session: string, messages: number): Promise<void> {
  const storage = createSqliteStore({ path: join(dataDir, 'reprise.db') });
  await seedStore(storage.forTenant('default' as TenantId), session as SessionId, messages);
  await storage.close();
}

/** The appends of one turn with one tool round, as the service writes them. */
function appendsOf(turn: number, seq: number, turnId: TurnId, inputId: EventId): readonly (readonly EntryBody[])[] {
  const { user, call, result, answer } = historyTurn(turn);
  const toolUseId = call.id as ToolUseId;
  const started: EntryBody = { kind: 'model_started', model: MODEL, attempt: 1, fingerprint: '0'.repeat(16) };
  const event = { type: 'user.message', content: [user], id: inputId, acceptedAt: Date.now() as EpochMs } as const;
  const message = { kind: 'message', model: MODEL, usage: NO_USAGE } as const;
  const decided = { toolUseId, block: 0, name: 'read', input: call.input as Readonly<Record<string, unknown>> };
  const firstModelSeq = seq + 2;
  const secondModelSeq = firstModelSeq + 5;
  return [
    [{ kind: 'turn_started', turnId }, { kind: 'input', event }, started],
    [
      { ...message, modelSeq: firstModelSeq, content: [call], stopReason: 'tool_use' },
      {
        kind: 'decided',
        modelSeq: firstModelSeq,
        calls: [{ ...decided, kind: 'builtin', decision: 'allow', reason: 'policy' }],
      },
      { kind: 'tool_started', toolUseIds: [toolUseId] },
    ],
    [
      {
        kind: 'tool_result',
        toolUseId,
        modelSeq: firstModelSeq,
        block: 0,
        callKind: 'builtin',
        content: [result],
        isError: false,
      },
      started,
    ],
    [
      { ...message, modelSeq: secondModelSeq, content: [answer], stopReason: 'end_turn' },
      { kind: 'turn_ended', turnId, outcome: { kind: 'completed' }, totals: NO_TOTALS },
    ],
  ];
}
