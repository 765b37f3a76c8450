// Every interleaving of some actors over one store. An actor is real asynchronous code; each store operation of it waits until
// the explorer lets it happen. Depth first: a schedule is replayed from the start and continued; a state that was seen before
// (the same items, and each actor having seen the same answers) is not explored again, which loses nothing, since actors are
// deterministic between answers.

import { hash } from 'node:crypto';
import type { Store } from '../../shared/ports/store.ts';
import { type Items, type Operation, runOperation, storeThrough } from './map-store.ts';

export interface Actor {
  readonly name: string;
  /**
   * Calls `forget(what)` where what it has seen so far will not matter any more, but for `what`; so does its end, but for
   * what it gives back.
   */
  run(store: Store, forget: (what: string) => void): Promise<unknown>;
}

export interface Scenario {
  readonly actors: readonly Actor[];
  /** What is there at the start. */
  readonly items: Items;
  /** How many times, in one schedule, the reply to a write may get lost, so that its adapter writes it again. */
  readonly lostReplies: number;
  /** A rule that is dropped: changes operations or answers on their way. */
  readonly sabotage?: Sabotage;
  /** An operation that commutes with all that any other actor may ever do here: it happens at once, without a choice. */
  readonly quiet?: (operation: Operation) => boolean;
  /** Throws where a state is wrong; called after every operation, in order within one schedule. */
  check(items: Items): void;
  /** What stands when every actor has ended. */
  readonly atEnd?: (items: Items) => void;
}

export interface Sabotage {
  readonly before?: (operation: Operation) => Operation;
  readonly after?: (operation: Operation, answer: unknown) => unknown;
}

export interface Explored {
  readonly schedules: number;
  readonly states: number;
}

export const TENANT = 'default';
const STATES_MAX = 2_000_000;

interface Pending {
  readonly operation: Operation;
  readonly answer: (value: unknown) => void;
}

interface Running {
  readonly name: string;
  readonly pending: Pending[];
  seen: string;
  done: boolean;
  failed: unknown;
}

/** Goes through all schedules. Throws with the schedule in the message where `check` does. */
export async function explore(scenario: Scenario): Promise<Explored> {
  const seen = new Set<string>();
  const todo: (readonly string[])[] = [[]];
  let schedules = 0;
  for (let prefix = todo.pop(); prefix; prefix = todo.pop()) {
    schedules++;
    await follow(scenario, prefix, seen, todo);
    if (seen.size > STATES_MAX) throw new Error(`more than ${STATES_MAX} states: the scenario is too large`);
  }
  return { schedules, states: seen.size };
}

