// What the demo's rules see of a conversation: the question, the tools by what they do, and what they returned since.

import { asBlocks, messagesOf } from './request-parts.ts';
import type { AnswerBlock, Block, RequestBody } from './script.ts';

export interface Outcome {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly text: string;
  readonly isError: boolean;
}

export interface Talk {
  /** The words of the last user message. */
  readonly question: string;
  readonly system: string;
  /** Calls of earlier questions and of this one. */
  readonly earlier: readonly Outcome[];
  readonly outcomes: readonly Outcome[];
  /** The offered tool of this lower-case name. */
  readonly tool: (name: string) => Block | undefined;
  /** Tools that are none of the built-in ones. */
  readonly customTools: readonly Block[];
  readonly thinks: boolean;
}

/** The rules search words many times over; a text beyond this is no question. */
const WORDS_CHARS_MAX = 4000;
const BUILTIN = new Set(['bash', 'read', 'write', 'edit', 'glob', 'grep', 'web_search', 'web_fetch']);

export function readTalk(request: RequestBody): Talk {
  const turns = messagesOf(request);
  const asked = turns.findLastIndex((t) => t.role === 'user' && wordsOf(t.blocks) !== '');
  // Several user messages in a row are one question.
  let first = asked;
  while (first > 0 && turns[first - 1]?.role === 'user') first--;
  const question = turns.slice(Math.max(0, first), asked + 1).map((t) => wordsOf(t.blocks));
  const results = new Map<unknown, Block>();
  for (const { blocks } of turns) {
    for (const block of blocks) if (block.type === 'tool_result') results.set(block.tool_use_id, block);
  }
  const outcomesOf = (part: ReturnType<typeof messagesOf>): readonly Outcome[] =>
    part.flatMap((t) => t.blocks.filter((b) => b.type === 'tool_use').map((b) => toOutcome(b, results.get(b.id))));
  const tools = asBlocks(request.tools).filter((t) => typeof t.name === 'string');
  return {
    question: question.join('\n').trim().slice(0, WORDS_CHARS_MAX),
    system: wordsOf(asBlocks(request.system)).slice(0, WORDS_CHARS_MAX),
    earlier: outcomesOf(turns.slice(0, Math.max(0, asked))),
    outcomes: outcomesOf(turns.slice(Math.max(0, asked))),
    tool: (name) => tools.find((t) => String(t.name).toLowerCase() === name),
    customTools: tools.filter((t) => t.type === undefined && !BUILTIN.has(String(t.name).toLowerCase())),
    thinks: request.thinking?.type === 'enabled' || request.thinking?.type === 'adaptive',
  };
}

function toOutcome(call: Block, result: Block | undefined): Outcome {
  const input = typeof call.input === 'object' && call.input !== null ? (call.input as Record<string, unknown>) : {};
  const text = result === undefined ? '' : wordsOf(asBlocks(result.content));
  return { tool: String(call.name).toLowerCase(), input, text, isError: result?.is_error === true };
}

const wordsOf = (blocks: readonly Block[]): string =>
  blocks
    .filter((b) => b.type === 'text' && typeof b.text === 'string')
    .map((b) => String(b.text))
    .join('\n')
    .trim();

export type Call = Extract<AnswerBlock, { readonly type: 'tool_use'; readonly name: string }>;

/** A call under the name by which the tool was offered; undefined where it was not. */
export function callOf(talk: Talk, tool: string, input: Readonly<Record<string, unknown>>): Call | undefined {
  const offered = talk.tool(tool);
  return offered === undefined ? undefined : { type: 'tool_use', name: String(offered.name), input };
}

/** What this very call returned since the question, if it was made. */
export const outcomeOf = (talk: Talk, tool: string, input: Readonly<Record<string, unknown>>): Outcome | undefined =>
  talk.outcomes.findLast((o) => o.tool === tool && JSON.stringify(o.input) === JSON.stringify(input));
