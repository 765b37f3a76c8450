// What a plain turn costs by the protocol: requests and bytes, whatever the history. The bound is the promise of the design.

import { expect, test } from 'vitest';
import { clearDue } from '../../shared/log/due.ts';
import { acceptEvents, sweepInbox } from '../../shared/log/inbox.ts';
import { acquireLease, releaseLease } from '../../shared/log/lease.ts';
import { appendEntries } from '../../shared/log/session-log.ts';
import type { SessionId, TurnId } from '../../shared/types/ids.ts';
import type { EntryBody } from '../../shared/types/log.ts';
import { NO_TOTALS } from '../../shared/types/message.ts';
import { makeWorld, type World } from './world.ts';

const ANSWER = 'The capital of France is Paris. It lies on the Seine and has about two million inhabitants.';

async function plainTurn(world: World, session: { id: SessionId; rev: string }, seq: number, question: string) {
  const { deps, store } = world;
  const { id, rev } = session;
  const event = world.message(question);
  const accepted = await acceptEvents(deps, { session: id, sessionRev: rev, events: [event], claims: [], open: 0 });
  expect(accepted.kind).toBe('accepted');
  const taken = await acquireLease(deps, id, deps.ids.nonce());
  if (taken.kind !== 'acquired') throw new Error(taken.kind);
  const { lease } = taken;
  const turnId = `turn_${deps.ids.ulid()}` as TurnId;
  const model = 'claude-opus-5-5';
  const usage = {
    input_tokens: 1234,
    output_tokens: 567,
    cache_read_input_tokens: 12_345,
    cache_creation_input_tokens: 678,
  };
  const append = async (from: number, entries: readonly EntryBody[]) =>
    appendEntries(store, {
      session: id,
      seq: from,
      epoch: lease.epoch,
      nonce: deps.ids.nonce(),
      at: deps.clock.now(),
      entries,
    });
  await append(seq, [
    { kind: 'turn_started', turnId },
    { kind: 'input', event },
    { kind: 'model_started', model, attempt: 1, fingerprint: '0123456789abcdef' },
  ]);
  await append(seq + 3, [
    {
      kind: 'message',
      modelSeq: seq + 2,
      content: [{ type: 'text', text: ANSWER }],
      model,
      usage,
      stopReason: 'end_turn',
    },
    { kind: 'turn_ended', turnId, outcome: { kind: 'completed' }, totals: NO_TOTALS },
  ]);
  await releaseLease(deps, id, lease);
  expect(await clearDue(store, id, lease.dueRev)).toBe('cleared');
  return event.id;
}

const QUESTION = 'What is the capital of France?';

test('a plain turn writes its messages 1.5 times and 1 KB, in six requests, and reads the lease only', async () => {
  const world = makeWorld();
  const session = await world.newSession();
  const messages = [
    { role: 'user', content: [{ type: 'text', text: QUESTION }] },
    { role: 'assistant', content: [{ type: 'text', text: ANSWER }] },
  ];
  const messageBytes = messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
  const before = { ...world.counts };
  await plainTurn(world, session, 1, QUESTION);
  const { counts } = world;
  const detail = counts.calls.join('\n');
  expect(counts.bytesWritten - before.bytesWritten, detail).toBeLessThanOrEqual(1.5 * messageBytes + 1024);
  expect(counts.writes - before.writes, detail).toBe(6);
  expect(counts.get - before.get, detail).toBe(1);
  expect(counts.list - before.list, detail).toBe(0);
});

test('what a turn writes does not grow with the history', async () => {
  const world = makeWorld();
  const session = await world.newSession();
  const written: number[] = [];
  for (let turn = 0; turn < 30; turn++) {
    const before = world.counts.bytesWritten;
    const taken = await plainTurn(world, session, 1 + 5 * turn, QUESTION);
    written.push(world.counts.bytesWritten - before);
    await sweepInbox(world.store, session.id, (id) => id === taken);
  }
  expect(Math.max(...written) - Math.min(...written.slice(0, 3))).toBeLessThanOrEqual(8);
});
