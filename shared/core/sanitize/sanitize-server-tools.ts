// Calls of tools that the API runs itself, after client calls have been paired. Nothing is ever made up for them.

import type { ContentBlock } from '../../types/message.ts';
import { offersTool } from '../check/check-server-tools.ts';
import { isFromCode, isGoodId, isServerCall, isServerResult } from '../facts/block-facts.ts';
import { isRecord } from '../facts/fields.ts';
import {
  blocksOfTurn,
  type Context,
  changeBlocks,
  type Draft,
  type DraftTurn,
  note,
  regather,
} from './sanitize-draft.ts';

/** Whether the API is to go on with this turn by itself: it ends in a server result, or a server call of it is open. */
export function isPaused(turn: DraftTurn): boolean {
  const blocks = blocksOfTurn(turn);
  const end = blocks.at(-1);
  if (end && isServerResult(end)) return true;
  const answered = new Set(blocks.filter(isServerResult).map((b) => b.tool_use_id));
  return blocks.some((b) => isServerCall(b) && !answered.has(b.id));
}

/** Turns without server calls that can no longer be answered and without results of no call. */
export function pairServerTools(given: readonly DraftTurn[], context: Context): readonly DraftTurn[] {
  const turns = holdBack(withoutForeignCallers(given), context);
  if (!turns.some((turn) => blocksOfTurn(turn).some((b) => isServerCall(b) || isServerResult(b)))) return turns;
  const kept = keptBlocks(turns, context);
  const isLost = (block: ContentBlock) => (isServerCall(block) || isServerResult(block)) && !kept.has(block);
  const lostCalls = turns.flatMap(blocksOfTurn).filter((block) => isServerCall(block) && isLost(block));
  const lost = new Set(lostCalls.map((block) => block.id));
  const cleaned = turns.map((turn) =>
    mapDrafts(turn, (draft) => {
      const blocks = draft.blocks.filter((block) => !isLost(block));
      const plain = blocks.map((block) => withoutLostCaller(block, (id) => lost.has(id)));
      const changed = changeBlocks(draft, plain);
      if (changed !== draft) note(context, 'server_tool.unresolved', draft.source, LEFT_OUT);
      return changed;
    }),
  );
  return regather(cleaned);
}

const LEFT_OUT = 'a server tool call or result without its other half was left out';

/** Server calls that have their result, with it; and open ones at the open end of the history. */
function keptBlocks(turns: readonly DraftTurn[], { tools }: Context): ReadonlySet<ContentBlock> {
  const kept = new Set<ContentBlock>();
  const used = new Set<unknown>(
    turns
      .flatMap(blocksOfTurn)
      .filter((b) => b.type === 'tool_use')
      .map((b) => b.id),
  );
  let open = new Map<unknown, ContentBlock>();
  turns.forEach((turn, i) => {
    if (turn.role === 'user') {
      if (!blocksOfTurn(turn).every((b) => b.type === 'tool_result')) open = new Map();
      return;
    }
    const fresh = new Map<unknown, ContentBlock>();
    for (const block of blocksOfTurn(turn)) {
      if (isServerCall(block) && isGoodId(block.id) && isRecord(block.input) && !used.has(block.id)) {
        used.add(block.id);
        fresh.set(block.id, block);
      }
      if (!isServerResult(block)) continue;
      const call = fresh.get(block.tool_use_id) ?? open.get(block.tool_use_id);
      if (!call) continue;
      kept.add(call).add(block);
      fresh.delete(block.tool_use_id);
      open.delete(block.tool_use_id);
    }
    open = fresh;
    if (!isOpenEnd(turns, i)) return;
    for (const call of fresh.values()) {
      if (!tools || call.type !== 'server_tool_use' || offersTool(tools, call.name)) kept.add(call);
    }
  });
  return kept;
}

/** Nothing comes behind the turn, or results only. */
function isOpenEnd(turns: readonly DraftTurn[], i: number): boolean {
  const next = turns[i + 1];
  return !next || (i + 2 === turns.length && blocksOfTurn(next).every((b) => b.type === 'tool_result'));
}

function withoutLostCaller(block: ContentBlock, isLost: (id: unknown) => boolean): ContentBlock {
  if (!isFromCode(block) || !isRecord(block.caller) || !isLost(block.caller.tool_id)) return block;
  const { caller: _, ...rest } = block;
  return rest as ContentBlock;
}

/** A call whose calling code does not stand before it is a plain call. */
function withoutForeignCallers(turns: readonly DraftTurn[]): readonly DraftTurn[] {
  if (!turns.some((turn) => blocksOfTurn(turn).some(isFromCode))) return turns;
  const known = new Set<unknown>();
  const change = (block: ContentBlock) => {
    if (isServerCall(block)) known.add(block.id);
    return withoutLostCaller(block, (id) => !known.has(id));
  };
  return turns.map((turn) => mapDrafts(turn, (draft) => changeBlocks(draft, draft.blocks.map(change))));
}

/** A turn that answers code running at the API holds results only; the rest moves to the next user turn, or waits for one. */
function holdBack(turns: readonly DraftTurn[], context: Context): readonly DraftTurn[] {
  if (!turns.some((turn) => blocksOfTurn(turn).some(isFromCode))) return turns;
  const held: Draft[] = [];
  const placed = turns.map((turn, i) => {
    if (turn.role !== 'user') return turn;
    const before = turns[i - 1];
    const mustBeAlone = before !== undefined && blocksOfTurn(before).some(isFromCode);
    if (!mustBeAlone) return held.length === 0 ? turn : { ...turn, drafts: behindResults(turn.drafts, held.splice(0)) };
    const others = turn.drafts.map(withoutResults).filter((draft) => draft.blocks.length > 0);
    const [first] = others;
    if (!first) return turn;
    for (const draft of others) held.push(draft);
    note(context, 'tool_result.only_results', first.source, HELD_BACK);
    return mapDrafts(turn, onlyResults);
  });
  return regather(placed);
}

const HELD_BACK = 'what stood beside results of a programmatic call waits for the next user turn';

const isResult = (block: ContentBlock): boolean => block.type === 'tool_result';
const onlyResults = (draft: Draft): Draft => changeBlocks(draft, draft.blocks.filter(isResult));
const withoutResults = (draft: Draft): Draft => {
  const others = draft.blocks.filter((block) => !isResult(block));
  return changeBlocks(draft, others);
};

function behindResults(drafts: readonly Draft[], held: readonly Draft[]): readonly Draft[] {
  const at = drafts.findIndex((draft) => !draft.blocks.every(isResult));
  const draft = drafts[at];
  if (!draft) return [...drafts, ...held];
  return [...drafts.slice(0, at), onlyResults(draft), ...held, withoutResults(draft), ...drafts.slice(at + 1)];
}

const mapDrafts = (turn: DraftTurn, change: (draft: Draft) => Draft): DraftTurn => {
  const drafts = turn.drafts.map(change);
  return drafts.every((draft, i) => draft === turn.drafts[i]) ? turn : { ...turn, drafts };
};
