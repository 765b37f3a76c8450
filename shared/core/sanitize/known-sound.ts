// A cheap proof that a growing history is sound, for the histories that are nearly all: text, thinking, calls and their results
// in order. What was proven is remembered by message object, so each message is looked at once in the life of a warm session.
// It says yes only where every check would; for all else it says no and the checks decide.

import { BODY_CHARS_MAX, MESSAGES_MAX, scanStrings } from '../check-request.ts';
import { isBlank, isGoodId, isGoodName } from '../facts/block-facts.ts';
import { type Fields, isRecord } from '../facts/fields.ts';

/** Where a list stands after some of its messages. */
interface Place {
  readonly role: unknown;
  /** Calls of the last assistant message that have no result yet. */
  readonly open: ReadonlySet<unknown>;
  readonly chars: number;
}

/** What is known of the lists that begin with one message object. */
interface Proof {
  /** The messages looked at, in order. The last is the assistant's: the user's behind it may still be replaced. */
  readonly proven: unknown[];
  readonly callIds: Set<unknown>;
  readonly signatures: Set<unknown>;
  place: Place;
  /** The message of the assistant that is not plain, once one was met; nothing behind it is looked at. */
  failed: unknown;
}

const START: Place = { role: undefined, open: new Set(), chars: 0 };
const proofs = new WeakMap<object, Proof>();

/** Whether the history is plain and sound, as a whole request's would be. Never throws. */
export function isPlainlySound(messages: readonly unknown[]): boolean {
  const first = messages[0];
  if (!isRecord(first) || messages.length > MESSAGES_MAX) return false;
  const proof = proofOf(first, messages);
  let place: Place | undefined = proof.place;
  for (let i = proof.proven.length; i < messages.length; i++) {
    const message = messages[i];
    if (message === proof.failed) return false;
    place = advance(place, message, proof);
    if (isRecord(message) && message.role === 'assistant') {
      if (!place) proof.failed = message;
      else {
        for (let j = proof.proven.length; j <= i; j++) proof.proven.push(messages[j]);
        proof.place = place;
      }
    }
    if (!place) return false;
  }
  return place.role === 'user' && place.open.size === 0 && place.chars <= BODY_CHARS_MAX;
}

/** What is known of a list that begins with this message; nothing, where it went on otherwise. */
function proofOf(first: object, messages: readonly unknown[]): Proof {
  const known = proofs.get(first);
  if (known?.proven.every((message, i) => message === messages[i])) {
    if (known.failed === undefined || messages.includes(known.failed, known.proven.length)) return known;
  }
  const none: Proof = { proven: [], callIds: new Set(), signatures: new Set(), place: START, failed: undefined };
  proofs.set(first, none);
  return none;
}

/** The place behind the message, or undefined where it is not plain or not sound there. */
function advance({ role: before, open, chars: charsBefore }: Place, message: unknown, proof: Proof): Place | undefined {
  if (!isRecord(message) || !hasOnly(message, ['role', 'content'])) return undefined;
  const { role, content } = message;
  if (!Array.isArray(content) || content.length === 0) return undefined;
  const found = scanStrings(message);
  if (found.lone) return undefined;
  const chars = charsBefore + found.chars;
  if (role === 'user') {
    const left = new Set(open);
    return content.every((block) => isPlainInput(left, block)) ? { role, open: left, chars } : undefined;
  }
  if (role !== 'assistant' || before !== 'user' || open.size > 0) return undefined;
  const calls = new Set<unknown>();
  return isPlainAnswer(proof, calls, content) ? { role, open: calls, chars } : undefined;
}

/** Results first, each for an open call; text once there is none open. */
function isPlainInput(open: Set<unknown>, block: unknown): boolean {
  if (!isRecord(block)) return false;
  if (block.type !== 'tool_result') return open.size === 0 && isPlainText(block);
  const { content, is_error: isError } = block;
  if (!hasOnly(block, ['type', 'tool_use_id', 'content', 'is_error']) || !Array.isArray(content)) return false;
  if (isError === true && content.length === 0) return false;
  return open.delete(block.tool_use_id) && content.every(isPlainText);
}

function isPlainAnswer(proof: Proof, calls: Set<unknown>, content: readonly unknown[]): boolean {
  for (const block of content) {
    if (!isRecord(block)) return false;
    if (block.type === 'tool_use') {
      if (!isPlainCall(block) || proof.callIds.has(block.id)) return false;
      proof.callIds.add(block.id);
      calls.add(block.id);
    } else if (calls.size > 0) return false;
    else if (block.type === 'thinking') {
      if (!isPlainThinking(block) || proof.signatures.has(block.signature)) return false;
      proof.signatures.add(block.signature);
    } else if (!isPlainText(block)) return false;
  }
  return true;
}

const isPlainText = (block: unknown): boolean =>
  isRecord(block) &&
  block.type === 'text' &&
  hasOnly(block, ['type', 'text', 'citations']) &&
  (block.citations ?? null) === null &&
  typeof block.text === 'string' &&
  !isBlank(block.text);

const isPlainThinking = (block: Fields): boolean =>
  hasOnly(block, ['type', 'thinking', 'signature']) &&
  typeof block.thinking === 'string' &&
  typeof block.signature === 'string' &&
  block.signature !== '';

const isPlainCall = (block: Fields): boolean =>
  hasOnly(block, ['type', 'id', 'name', 'input', 'caller']) &&
  isGoodId(block.id) &&
  isGoodName(block.name) &&
  isRecord(block.input) &&
  (block.caller === undefined || (isRecord(block.caller) && block.caller.type === 'direct'));

function hasOnly(value: Fields, fields: readonly string[]): boolean {
  for (const key in value) if (!fields.includes(key)) return false;
  return true;
}
