// Blocks under the role that they belong to, system messages where they may stand, and both ends of the history.

import type { ContentBlock } from '../../types/message.ts';
import { blockFacts, isServerResult, isThinkingBlock } from '../facts/block-facts.ts';
import { blocksOfTurn, type Context, type Draft, type DraftTurn, newDraft, note, textBlock } from './sanitize-draft.ts';
import { isPaused } from './sanitize-server-tools.ts';

/** Messages cut where a block belongs to the other role: a result in an assistant's, a call in a user's. */
export function splitRoles(drafts: readonly Draft[], context: Context): readonly Draft[] {
  return drafts.flatMap((draft) => {
    const parts = splitDraft(draft);
    const isSame =
      parts.length === 1 && parts[0]?.role === draft.role && parts[0].blocks.length === draft.blocks.length;
    if (isSame || draft.blocks.length === 0) return [draft];
    note(context, 'block.role', draft.source, 'blocks were moved to the role that they belong to');
    return parts;
  });
}

function splitDraft(draft: Draft): readonly Draft[] {
  const parts: { role: Draft['role']; blocks: ContentBlock[] }[] = [];
  const behind: ContentBlock[] = [];
  for (const block of draft.blocks) {
    const role = roleOfBlock(block, draft.role);
    if (role === 'none') continue;
    if (role === 'behind') behind.push(block);
    else if (parts.at(-1)?.role === role) parts.at(-1)?.blocks.push(block);
    else parts.push({ role, blocks: [block] });
  }
  if (behind.length > 0) parts.push({ role: 'user', blocks: behind });
  return parts.map(({ role, blocks }) => newDraft(role, blocks, draft.source));
}

/** `behind`: in the next user turn; `none`: nowhere. */
function roleOfBlock(block: ContentBlock, role: Draft['role']): Draft['role'] | 'behind' | 'none' {
  if (blockFacts(block.type)?.roles.some((allowed) => allowed === role)) return role;
  if (block.type === 'tool_result') return 'user';
  if (block.type === 'tool_use') return 'assistant';
  return role === 'assistant' && !isThinkingBlock(block) ? 'behind' : 'none';
}

/** On models that know no system role in messages, what is not at the very start is carried as user text. */
export function carrySystems(drafts: readonly Draft[], context: Context): readonly Draft[] {
  if (context.facts.systemRole) return drafts;
  const first = drafts.findIndex((draft) => draft.role !== 'system' && draft.blocks.length > 0);
  return drafts.map((draft, i) => {
    if (draft.role !== 'system' || first === -1 || i < first) return draft;
    note(context, 'system.unsupported', draft.source, 'a system message is carried as user text');
    return newDraft('user', draft.blocks, draft.source);
  });
}

const BEGINNING = '(The beginning of this conversation is not available.)';
const GO_ON = 'Please continue.';

/** A user turn first, and last, unless the API is to go on with its own turn. */
export function fixEnds(turns: readonly DraftTurn[], context: Context): readonly DraftTurn[] {
  const first = turns[0];
  const last = turns.at(-1);
  if (!first || !last) return turns;
  const before: DraftTurn[] = [];
  const after: DraftTurn[] = [];
  if (first.role === 'assistant' && blocksOfTurn(first)[0]?.type !== 'compaction') {
    note(context, 'message.first_role', first.drafts[0]?.source ?? 0, 'a short user message was put first');
    before.push(userTurn(BEGINNING, first.drafts[0]?.source ?? 0));
  }
  if (last.role === 'assistant' && !isPaused(last) && !(context.facts.prefill && isGoodPrefill(last))) {
    const source = last.drafts.at(-1)?.source ?? 0;
    note(context, 'message.prefill', source, 'a short user message was put last');
    after.push(userTurn(GO_ON, source));
  }
  return [...before, ...turns, ...after];
}

const userTurn = (text: string, source: number): DraftTurn => ({
  role: 'user',
  drafts: [newDraft('user', [textBlock(text)], source)],
  systems: [],
});

function isGoodPrefill(turn: DraftTurn): boolean {
  const end = blocksOfTurn(turn).at(-1);
  return end?.type === 'text' && typeof end.text === 'string' && !/\s$/.test(end.text);
}

/** All messages in order, each system message at the end of a user turn. */
export function placeSystems(turns: readonly DraftTurn[], context: Context): readonly Draft[] {
  const drafts: Draft[] = [];
  let waiting: readonly Draft[] = [];
  turns.forEach((turn, i) => {
    drafts.push(...turn.drafts);
    const systems = waiting.length > 0 ? [...waiting, ...turn.systems] : turn.systems;
    waiting = [];
    if (systems.length === 0) return;
    const end = turn.drafts.at(-1);
    const last = end?.blocks.at(-1);
    const isLastWithResult = i === turns.length - 1 && last !== undefined && isServerResult(last);
    if (turn.role === 'assistant' && !isLastWithResult) waiting = systems;
    else for (const draft of systems) drafts.push(noteMoved(draft, end, context));
  });
  for (const { source } of waiting) note(context, 'system.placement', source, 'a system message waits for a user turn');
  return drafts;
}

function noteMoved(draft: Draft, end: Draft | undefined, context: Context): Draft {
  const isMoved = end !== undefined && end.source > draft.source;
  if (isMoved) note(context, 'system.placement', draft.source, 'a system message was put behind its user turn');
  return draft;
}
