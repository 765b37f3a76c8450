// A cheap proof that a growing history is sound, for the histories that are nearly all: text, thinking, calls and their results
// in order. What was proven is remembered by message object, so each message is looked at once in the life of a warm session.
// It says yes only where every check would; for all else it says no and the checks decide.

import { isBlank, isGoodId, isGoodName } from './block-facts.ts';
import { BODY_CHARS_MAX, MESSAGES_MAX, scanStrings } from './check-request.ts';
import { type Fields, isRecord } from './fields.ts';

interface Proof {
  /** The messages looked at, in order. */
  readonly proven: unknown[];
  readonly callIds: Set<unknown>;
  readonly signatures: Set<unknown>;
  /** Calls of the last assistant message that have no result yet. */
  readonly open: Set<unknown>;
  role: unknown;
  chars: number;
  /** The message that is not plain, once one was met; what stands behind it is never looked at. */
  failed: unknown;
}

const proofs = new WeakMap<object, Proof>();

/** Whether the history is plain and sound, as a whole request's would be. Never throws. */
export function isPlainlySound(messages: readonly unknown[]): boolean {
  const first = messages[0];
  if (!isRecord(first) || messages.length > MESSAGES_MAX) return false;
  const proof = proofOf(first, messages);
  for (let i = proof.proven.length; i < messages.length; i++) {
    const message = messages[i];
    if (message === proof.failed) return false;
    if (!extend(proof, message)) {
      proof.failed = message;
      return false;
    }
    proof.proven.push(message);
  }
  return proof.role === 'user' && proof.open.size === 0 && proof.chars <= BODY_CHARS_MAX;
}

/** What is known of a list that begins with this message; nothing, where it went on otherwise. */
function proofOf(first: object, messages: readonly unknown[]): Proof {
  const known = proofs.get(first);
  if (known && known.proven.length <= messages.length && known.proven.every((message, i) => message === messages[i])) {
    if (known.failed === undefined || known.failed === messages[known.proven.length]) return known;
  }
  const none: Proof = {
    proven: [],
    callIds: new Set(),
    signatures: new Set(),
    open: new Set(),
    role: undefined,
    chars: 0,
    failed: undefined,
  };
  proofs.set(first, none);
  return none;
}

function extend(proof: Proof, message: unknown): boolean {
  if (!isRecord(message) || !hasOnly(message, ['role', 'content'])) return false;
  const { role, content } = message;
  if (!Array.isArray(content) || content.length === 0) return false;
  const { chars, lone } = scanStrings(message);
  if (lone) return false;
  proof.chars += chars;
  const isNext = role === 'user' || (role === 'assistant' && proof.role === 'user' && proof.open.size === 0);
  if (!isNext) return false;
  proof.role = role;
  return role === 'user' ? content.every((block) => isPlainInput(proof, block)) : isPlainAnswer(proof, content);
}

/** Results first, each for an open call; text once there is none open. */
function isPlainInput(proof: Proof, block: unknown): boolean {
  if (!isRecord(block)) return false;
  if (block.type !== 'tool_result') return proof.open.size === 0 && isPlainText(block);
  const { content, is_error: isError } = block;
  if (!hasOnly(block, ['type', 'tool_use_id', 'content', 'is_error']) || !Array.isArray(content)) return false;
  if (isError === true && content.length === 0) return false;
  return proof.open.delete(block.tool_use_id) && content.every(isPlainText);
}

function isPlainAnswer(proof: Proof, content: readonly unknown[]): boolean {
  let hasCalls = false;
  for (const block of content) {
    if (!isRecord(block)) return false;
    if (block.type === 'tool_use') {
      if (!isPlainCall(block) || proof.callIds.has(block.id)) return false;
      proof.callIds.add(block.id);
      proof.open.add(block.id);
      hasCalls = true;
    } else if (hasCalls) return false;
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
