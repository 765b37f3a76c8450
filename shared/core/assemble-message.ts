// Raw stream events of one model call → its message. A pure reducer: a delta replaces the open block and nothing else.
// Total: an event of unknown type or odd shape changes nothing; thinking and signatures come out byte for byte.

import { type ContentBlock, type ModelUsage, NO_USAGE } from '../types/message.ts';
import { closeBlock, extendBlock, isCall, type OpenBlock, openBlock, readInput } from './assemble/assemble-block.ts';
import { type Fields, isRecord, recordOf, stringOr } from './facts/fields.ts';
import { mergeUsage } from './facts/merge-usage.ts';

/** A raw event of the Messages stream; unknown types and fields are allowed. */
export interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A complete tool call whose input is no JSON object: reported, never run, not part of the content. */
export interface BadInput {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
}

export interface StopDetails {
  readonly category: string | null;
  readonly explanation: string | null;
}

export interface Assembly {
  readonly messageId: string | null;
  readonly model: string | null;
  readonly usage: ModelUsage;
  readonly stopReason: string | null;
  readonly stopDetails: StopDetails | null;
  /** Complete blocks in the order of their index. */
  readonly blocks: readonly ContentBlock[];
  /** The indices of `blocks`. */
  readonly indices: readonly number[];
  /** The open block that was touched last; null between blocks. */
  readonly open: OpenBlock | null;
  /** Further open blocks, where a stream interleaves them. */
  readonly others: readonly OpenBlock[];
  readonly badInputs: readonly BadInput[];
  /** Index of the last tool call whose input came without a single character. */
  readonly emptyCall: number | null;
  /** True once `message_stop` was seen. */
  readonly complete: boolean;
  /** An `error` event in mid-stream. */
  readonly error: { readonly type: string; readonly message: string } | null;
}

const EMPTY: Assembly = {
  messageId: null,
  model: null,
  usage: NO_USAGE,
  stopReason: null,
  stopDetails: null,
  blocks: [],
  indices: [],
  open: null,
  others: [],
  badInputs: [],
  emptyCall: null,
  complete: false,
  error: null,
};

/** Where every assembly starts: nothing received. */
export const startAssembly = (): Assembly => EMPTY;

/** The assembly after one more raw event. Never throws. */
export function assemble(a: Assembly, event: StreamEvent): Assembly {
  switch (event.type) {
    case 'content_block_delta':
      return addDelta(a, event.index, recordOf(event.delta));
    case 'content_block_start':
      return startBlock(a, event.index, recordOf(event.content_block));
    case 'content_block_stop':
      return stopBlock(a, event.index);
    case 'message_start':
      return startMessage(a, recordOf(event.message));
    case 'message_delta':
      return changeMessage(a, recordOf(event.delta), recordOf(event.usage));
    case 'message_stop':
      return a.complete ? a : { ...a, complete: true };
    case 'error': {
      const error = recordOf(event.error);
      return { ...a, error: { type: stringOr(error.type, 'api_error'), message: stringOr(error.message, '') } };
    }
    default:
      return a; // ping, and types that are newer than this file
  }
}

export interface FinishedMessage {
  readonly content: readonly ContentBlock[];
  readonly model: string;
  readonly usage: ModelUsage;
  readonly stopReason: string;
  readonly stopDetails: StopDetails | null;
  /** True where a tool call was cut off or its input is no JSON object: it is not in `content` and must not run. */
  readonly callCut: boolean;
  readonly badInputs: readonly BadInput[];
}

/** The message of an assembly whose `message_stop` was seen. Only complete tool calls with an object as input are in it. */
export function finishAssembly(a: Assembly): FinishedMessage {
  const outOfRoom = a.stopReason === 'max_tokens' || a.stopReason === 'model_context_window_exceeded';
  const last = a.indices.at(-1);
  // A call that ran out of room before the first character of its input looks like a call without arguments.
  const emptyCut = outOfRoom && last !== undefined && last === a.emptyCall && a.open === null;
  const content = emptyCut ? a.blocks.slice(0, -1) : cutAssembly(a).content;
  const openCalls = openBlocks(a).some((o) => isCall(o.type));
  return {
    content,
    model: a.model ?? '',
    usage: a.usage,
    stopReason: a.stopReason ?? (content.some((b) => b.type === 'tool_use') ? 'tool_use' : 'end_turn'),
    stopDetails: a.stopDetails,
    callCut: emptyCut || openCalls || a.badInputs.length > 0,
    badInputs: a.badInputs,
  };
}

