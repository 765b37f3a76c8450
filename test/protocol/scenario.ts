// Workers, clients and a deleter over the real append, lease, inbox and due code, and what must be true after every step.
// Leases last 0 ms here: whoever tries takes over, at any moment, which is more than any clock could do.

import type { LogDeps } from '../../shared/log/deps.ts';
import { clearDue, readDue } from '../../shared/log/due.ts';
import { acceptEvents, readInbox, sweepInbox } from '../../shared/log/inbox.ts';
import { acquireLease, releaseLease, renewLease } from '../../shared/log/lease.ts';
import { appendEntries, readTail } from '../../shared/log/session-log.ts';
import { createSession, deleteSession } from '../../shared/log/sessions.ts';
import { isTombstone } from '../../shared/log/tombstone.ts';
import type { Store } from '../../shared/ports/store.ts';
import { type EventId, epochMs, type SessionId } from '../../shared/types/ids.ts';
import { LIMITS } from '../../shared/types/limits.ts';
import type { EntryBody, InboxEvent, LogEntry } from '../../shared/types/log.ts';
import { session as sessionOf } from '../core/builders.ts';
import type { Actor } from './explore.ts';
import { TENANT } from './explore.ts';
import { createMapStorage, type Items } from './map-store.ts';

export const ID = 'sesn_01k00000000000000000000000' as SessionId;
const AT = epochMs(1_700_000_000_000);

/** The rules of a worker that live above the log room; each can be dropped. */
export interface WorkerRules {
  /** Having read an entry of a higher epoch it stops. */
  readonly stopsAtHigherEpoch: boolean;
  /** It removes `due` at the rev that its own lease wrote, not at one that it reads at the end. */
  readonly notesDueAtStart: boolean;
  /** After a lost slot it reads on and decides again, instead of writing the same behind. */
  readonly decidesAgain: boolean;
  /** It renews its lease between two appends and stops when that fails. */
  readonly renews: boolean;
  /** It looks at the inbox (also) after it took the lease. */
  readonly looksAfterTaking: boolean;
}

export const RULES: WorkerRules = {
  stopsAtHigherEpoch: true,
  notesDueAtStart: true,
  decidesAgain: true,
  renews: false,
  looksAfterTaking: true,
};

/** Ids that are the same in every replay, and different for each actor. */
function depsOf(store: Store, name: string): LogDeps {
  let count = 0;
  const next = (): string => `${name}.${count++}`;
  const clock = { now: () => AT, sleep: async () => {} };
  return { store, clock, ids: { ulid: next, nonce: next, random: () => 0 }, limits: { ...LIMITS, leaseMs: 0 } };
}

/** One worker that runs the session `runs` times, one after the other; each run is another holder with another epoch. */
export function worker(name: string, runs: number, rules: WorkerRules = RULES): Actor {
  return {
    name,
    async run(store, forget) {
      for (let run = 1; run <= runs; run++) {
        const holder = `${name}r${run}`;
        forget(holder);
        await runOnce(depsOf(store, holder), holder, rules);
      }
    },
  };
}

async function runOnce(deps: LogDeps, holder: string, rules: WorkerRules): Promise<void> {
  const { store } = deps;
  const before = rules.looksAfterTaking ? [] : await readInbox(store, ID);
  const taken = await acquireLease(deps, ID, holder);
  if (taken.kind !== 'acquired') return;
  const { lease } = taken;
  const log: LogEntry[] = [];
  const readOn = async () => void log.push(...(await readTail(store, ID, log.at(-1)?.seq ?? 0)));
  let count = 0;
  let inbox = rules.looksAfterTaking ? await readInbox(store, ID) : before;
  await readOn();
  const open = () => inbox.filter(({ id }) => !log.some((e) => e.kind === 'input' && e.event.id === id));
  let stubborn: EntryBody | undefined;
  for (let resumed = false; ; ) {
    if (rules.stopsAtHigherEpoch && log.some((e) => e.epoch > lease.epoch)) return;
    const [event] = open();
    if (resumed && !event && !stubborn) break;
    const body = stubborn ?? (event ? ({ kind: 'input', event } as const) : marker(holder));
    const seq = (log.at(-1)?.seq ?? 0) + 1;
    const nonce = `${holder}/${count++}`;
    const put = await appendEntries(store, { session: ID, seq, epoch: lease.epoch, nonce, at: AT, entries: [body] });
    stubborn = undefined;
    if (put.kind === 'ok') {
      log.push(...put.entries);
      resumed = true;
      if (rules.renews && (await renewLease(deps, ID, lease)) === 'lost') return;
    } else {
      await readOn();
      if (!rules.decidesAgain) stubborn = body;
    }
  }
  if ((await releaseLease(deps, ID, lease)) === 'lost') return;
  if (rules.looksAfterTaking) inbox = await readInbox(store, ID);
  if (open().length > 0) return; // it would wake; `due` stands
  const dueRev = rules.notesDueAtStart ? lease.dueRev : await readDue(store, ID);
  if (dueRev !== undefined) await clearDue(store, ID, dueRev);
}

const marker = (holder: string): EntryBody => ({ kind: 'tools_offered', names: [holder], hash: '' });

export const EVENT: InboxEvent = { type: 'user.interrupt', id: 'sevt_client' as EventId, acceptedAt: AT };

