// Tools, tool choice and thinking settings of a request.

import { isThinkingBlock } from '../facts/block-facts.ts';
import { type Fields, isRecord } from '../facts/fields.ts';
import type { Checked } from './check-report.ts';
import { turnsOf, withoutSystem } from './check-turns.ts';

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const BUDGET_TOKENS_MIN = 1024;

/** Rules `tools.*`, `tool_choice.forced`, `thinking.config`, `thinking.must_start_turn`. */
export function checkSettings(checked: Checked): void {
  checkTools(checked);
  checkThinking(checked);
  const { body, facts, report } = checked;
  const choice = isRecord(body.tool_choice) ? body.tool_choice.type : undefined;
  const isManual = isRecord(body.thinking) && body.thinking.type === 'enabled';
  if ((choice === 'any' || choice === 'tool') && (isManual || !facts.forcedToolChoice)) {
    report('tool_choice.forced', 'tool_choice', 'thinking may not be enabled when tool_choice forces tool use');
  }
}

function checkTools({ body, report }: Checked): void {
  if (body.tools === undefined) return;
  if (!Array.isArray(body.tools)) {
    report('tools.schema', 'tools', 'input should be a list');
    return;
  }
  const names = new Set<unknown>();
  body.tools.forEach((tool: unknown, i) => {
    const path = `tools.${i}`;
    if (!isRecord(tool)) {
      report('tools.schema', path, 'a tool is an object');
      return;
    }
    if (typeof tool.type === 'string' && tool.type.includes('toolset')) return;
    if (typeof tool.name !== 'string' || !TOOL_NAME.test(tool.name)) {
      report('tools.name', `${path}.name`, 'string should match pattern ^[a-zA-Z0-9_-]{1,128}$');
    }
    if (names.has(tool.name)) report('tools.duplicate_name', `${path}.name`, 'tool names must be unique');
    names.add(tool.name);
    const isCustom = tool.type === undefined || tool.type === null || tool.type === 'custom';
    if (isCustom && !(isRecord(tool.input_schema) && tool.input_schema.type === 'object')) {
      report('tools.schema', `${path}.input_schema`, 'input_schema.type: field required');
    }
  });
}

function checkThinking({ body, facts, messages, report }: Checked): void {
  const { thinking, max_tokens: maxTokens } = body;
  if (!isRecord(thinking)) return;
  const { type, budget_tokens: budget } = thinking;
  if (!facts.thinkingTypes.some((known) => known === type)) {
    report('thinking.config', 'thinking.type', `thinking.type ${String(type)} is not supported for this model`);
    return;
  }
  if (type !== 'enabled') return;
  const isInRange =
    typeof budget === 'number' && budget >= BUDGET_TOKENS_MIN && typeof maxTokens === 'number' && budget < maxTokens;
  if (!isInRange) report('thinking.config', 'thinking.budget_tokens', 'at least 1024 and less than max_tokens');
  const loop = openLoop(messages);
  if (loop && !isThinkingBlock(loop.first)) {
    report('thinking.must_start_turn', loop.path, 'expected thinking or redacted_thinking');
  }
}

/** The assistant turn whose results end the history, by its first block. */
function openLoop(messages: readonly unknown[]): { readonly first: Fields; readonly path: string } | undefined {
  const turns = withoutSystem(turnsOf(messages));
  const [call, answer] = turns.slice(-2);
  const first = call?.blocks[0];
  if (call?.role !== 'assistant' || !first || answer?.role !== 'user') return undefined;
  const isLoop = answer.blocks[0]?.block.type === 'tool_result';
  return isLoop ? { first: first.block, path: first.path } : undefined;
}
