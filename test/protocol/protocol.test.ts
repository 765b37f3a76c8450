// The lease and log protocol, exhaustively: two workers, three epochs, takeover at any moment, a client, lost replies, a
// deletion. Every rule is needed: dropping any one of them makes the checker find a schedule that breaks a promise.

import { describe, expect, test } from 'vitest';
import type { Write } from '../../shared/ports/store.ts';
import { type Actor, explore, type Sabotage } from './explore.ts';
import type { Operation } from './map-store.ts';
import {
  checkDeletion,
  checkInput,
  checkLog,
  client,
  deleter,
  epochsOf,
  type Outcome,
  RULES,
  slotGuard,
  startItems,
  sweeper,
  type WorkerRules,
  worker,
} from './scenario.ts';

/** Where nobody sends: the inbox stays empty, whenever it is read. */
const readsInbox = (operation: Operation): boolean => operation.kind === 'list' && operation.partition.startsWith('i/');

interface Options {
  readonly quiet?: (operation: Operation) => boolean;
  readonly rules?: Partial<WorkerRules>;
  readonly sabotage?: Sabotage;
  readonly lostReplies?: number;
}

type Cast = (rules: WorkerRules, rev: string, outcome: Outcome) => readonly Actor[];

/** Explores what these actors do; gives the number of states and the logs that stand at the ends. */
async function exploreLog(cast: Cast, options: Options) {
  const outcome: Outcome = { accepted: false, deleted: false };
  const { items, rev } = await startItems();
  const guard = slotGuard();
  const logs = new Set<string>();
  const explored = await explore({
    actors: cast({ ...RULES, ...options.rules }, rev, outcome),
    items,
    lostReplies: options.lostReplies ?? 0,
    ...(options.sabotage ? { sabotage: options.sabotage } : {}),
    ...(options.quiet ? { quiet: options.quiet } : {}),
    check(now) {
      guard(now);
      checkLog(now);
      checkInput(now, outcome);
    },
    atEnd: (now) => void logs.add(epochsOf(now)),
  });
  return { ...explored, logs };
}

const writers = (options: Options = {}) =>
  exploreLog((rules) => [worker('A', 2, rules), worker('B', 1, rules)], { quiet: readsInbox, ...options });

const serving = (options: Options = {}) =>
  exploreLog((rules, rev, outcome) => [client(rev, outcome), worker('A', 1, rules), worker('B', 1, rules)], options);

async function deleting(options: Options = {}) {
  const outcome: Outcome = { accepted: false, deleted: false };
  const { items, rev } = await startItems();
  const ends = new Set<string>();
  const explored = await explore({
    actors: [client(rev, outcome), deleter(outcome), worker('A', 1, { ...RULES, ...options.rules })],
    items,
    lostReplies: options.lostReplies ?? 0,
    ...(options.sabotage ? { sabotage: options.sabotage } : {}),
    check: checkDeletion,
    atEnd: () => void ends.add(`${outcome.accepted ? 'accepted' : 'refused'} ${outcome.deleted ? 'deleted' : 'kept'}`),
  });
  return { ...explored, ends };
}

describe('the protocol holds', { timeout: 120_000 }, () => {
  test('two workers, three epochs, takeover at any moment', async () => {
    const { states, logs } = await writers();
    expect(states).toBeGreaterThan(1000);
    expect([...logs]).toEqual(expect.arrayContaining(['1 2 3', '2 3', '1 3']));
  });

  test('the same with a lost reply anywhere', async () => {
    const { states } = await writers({ lostReplies: 1 });
    expect(states).toBeGreaterThan(10_000);
  });

  test('the same with renewals', async () => {
    const { states } = await writers({ rules: { renews: true } });
    expect(states).toBeGreaterThan(10_000);
  });

  test('a client and two workers, lost replies: no accepted input is lost, none is taken twice', async () => {
    const { logs } = await serving({ lostReplies: 1 });
    expect([...logs]).toEqual(expect.arrayContaining(['1i 2', '1 2i', '2i', '1 2']));
  });

  test('a client and three epochs of two workers', async () => {
    const { logs } = await exploreLog(
      (rules, rev, outcome) => [client(rev, outcome), worker('A', 2, rules), worker('B', 1, rules)],
      {},
    );
    expect([...logs]).toEqual(expect.arrayContaining(['1 2 3i', '1 2i 3', '1i 2 3', '1 2 3']));
  });

  test('a client and a worker, while the inbox is swept', async () => {
    const { logs } = await exploreLog(
      (rules, rev, outcome) => [client(rev, outcome), worker('A', 2, rules), sweeper],
      {},
    );
    expect([...logs]).toEqual(expect.arrayContaining(['1 2i', '1i 2']));
  });

  test('a deletion beside a client and a worker: nothing open is dropped, nothing comes in afterwards', async () => {
    const { ends } = await deleting({ lostReplies: 1 });
    expect([...ends].sort()).toEqual(['accepted deleted', 'accepted kept', 'refused deleted']);
  });
});