export interface Outcome {
  accepted: boolean;
  deleted: boolean;
}

/** Sends one event; `outcome` is what this schedule's client was told. */
export function client(sessionRev: string, outcome: Outcome): Actor {
  return {
    name: 'C',
    async run(store) {
      outcome.accepted = false;
      const send = { session: ID, sessionRev, events: [EVENT], claims: [], open: 0 };
      const accepted = await acceptEvents(depsOf(store, 'C'), send);
      outcome.accepted = accepted.kind === 'accepted';
      return outcome.accepted;
    },
  };
}

export function deleter(outcome: Outcome): Actor {
  return {
    name: 'D',
    async run(store) {
      outcome.deleted = false;
      outcome.deleted = (await deleteSession(depsOf(store, 'D'), ID)) === 'deleted';
      return outcome.deleted;
    },
  };
}

/** A worker that only removes what is taken from the inbox. */
export const sweeper: Actor = {
  name: 'S',
  async run(store) {
    const log = await readTail(store, ID, 0);
    await sweepInbox(store, ID, (id) => log.some((e) => e.kind === 'input' && e.event.id === id));
  },
};

/** Items of a place with one session in it, idle, with the rev of its record. */
export async function startItems(): Promise<{ items: Items; rev: string }> {
  const items: Items = new Map();
  const deps = depsOf(createMapStorage(items).forTenant(TENANT as never), 'start');
  const { rev } = await createSession(deps, sessionOf({ id: ID }), []);
  return { items, rev };
}

// ---- what must be true ------------------------------------------------------------------------------------------------

interface Stored {
  readonly sort: string;
  readonly rev: string;
  readonly epoch: number;
  readonly inputs: readonly string[];
  readonly size: number;
}

function logRows(items: Items): Stored[] {
  return [...items.values()]
    .filter(({ row }) => row.key.partition.startsWith('l/'))
    .map(({ row }) => {
      const { e, x } = row.data as { e: number; x: readonly { k: string; e?: { i: string } }[] };
      const inputs = x.flatMap((entry) => (entry.k === 'in' && entry.e ? [entry.e.i] : []));
      return { sort: row.key.sort, rev: row.rev, epoch: e, inputs, size: x.length };
    })
    .sort((a, b) => (a.sort < b.sort ? -1 : 1));
}

/** Seqs without gap or overlap; epochs never fall; all of one epoch is of one holder; no input is taken twice. */
export function checkLog(items: Items): void {
  const rows = logRows(items);
  const holders = new Map<number, string>();
  const inputs = new Set<string>();
  let next = 1;
  let epoch = 0;
  for (const row of rows) {
    if (Number(row.sort) !== next) throw new Error(`slot ${row.sort} where ${next} was expected`);
    next += row.size;
    if (row.epoch < epoch) throw new Error(`an entry of epoch ${row.epoch} after one of epoch ${epoch}`);
    epoch = row.epoch;
    const holder = row.rev.split('/')[0] as string;
    if ((holders.get(epoch) ?? holder) !== holder) throw new Error(`epoch ${epoch} has two holders`);
    holders.set(epoch, holder);
    for (const input of row.inputs) {
      if (inputs.has(input)) throw new Error(`input ${input} was taken twice`);
      inputs.add(input);
    }
  }
}

/** What the client sent is in the log, or `due` says that someone is to look; so it holds for a worker that dies anywhere. */
export function checkInput(items: Items, outcome: Outcome): void {
  const keys = [...items.values()].map(({ row }) => row.key);
  const sent = outcome.accepted || keys.some(({ partition }) => partition.startsWith('i/'));
  const due = keys.some(({ partition, sort }) => partition.startsWith('s/') && sort === 'd');
  const taken = logRows(items).some(({ inputs }) => inputs.includes(EVENT.id));
  if (sent && !taken && !due) throw new Error('an accepted input is lost');
}

/** A session whose tombstone stands has no open input: none was dropped, and none comes in any more. */
export function checkDeletion(items: Items): void {
  const rows = [...items.values()].map(({ row }) => row);
  if (!rows.some((row) => row.key.partition === 'sessions' && isTombstone(row))) return;
  const open = rows.some(({ key }) => key.partition.startsWith('i/'));
  const taken = logRows(items).some(({ inputs }) => inputs.includes(EVENT.id));
  if (open && !taken) throw new Error('a deleted session has an open input');
  if (rows.some(({ key, data }) => key.sort === 'l' && !(data as { d?: 1 }).d))
    throw new Error('a deleted session was taken');
}

export const epochsOf = (items: Items): string =>
  logRows(items)
    .map(({ epoch, inputs }) => epoch + (inputs.length > 0 ? 'i' : ''))
    .join(' ');

/** Remembers which slots were written in this schedule; a second, different write is a fault. */
export function slotGuard(): (items: Items) => void {
  let last: Items | undefined;
  let slots = new Map<string, string>();
  return (items) => {
    if (items !== last) slots = new Map();
    last = items;
    for (const { sort, rev } of logRows(items)) {
      if ((slots.get(sort) ?? rev) !== rev) throw new Error(`slot ${sort} was written twice`);
      slots.set(sort, rev);
    }
  };
}
