// What the steps of sanitising pass on: messages under repair that remember where they came from, and the notes taken.

import type { Repair } from '../../types/log.ts';
import type { ContentBlock, Message } from '../../types/message.ts';
import type { ModelFacts } from '../facts/model-facts.ts';

export interface Draft {
  readonly role: Message['role'];
  readonly blocks: readonly ContentBlock[];
  /** Index of the message that it came from. */
  readonly source: number;
  /** That message, as long as nothing of it was changed. */
  readonly original: Message | null;
}

/** Same-role messages in a row; system messages that stood in or behind it are kept aside. */
export interface DraftTurn {
  readonly role: 'user' | 'assistant';
  readonly drafts: readonly Draft[];
  readonly systems: readonly Draft[];
}

export interface Context {
  readonly facts: ModelFacts;
  /** Rules that the history breaks. */
  readonly broken: ReadonlySet<string>;
  /** The request's tools, where they are known. */
  readonly tools: readonly unknown[] | undefined;
  readonly repairs: Repair[];
}

/** Notes a repair of the message with index `source`. */
export function note(context: Context, rule: string, source: number, what: string): void {
  context.repairs.push({ rule, path: `messages.${source}`, what });
}

/** The draft with these blocks; the same draft where they are the same blocks. */
export function changeBlocks(draft: Draft, blocks: readonly ContentBlock[]): Draft {
  const isSame = blocks.length === draft.blocks.length && blocks.every((block, i) => block === draft.blocks[i]);
  return isSame ? draft : { ...draft, blocks, original: null };
}

export const newDraft = (role: Draft['role'], blocks: readonly ContentBlock[], source: number): Draft => ({
  role,
  blocks,
  source,
  original: null,
});

export const messageOf = (draft: Draft): Message => draft.original ?? { role: draft.role, content: draft.blocks };

export const textBlock = (text: string): ContentBlock => ({ type: 'text', text });

/** JSON text of any value; never throws. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    return '"[a value that cannot be written as JSON]"';
  }
}

export const blocksOfTurn = (turn: DraftTurn): readonly ContentBlock[] => turn.drafts.flatMap((d) => d.blocks);

/** Drafts without the empty ones, as alternating turns. System messages before the first turn come apart. */
export function gatherTurns(drafts: readonly Draft[]): {
  readonly leading: readonly Draft[];
  readonly turns: readonly DraftTurn[];
} {
  const leading: Draft[] = [];
  const turns: { role: 'user' | 'assistant'; drafts: Draft[]; systems: Draft[] }[] = [];
  for (const draft of drafts) {
    if (draft.blocks.length === 0) continue;
    const last = turns.at(-1);
    if (draft.role === 'system') (last ? last.systems : leading).push(draft);
    else if (last?.role === draft.role) last.drafts.push(draft);
    else turns.push({ role: draft.role, drafts: [draft], systems: [] });
  }
  return { leading, turns };
}

/** The turns again, after some lost their blocks: empty ones go and their neighbours are joined. */
export const regather = (turns: readonly DraftTurn[]): readonly DraftTurn[] =>
  gatherTurns(turns.flatMap((turn) => [...turn.drafts, ...turn.systems])).turns;