/** What may be kept of an answer that was cut: complete blocks, and the text of cut text blocks where not blank. */
export function cutAssembly(a: Assembly): { readonly content: readonly ContentBlock[] } {
  let { blocks, indices } = a;
  for (const open of openBlocks(a)) {
    if (open.type !== 'text' || open.text.trim() === '') continue;
    // The cut may have split a surrogate pair, which no request could hold.
    const whole = { ...open, text: open.text.toWellFormed() };
    ({ blocks, indices } = insertAt({ blocks, indices }, open.index, closeBlock(whole)));
  }
  return { content: blocks };
}

const openBlocks = (a: Assembly): readonly OpenBlock[] => (a.open ? [...a.others, a.open] : a.others);

function startMessage(a: Assembly, message: Fields): Assembly {
  return {
    ...a,
    messageId: stringOr(message.id, a.messageId),
    model: stringOr(message.model, a.model),
    usage: mergeUsage(a.usage, recordOf(message.usage)),
    stopReason: stringOr(message.stop_reason, a.stopReason),
  };
}

function changeMessage(a: Assembly, delta: Fields, usage: Fields): Assembly {
  const details = isRecord(delta.stop_details) ? delta.stop_details : null;
  return {
    ...a,
    usage: mergeUsage(a.usage, usage),
    stopReason: stringOr(delta.stop_reason, a.stopReason),
    stopDetails: details
      ? { category: stringOr(details.category, null), explanation: stringOr(details.explanation, null) }
      : a.stopDetails,
  };
}

function startBlock(a: Assembly, at: unknown, block: Fields): Assembly {
  if (typeof block.type !== 'string') return a;
  const index = typeof at === 'number' ? at : a.indices.length + openBlocks(a).length;
  const open = openBlock(index, block as ContentBlock);
  return { ...a, open, others: openBlocks(a).filter((o) => o.index !== index) };
}

/** The assembly with the block of this index as its `open` one, or undefined where none is open there. */
function focus(a: Assembly, at: unknown): (Assembly & { readonly open: OpenBlock }) | undefined {
  if (a.open && (a.open.index === at || typeof at !== 'number')) return a as Assembly & { readonly open: OpenBlock };
  const open = a.others.find((o) => o.index === at);
  return open && { ...a, open, others: openBlocks(a).filter((o) => o !== open) };
}

function addDelta(a: Assembly, at: unknown, delta: Fields): Assembly {
  const b = focus(a, at);
  if (!b) return a;
  const open = extendBlock(b.open, delta);
  return open === b.open ? b : { ...b, open };
}

function stopBlock(a: Assembly, at: unknown): Assembly {
  const b = focus(a, at);
  if (!b) return a;
  const { open } = b;
  const rest = { ...b, open: b.others.at(-1) ?? null, others: b.others.slice(0, -1) };
  const parsed = readInput(open);
  if (parsed === null) {
    const { id, name } = open.start;
    const bad = { index: open.index, id: stringOr(id, ''), name: stringOr(name, ''), text: open.json };
    return { ...rest, badInputs: [...rest.badInputs, bad] };
  }
  const block = parsed === undefined ? closeBlock(open) : { ...closeBlock(open), input: parsed };
  const isEmpty = parsed !== undefined && open.json === '' && Object.keys(parsed).length === 0;
  return { ...rest, ...insertAt(b, open.index, block), emptyCall: isEmpty ? open.index : a.emptyCall };
}

/** Blocks with one more at its place; a block of the same index is replaced. */
function insertAt(to: Pick<Assembly, 'blocks' | 'indices'>, index: number, block: ContentBlock) {
  const after = to.indices.findIndex((i) => i >= index);
  const at = after === -1 ? to.indices.length : after;
  const replaced = to.indices[at] === index ? 1 : 0;
  return { blocks: to.blocks.toSpliced(at, replaced, block), indices: to.indices.toSpliced(at, replaced, index) };
}
