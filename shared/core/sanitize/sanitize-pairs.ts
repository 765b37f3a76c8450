// Every client call has its one result at the start of the next user turn; nothing else is called a result.

import type { ContentBlock } from '../../types/message.ts';
import { isBlank } from '../facts/block-facts.ts';
import { type Call, type Matches, matchResults } from './match-results.ts';
import {
  blocksOfTurn,
  type Context,
  changeBlocks,
  type Draft,
  type DraftTurn,
  jsonOf,
  newDraft,
  note,
  regather,
  textBlock,
} from './sanitize-draft.ts';

/** Says what is known: the call is in the log and its result is not. */
export const OUTCOME_UNKNOWN =
  'The result of this call is missing. Its outcome is unknown: it may or may not have taken effect. Check before you repeat it.';

/** The turns with calls and results paired, copies dropped, ids made unique and texts before calls where the model asks for it. */
export function pairCalls(turns: readonly DraftTurn[], context: Context): readonly DraftTurn[] {
  const matches = matchResults(turns);
  for (const call of matches.calls.values()) {
    if (typeof call.block.input === 'string' && !call.result) call.kept = false;
  }
  const paired = turns.flatMap((turn, i) => {
    if (turn.role === 'user') return [pairUserTurn(turn, turns[i - 1], { matches, context })];
    const next = turns[i + 1];
    const answer = next ? [] : answerTurn(wantedBlocks(turn, matches, context), turn);
    return [pairAssistantTurn(turn, matches, context), ...answer];
  });
  return regather(regather(paired).map((turn) => textsFirst(turn, context)));
}

const sourceOf = (turn: DraftTurn): number => turn.drafts[0]?.source ?? 0;

function pairAssistantTurn(turn: DraftTurn, matches: Matches, context: Context): DraftTurn {
  const drafts = turn.drafts.map((draft) => {
    let copies = 0;
    const blocks = draft.blocks.flatMap((block) => {
      const call = matches.calls.get(block);
      if (!call) return [block];
      if (!call.kept) copies += 1;
      return call.kept ? [sentCall(call)] : [];
    });
    const changed = changeBlocks(draft, blocks);
    if (changed !== draft) noteCalls(context, draft.source, copies > 0);
    return copies > 0 && isCopied(draft, changed, matches) ? changeBlocks(changed, []) : changed;
  });
  return { ...turn, drafts };
}

function noteCalls(context: Context, source: number, isDropped: boolean): void {
  if (isDropped) note(context, 'tool_use.duplicate_id', source, 'a copied or cut call was left out');
  else note(context, 'tool_use.id', source, 'a call got an id or input that can be sent');
}

/** Whether all that is left of a message whose calls were copies stands in the message of the first copied call too. */
function isCopied(draft: Draft, left: Draft, { calls, companions }: Matches): boolean {
  const original = draft.blocks.map((block) => calls.get(block)?.copyOf).find((call) => call !== undefined);
  if (!original || draft.blocks.includes(original.block)) return false;
  return left.blocks.every((block) => companions(original).has(jsonOf(block)));
}

/** The call as it is sent: its id, and the raw text of an input that could not be read but was answered. */
function sentCall(call: Call): ContentBlock {
  const { block, id } = call;
  const input = typeof block.input === 'string' ? { unreadable_input: block.input } : block.input;
  return id === block.id && input === block.input ? block : { ...block, id, input };
}

/** The results that the user turn behind `turn` has to begin with, in the order of the calls. */
function wantedBlocks(turn: DraftTurn | undefined, matches: Matches, context: Context): readonly ContentBlock[] {
  if (turn?.role !== 'assistant') return [];
  return blocksOfTurn(turn).flatMap((block) => {
    const call = matches.calls.get(block);
    if (!call?.kept) return [];
    if (call.result) return [sentResult(call, call.result.block)];
    note(context, 'tool_use.unanswered', sourceOf(turn), 'a missing result was filled in: outcome unknown');
    const toolset = call.block.toolset_name;
    return [
      {
        type: 'tool_result',
        tool_use_id: call.id,
        content: OUTCOME_UNKNOWN,
        is_error: true,
        ...(typeof toolset === 'string' ? { toolset_name: toolset } : {}),
      },
    ];
  });
}

