// Shapes: of each message, and of each block by its type.

import { blockFacts, extraFields, isBlank, isGoodId, isGoodName } from '../facts/block-facts.ts';
import { type Fields, isRecord } from '../facts/fields.ts';
import type { Checked, Report } from './check-report.ts';
import { blocksOf } from './check-turns.ts';

const MESSAGE_FIELDS = ['role', 'content', 'clear_at', 'output_config'];

/** Rules `message.*` of shape, `block.*`, `text.*`, and those of the single tool and thinking blocks. */
export function checkBlocks({ messages, facts, report }: Checked): void {
  messages.forEach((message, i) => {
    const path = `messages.${i}`;
    if (!isRecord(message)) {
      report('message.content_type', path, 'a message is an object');
      return;
    }
    const { role, content } = message;
    if (role !== 'user' && role !== 'assistant' && role !== 'system') {
      report('message.role', `${path}.role`, 'unexpected role; allowed roles are user and assistant');
    }
    const allowed = role === 'system' ? MESSAGE_FIELDS : MESSAGE_FIELDS.slice(0, 2);
    for (const key of Object.keys(message)) {
      if (!allowed.includes(key)) report('message.extra_field', `${path}.${key}`, 'extra inputs are not permitted');
    }
    const mayBeEmpty =
      (role === 'assistant' && facts.prefill && i === messages.length - 1) ||
      (role === 'system' && isRecord(message.output_config));
    checkContent(content, { path: `${path}.content`, role, mayBeEmpty }, report);
  });
}

interface Place {
  readonly path: string;
  readonly role: unknown;
  readonly mayBeEmpty: boolean;
}

function checkContent(content: unknown, place: Place, report: Report): void {
  const { path, role, mayBeEmpty } = place;
  if (typeof content !== 'string' && !Array.isArray(content)) {
    report('message.content_type', path, 'input should be a string or a list of blocks');
    return;
  }
  if (content.length === 0) {
    if (!mayBeEmpty) report('message.empty', path, 'all messages must have non-empty content');
    return;
  }
  if (typeof content === 'string') {
    if (isBlank(content)) report('text.blank', path, 'text must contain non-whitespace text');
    return;
  }
  content.forEach((block: unknown, i) => {
    if (!isRecord(block) || !blockFacts(block.type)) report('block.type', `${path}.${i}`, 'unknown block type');
  });
  for (const { block, path: at } of blocksOf(content, path)) {
    const facts = blockFacts(block.type);
    if (!facts) continue;
    if (!facts.roles.some((allowed) => allowed === role)) {
      report('block.role', at, `${String(block.type)} blocks cannot be in ${String(role)} messages`);
    }
    checkBlock(block, at, report);
  }
}

function checkBlock(block: Fields, path: string, report: Report): void {
  for (const key of extraFields(block)) report('block.extra_field', `${path}.${key}`, 'extra inputs are not permitted');
  switch (block.type) {
    case 'text':
      checkText(block, path, report);
      return;
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      checkCall(block, path, report);
      return;
    case 'tool_result':
      checkResult(block, path, report);
      return;
    case 'thinking':
      if (typeof block.thinking !== 'string') report('thinking.text_missing', `${path}.thinking`, 'field required');
      if (typeof block.signature !== 'string') {
        report('thinking.signature_missing', `${path}.signature`, 'field required');
      } else if (block.signature === '') {
        report('thinking.signature_invalid', `${path}.signature`, 'invalid signature in thinking block');
      }
      return;
    case 'redacted_thinking':
      if (typeof block.data !== 'string' || block.data === '') {
        report('thinking.redacted_data', `${path}.data`, 'field required');
      }
      return;
    default:
      return;
  }
}

function checkText(block: Fields, path: string, report: Report): void {
  if (typeof block.text !== 'string' || block.text === '') {
    report('text.empty', `${path}.text`, 'text content blocks must be non-empty');
  } else if (isBlank(block.text)) {
    report('text.blank', `${path}.text`, 'text content blocks must contain non-whitespace text');
  }
}

function checkCall(block: Fields, path: string, report: Report): void {
  if (!isGoodId(block.id)) report('tool_use.id', `${path}.id`, 'string should match pattern ^[a-zA-Z0-9_-]+$');
  if (!isGoodName(block.name)) report('tool_use.name', `${path}.name`, 'string of 1 to 200 characters');
  if (!isRecord(block.input)) report('tool_use.input', `${path}.input`, 'input should be a valid dictionary');
}

function checkResult(block: Fields, path: string, report: Report): void {
  if (!isGoodId(block.tool_use_id)) {
    report('tool_result.id', `${path}.tool_use_id`, 'string should match pattern ^[a-zA-Z0-9_-]+$');
  }
  const { content } = block;
  if (content !== undefined && typeof content !== 'string' && !Array.isArray(content)) {
    report('tool_result.content', `${path}.content`, 'input should be a valid string');
    return;
  }
  const isError = block.is_error === true;
  if (isError && (content === undefined || content.length === 0)) {
    report('tool_result.error_empty', `${path}.content`, 'content cannot be empty if is_error is true');
  }
  if (!Array.isArray(content)) return;
  content.forEach((inner: unknown, i) => {
    const at = `${path}.content.${i}`;
    if (!isRecord(inner) || !blockFacts(inner.type)?.inResult) {
      report('tool_result.content', at, 'unexpected tag');
      return;
    }
    if (isError && inner.type !== 'text') {
      report('tool_result.error_not_text', at, 'all content must be type text if is_error is true');
    }
    checkBlock(inner, at, report);
  });
}
