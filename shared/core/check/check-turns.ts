// Messages as the API reads them: same-role messages in a row are one turn, a string is one text block.

import { type Fields, isRecord } from '../facts/fields.ts';

export interface TurnBlock {
  readonly block: Fields;
  readonly path: string;
}

export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  readonly blocks: readonly TurnBlock[];
  /** `messages.3`: the first message of the turn. */
  readonly path: string;
}

/** The blocks of one message's content; what is no block is left out. */
export function blocksOf(content: unknown, path: string): readonly TurnBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [{ block: { type: 'text', text: content }, path }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown, i) => (isRecord(block) ? [{ block, path: `${path}.${i}` }] : []));
}

/** The turns of a list of messages; what has no known role is left out. */
export function turnsOf(messages: readonly unknown[]): readonly Turn[] {
  const turns: { role: Turn['role']; blocks: TurnBlock[]; path: string }[] = [];
  messages.forEach((message, i) => {
    if (!isRecord(message)) return;
    const { role } = message;
    if (role !== 'user' && role !== 'assistant' && role !== 'system') return;
    const blocks = blocksOf(message.content, `messages.${i}.content`);
    const last = turns.at(-1);
    if (last?.role === role) for (const block of blocks) last.blocks.push(block);
    else turns.push({ role, blocks: [...blocks], path: `messages.${i}` });
  });
  return turns;
}

/** The turns without system messages, which stand between no call and its result. */
export function withoutSystem(turns: readonly Turn[]): readonly Turn[] {
  if (!turns.some((turn) => turn.role === 'system')) return turns;
  const rest: { role: Turn['role']; blocks: TurnBlock[]; path: string }[] = [];
  for (const turn of turns) {
    if (turn.role === 'system') continue;
    const last = rest.at(-1);
    if (last?.role === turn.role) for (const block of turn.blocks) last.blocks.push(block);
    else rest.push({ ...turn, blocks: [...turn.blocks] });
  }
  return rest;
}