async function follow(
  scenario: Scenario,
  prefix: readonly string[],
  seen: Set<string>,
  todo: (readonly string[])[],
): Promise<void> {
  const items: Items = new Map(scenario.items);
  const actors = scenario.actors.map(start);
  for (const actor of actors) await settle(actor);
  const path: string[] = [];
  try {
    for (const [i, choice] of prefix.entries()) {
      path.push(choice);
      // All but the last step of a prefix were checked when it was found; the state before it tells what changed.
      if (i === prefix.length - 1) scenario.check(items);
      await take(scenario, items, actors, choice);
      if (i === prefix.length - 1) scenario.check(items);
    }
    for (;;) {
      const losses = path.filter((choice) => choice.endsWith('!')).length;
      const choices = choicesOf(scenario, actors, losses < scenario.lostReplies);
      if (choices.length === 0) return scenario.atEnd?.(items);
      const fresh = choices.filter((choice) => isFresh(seen, foresee(scenario, { items, actors, losses }, choice)));
      const [first, ...others] = fresh;
      if (first === undefined) return;
      for (const other of others) todo.push([...path, other]);
      path.push(first);
      await take(scenario, items, actors, first);
      scenario.check(items);
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\nschedule: ${path.join(' ')}`, { cause: error });
  }
}

function start({ name, run }: Actor): Running {
  const running: Running = { name, pending: [], seen: '', done: false, failed: undefined };
  const store = storeThrough((operation) => new Promise((answer) => running.pending.push({ operation, answer })));
  const forget = (what: string): void => {
    running.seen = what;
  };
  run(store, forget).then(
    (result: unknown) => {
      running.done = true;
      forget(`done ${JSON.stringify(result)}`);
    },
    (error: unknown) => {
      running.done = true;
      running.failed = error;
    },
  );
  return running;
}

/** Lets an actor run until it waits for the store or has ended. */
async function settle(actor: Running): Promise<void> {
  if (actor.pending.length > 0) await new Promise((resolve) => setImmediate(resolve));
  for (let ticks = 0; actor.pending.length === 0 && !actor.done; ticks++) {
    if (ticks > 1000) throw new Error(`${actor.name} waits for something that is no store operation`);
    await null;
  }
  if (actor.failed) throw actor.failed;
}

/** `<actor>.<n>`: its n-th waiting operation happens; with `!` it happens, the reply is lost, and it is sent again. */
function choicesOf(scenario: Scenario, actors: readonly Running[], mayLose: boolean): string[] {
  const all = actors.flatMap(({ name, pending }) =>
    pending.map(({ operation }, n) => ({ choice: `${name}.${n}`, operation })),
  );
  const quiet = all.find(({ operation }) => scenario.quiet?.(operation));
  if (quiet) return [quiet.choice];
  const loses = all.filter(({ operation }) => mayLose && operation.kind === 'write');
  return [...all.map(({ choice }) => choice), ...loses.map(({ choice }) => `${choice}!`)];
}

/** Lets the chosen operation happen on `items`; the answer is not given yet. */
function happen(scenario: Scenario, items: Items, actors: readonly Running[], choice: string) {
  const [name, place = '0'] = choice.split('.');
  const actor = actors.find((a) => a.name === name);
  const pending = actor?.pending[Number.parseInt(place, 10)];
  if (!actor || !pending) throw new Error(`the schedule cannot be replayed at ${choice}`);
  const { before, after } = scenario.sabotage ?? {};
  const operation = before ? before(pending.operation) : pending.operation;
  if (place.endsWith('!')) runOperation(items, TENANT, operation);
  const result = runOperation(items, TENANT, operation);
  const answer = after ? after(operation, result) : result;
  return { actor, pending, answer, seen: digest(`${actor.seen}${place}${textOfAnswer(answer)}`) };
}

async function take(scenario: Scenario, items: Items, actors: readonly Running[], choice: string): Promise<void> {
  const { actor, pending, answer, seen } = happen(scenario, items, actors, choice);
  actor.pending.splice(actor.pending.indexOf(pending), 1);
  actor.seen = seen;
  pending.answer(answer);
  await settle(actor);
}

interface State {
  readonly items: Items;
  readonly actors: readonly Running[];
  readonly losses: number;
}

/** The state that a choice leads to, before its actor goes on from the answer; what it does then follows from this. */
function foresee(scenario: Scenario, { items, actors, losses }: State, choice: string): string {
  const next: Items = new Map(items);
  const { actor, seen } = happen(scenario, next, actors, choice);
  const rows = [...next.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, { row }]) => id + textOf(row));
  const views = actors.map((a) => (a === actor ? `>${seen}` : a.seen));
  return digest([choice.endsWith('!') ? losses + 1 : losses, ...views, ...rows].join('\n'));
}

/** Rows of a listing are the stored ones, whose text is known. */
const textOfAnswer = (answer: unknown): string =>
  Array.isArray(answer) ? answer.map(textOf).join() : (JSON.stringify(answer) ?? '');

const texts = new WeakMap<object, string>();

function textOf(row: object): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const text = JSON.stringify(row);
  texts.set(row, text);
  return text;
}

function isFresh(seen: Set<string>, state: string): boolean {
  if (seen.has(state)) return false;
  seen.add(state);
  return true;
}

const digest = (text: string): string => hash('sha1', text, 'base64');
