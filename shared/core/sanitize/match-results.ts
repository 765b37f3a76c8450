// Which result belongs to which call, over a whole history: by id, nearest first, each once. Linear.

import type { ContentBlock } from '../../types/message.ts';
import { isGoodId, isServerCall } from '../facts/block-facts.ts';
import { hashText, hexOf } from '../request/hash-text.ts';
import { blocksOfTurn, type Draft, type DraftTurn, jsonOf } from './sanitize-draft.ts';

export interface Call {
  readonly block: ContentBlock;
  readonly turn: number;
  result: Result | null;
  /** False for a copy of an earlier call, and for one that was cut and never answered. */
  kept: boolean;
  /** The call that this is a copy of. */
  copyOf?: Call;
  /** The id to send; the call's own where the API takes it and no other call has it. */
  id: string;
}

export interface Result {
  readonly block: ContentBlock;
  readonly turn: number;
}

export interface Matches {
  /** The blocks of the message of a call, as JSON. */
  readonly companions: (call: Call) => ReadonlySet<string>;
  readonly calls: ReadonlyMap<ContentBlock, Call>;
  /** Outputs that answer no call (any more) but say something: to be carried as text where they stand. */
  readonly carried: ReadonlySet<ContentBlock>;
}

interface SameId {
  readonly all: Call[];
  readonly byTurn: Map<number, Call[]>;
  /** How far `all` is known to be answered. */
  at: number;
  readonly early: Result[];
}

/** Matches all `tool_use` and `tool_result` blocks of the turns. */
export function matchResults(turns: readonly DraftTurn[]): Matches {
  const groups = new Map<string, SameId>();
  const carried = new Set<ContentBlock>();
  const json = memoJson();
  turns.forEach((turn, index) => {
    for (const block of blocksOfTurn(turn)) {
      if (block.type === 'tool_use') addCall(groupOf(groups, block.id), { block, turn: index });
      if (block.type === 'tool_result') {
        addResult(groupOf(groups, block.tool_use_id), { block, turn: index }, { json, carried });
      }
    }
  });
  for (const group of groups.values()) {
    for (const result of group.early) {
      const call = nextOpen(group);
      if (call) call.result = result;
      else if (saysSomething(result.block)) carried.add(result.block);
    }
    dropCopies(group, json);
  }
  giveIds(groups, turns);
  const calls = new Map([...groups.values()].flatMap((group) => group.all.map((call) => [call.block, call] as const)));
  return { calls, carried, companions: companionsIn(turns) };
}

const keyOf = (id: unknown): string => (typeof id === 'string' ? `s${id}` : `j${jsonOf(id)}`);

function groupOf(groups: Map<string, SameId>, id: unknown): SameId {
  const key = keyOf(id);
  const known = groups.get(key);
  if (known) return known;
  const group: SameId = { all: [], byTurn: new Map(), at: 0, early: [] };
  groups.set(key, group);
  return group;
}

function addCall(group: SameId, of: Pick<Call, 'block' | 'turn'>): void {
  const call: Call = { ...of, result: null, kept: true, id: '' };
  group.all.push(call);
  const sameTurn = group.byTurn.get(of.turn);
  if (sameTurn) sameTurn.push(call);
  else group.byTurn.set(of.turn, [call]);
}

/** The oldest call without a result; calls are looked at once. */
function nextOpen(group: SameId): Call | undefined {
  while (group.at < group.all.length && group.all[group.at]?.result) group.at += 1;
  return group.all[group.at];
}

function addResult(
  group: SameId,
  result: Result,
  { json, carried }: { readonly json: (block: ContentBlock) => string; readonly carried: Set<ContentBlock> },
): void {
  const rightBefore = group.byTurn.get(result.turn - 1);
  while (rightBefore?.[0]?.result) rightBefore.shift();
  const call = rightBefore?.[0] ?? nextOpen(group);
  if (call) {
    call.result = result;
    return;
  }
  const last = group.all.at(-1);
  if (!last?.result) {
    group.early.push(result);
    return;
  }
  if (json(last.result.block) === json(result.block) || result.block.is_error === true) return;
  // A real output replaces a placeholder as long as the model has not answered to the placeholder.
  if (last.result.block.is_error === true && last.result.turn === result.turn) last.result = result;
  else if (saysSomething(result.block)) carried.add(result.block);
}

const saysSomething = (block: ContentBlock): boolean => {
  const { content } = block;
  return block.is_error !== true && content !== undefined && content !== '' && jsonOf(content) !== '[]';
};

/** Same name and input, and the same result or none: the same call, stored again. */
function dropCopies(group: SameId, json: (block: ContentBlock) => string): void {
  if (group.all.length < 2) return;
  const results = new Map<string, { readonly first: Call; readonly seen: Set<string> }>();
  for (const call of group.all) {
    const signature = `${String(call.block.name)} ${jsonOf(call.block.input)}`;
    const result = call.result ? json(call.result.block) : null;
    const known = results.get(signature);
    if (!known) {
      results.set(signature, { first: call, seen: new Set(result === null ? [] : [result]) });
    } else if (result === null || known.seen.has(result)) dropCopy(call, known.first);
    else if (known.first.result === null) {
      known.first.result = call.result;
      known.seen.add(result);
      dropCopy(call, known.first);
    } else known.seen.add(result);
  }
}

function dropCopy(call: Call, original: Call): void {
  call.kept = false;
  call.copyOf = original;
}

/** Good ids go to the first call that has them; all others get one made from the data, the same in every rebuild. */
function giveIds(groups: ReadonlyMap<string, SameId>, turns: readonly DraftTurn[]): void {
  const used = new Set<unknown>(
    turns
      .flatMap(blocksOfTurn)
      .filter(isServerCall)
      .map((block) => block.id),
  );
  for (const { all } of groups.values()) {
    const first = all.find((call) => call.kept);
    if (!first || !isGoodId(first.block.id) || used.has(first.block.id)) continue;
    first.id = first.block.id;
    used.add(first.id);
  }
  for (const [key, { all }] of groups) {
    all.forEach((call, i) => {
      if (!call.kept || call.id !== '') return;
      for (let salt = 0; call.id === '' || used.has(call.id); salt++) {
        call.id = `${cleanId(call.block.id)}_${hexOf(hashText(`${key} ${i} ${salt}`)).slice(0, 8)}`;
      }
      used.add(call.id);
    });
  }
}

const CLEAN_CHARS_MAX = 40;
const cleanId = (id: unknown): string =>
  typeof id === 'string' ? id.slice(0, CLEAN_CHARS_MAX).replaceAll(/[^a-zA-Z0-9_-]/g, '_') : 'call';

/** JSON of a result's content and state, written once per block. */
function memoJson(): (block: ContentBlock) => string {
  const memo = new Map<ContentBlock, string>();
  return (block) => {
    const known = memo.get(block);
    if (known !== undefined) return known;
    const text = jsonOf([block.content ?? '', block.is_error === true]);
    memo.set(block, text);
    return text;
  };
}

function companionsIn(turns: readonly DraftTurn[]): Matches['companions'] {
  const memo = new Map<Draft, ReadonlySet<string>>();
  return (call) => {
    const draft = turns[call.turn]?.drafts.find((d) => d.blocks.includes(call.block));
    if (!draft) return new Set();
    const known = memo.get(draft) ?? new Set(draft.blocks.map(jsonOf));
    memo.set(draft, known);
    return known;
  };
}