// ---- dropping rules ---------------------------------------------------------------------------------------------------

const isLog = ({ key }: Write): boolean => key.partition.startsWith('l/');
const isLease = ({ key }: Write): boolean => key.partition.startsWith('s/') && key.sort === 'l';
const isDue = ({ key }: Write): boolean => key.partition.startsWith('s/') && key.sort === 'd';
const isInbox = ({ key }: Write): boolean => key.partition.startsWith('i/');
const isSession = ({ key }: Write): boolean => key.partition === 'sessions';

const changeWrites = (change: (write: Write, all: readonly Write[]) => Write | undefined): Sabotage => ({
  before(operation): Operation {
    if (operation.kind !== 'write') return operation;
    const writes = operation.writes.flatMap((write) => change(write, operation.writes) ?? []);
    return { ...operation, writes };
  },
});

/** Writes that `which` picks no longer expect anything. */
const unchecked = (which: (write: Write, all: readonly Write[]) => boolean): Sabotage =>
  changeWrites((write, all) => (which(write, all) ? { ...write, expect: 'any' } : write));

const sameRev = (write: Write): Write => (write.item ? { ...write, item: { ...write.item, rev: 'same' } } : write);

describe('each rule is needed', { timeout: 120_000 }, () => {
  const breaks = (name: string, run: () => Promise<unknown>, how: string) =>
    test(name, () => expect(run()).rejects.toThrow(how));

  breaks('a slot is put if absent', () => writers({ sabotage: unchecked(isLog) }), 'was written twice');

  const everySlotIsOurs: Sabotage = {
    after(operation, answer) {
      const [write] = operation.kind === 'write' ? operation.writes : [];
      const put = answer as { ok: boolean; current?: object };
      if (!write?.item || !isLog(write) || put.ok) return answer;
      return { ...put, current: { ...put.current, rev: write.item.rev } };
    },
  };
  breaks(
    'the nonce decides on a taken slot',
    () => serving({ sabotage: everySlotIsOurs }),
    'an accepted input is lost',
  );

  breaks('a lease is changed at the rev that was read', () => writers({ sabotage: unchecked(isLease) }), 'two holders');

  const sameEpoch = changeWrites((write) => {
    const data = write.item?.data as { e?: number } | undefined;
    return write.item && isLease(write) ? { ...write, item: { ...write.item, data: { ...data, e: 1 } } } : write;
  });
  breaks('each taking has a higher epoch', () => writers({ sabotage: sameEpoch }), 'two holders');

  breaks(
    'a worker that reads a higher epoch stops',
    () => writers({ rules: { stopsAtHigherEpoch: false } }),
    'after one of epoch',
  );

  breaks(
    'after a lost slot it decides again from what it reads',
    () => serving({ rules: { decidesAgain: false } }),
    'taken twice',
  );

  breaks(
    'accepting makes the session due',
    () => serving({ sabotage: changeWrites((w, all) => (isDue(w) && all.some(isInbox) ? undefined : w)) }),
    'an accepted input is lost',
  );

  const sameDueOnTaking = changeWrites((write, all) => {
    if (!isDue(write)) return write;
    if (write.item === null) return { ...write, expect: { rev: 'same' } };
    return all.some(isLease) ? sameRev(write) : write;
  });
  breaks('each taking gives due a new rev', () => serving({ sabotage: sameDueOnTaking }), 'an accepted input is lost');

  breaks(
    'due is removed at the rev that was noted',
    () => serving({ sabotage: unchecked((w) => isDue(w) && w.item === null) }),
    'an accepted input is lost',
  );

  breaks(
    'that rev is noted when the lease is taken, not at the end',
    () => serving({ rules: { notesDueAtStart: false } }),
    'an accepted input is lost',
  );

  breaks(
    'the inbox is looked at after the lease is taken',
    () => serving({ rules: { looksAfterTaking: false } }),
    'an accepted input is lost',
  );

  breaks(
    'accepting checks that the session is not deleted',
    () => deleting({ sabotage: changeWrites((w, all) => (isSession(w) && all.some(isInbox) ? undefined : w)) }),
    'has an open input',
  );

  breaks(
    'a session that is due is not deleted',
    () => deleting({ sabotage: unchecked((w) => isDue(w) && w.expect === 'absent') }),
    'has an open input',
  );

  const livingLease = changeWrites((write) => {
    const { d, ...data } = (write.item?.data ?? {}) as { d?: 1; e?: number };
    return write.item && isLease(write) && d ? { ...write, item: { ...write.item, data } } : write;
  });
  breaks('a deleted session cannot be taken', () => deleting({ sabotage: livingLease }), 'was taken');
});