function sentResult(call: Call, block: ContentBlock): ContentBlock {
  const toolset = typeof call.block.toolset_name === 'string' ? call.block.toolset_name : undefined;
  if (block.tool_use_id === call.id && (block.toolset_name ?? undefined) === toolset) return block;
  const { toolset_name: _, ...rest } = block;
  return { ...rest, tool_use_id: call.id, ...(toolset === undefined ? {} : { toolset_name: toolset }) } as ContentBlock;
}

const answerTurn = (wanted: readonly ContentBlock[], turn: DraftTurn): readonly DraftTurn[] =>
  wanted.length === 0
    ? []
    : [{ role: 'user', drafts: [newDraft('user', wanted, turn.drafts.at(-1)?.source ?? 0)], systems: [] }];

function pairUserTurn(
  turn: DraftTurn,
  before: DraftTurn | undefined,
  { matches, context }: { readonly matches: Matches; readonly context: Context },
): DraftTurn {
  const wanted = wantedBlocks(before, matches, context);
  const blocks = blocksOfTurn(turn);
  const given = blocks.filter((block) => block.type === 'tool_result');
  const isLeading = blocks.slice(0, given.length).every((block) => block.type === 'tool_result');
  const expected = new Set(wanted);
  const isSame = wanted.length === given.length && given.every((block) => expected.has(block));
  if (isLeading && isSame) return turn;
  note(context, 'tool_result.not_first', sourceOf(turn), 'results were put in their place');
  const isResult = (block: ContentBlock) => block.type === 'tool_result';
  const whole = turn.drafts.find((d) => d.blocks.length === wanted.length && d.blocks.every((b, i) => b === wanted[i]));
  const results = whole ?? newDraft('user', wanted, sourceOf(turn));
  const carried = given.filter((block) => matches.carried.has(block)).flatMap(asText);
  const others = turn.drafts.map((d) =>
    changeBlocks(
      d,
      d.blocks.filter((b) => !isResult(b)),
    ),
  );
  return { ...turn, drafts: [results, newDraft('user', carried, sourceOf(turn)), ...others] };
}

/** An output without its call as user content: what it said, and that it was an output. */
function asText(block: ContentBlock): readonly ContentBlock[] {
  const { content } = block;
  const parts = Array.isArray(content) ? (content as readonly ContentBlock[]) : [textBlock(String(content))];
  const shown = parts.flatMap((part) => {
    if (part.type === 'text' || part.type === 'image' || part.type === 'document') return [part];
    return [textBlock(jsonOf(part))];
  });
  const told = shown.filter((part) => part.type !== 'text' || !isBlank(String(part.text)));
  return told.length === 0 ? [] : [textBlock('Output of a tool whose call is not in this conversation:'), ...told];
}

/** In one assistant turn, texts go before the first client call; on models that ask for it. */
function textsFirst(turn: DraftTurn, context: Context): DraftTurn {
  if (turn.role !== 'assistant' || context.facts.textAfterToolUse) return turn;
  const blocks = blocksOfTurn(turn);
  const first = blocks.findIndex((block) => block.type === 'tool_use');
  const late = first === -1 ? [] : blocks.slice(first).filter((block) => block.type === 'text');
  if (late.length === 0) return turn;
  const moved = new Set(late);
  const call = blocks[first];
  note(context, 'assistant.text_after_tool_use', sourceOf(turn), 'texts were put before the calls of their turn');
  const drafts = turn.drafts.map((draft) =>
    changeBlocks(
      draft,
      draft.blocks.flatMap((block) => (block === call ? [...late, block] : moved.has(block) ? [] : [block])),
    ),
  );
  return { ...turn, drafts };
}
