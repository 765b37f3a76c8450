// The order of turns: who begins, who ends, where system messages stand, where compaction blocks do.

import { isServerResult, isSigned, isThinkingBlock } from '../facts/block-facts.ts';
import { isRecord } from '../facts/fields.ts';
import type { Checked } from './check-report.ts';
import { openServerCalls } from './check-server-tools.ts';
import { withoutSystem } from './check-turns.ts';

/** Rules `message.*` of order, `system.*`, `assistant.text_after_tool_use`, `compaction.misplaced`. */
export function checkRoles(checked: Checked): void {
  checkFirst(checked);
  checkLast(checked);
  checkSystem(checked);
  checkTextAfterCalls(checked);
  checkCompaction(checked);
}

function checkFirst({ turns, report }: Checked): void {
  const first = turns.find((turn) => turn.role !== 'system');
  if (first?.role !== 'assistant' || first.blocks[0]?.block.type === 'compaction') return;
  report('message.first_role', first.path, 'first message must use the user role');
}

function checkLast({ turns, facts, body, report }: Checked): void {
  const last = withoutSystem(turns).at(-1);
  const end = last?.blocks.at(-1);
  if (last?.role !== 'assistant') return;
  const isPaused = (end && isServerResult(end.block)) || openServerCalls(last.blocks).length > 0;
  if (isPaused) return;
  const isThinking = isRecord(body.thinking) && body.thinking.type === 'enabled';
  if (!facts.prefill || isThinking) {
    report('message.prefill', last.path, 'the conversation must end with a user message');
  } else if (end?.block.type === 'text' && typeof end.block.text === 'string' && /\s$/.test(end.block.text)) {
    report('message.trailing_whitespace', end.path, 'final assistant content cannot end with trailing whitespace');
  }
  if (end && isThinkingBlock(end.block)) {
    report('message.ends_with_thinking', end.path, 'the final block in an assistant message cannot be thinking');
  }
}

function checkSystem({ turns, facts, report }: Checked): void {
  turns.forEach((turn, i) => {
    if (turn.role !== 'system') return;
    if (!facts.systemRole) {
      report('system.unsupported', turn.path, 'unexpected role system on this model');
      return;
    }
    const before = turns[i - 1];
    const next = turns[i + 1];
    const end = before?.blocks.at(-1)?.block;
    const isPlaced =
      before?.role === 'user' || (before?.role === 'assistant' && end !== undefined && isServerResult(end));
    if (!isPlaced || next?.role === 'user') {
      report('system.placement', turn.path, 'a system message follows a user turn and precedes an assistant turn');
    }
  });
}

function checkTextAfterCalls({ turns, facts, report }: Checked): void {
  if (facts.textAfterToolUse) return;
  for (const turn of turns) {
    if (turn.role !== 'assistant') continue;
    const call = turn.blocks.findIndex(({ block }) => block.type === 'tool_use');
    const text = call === -1 ? undefined : turn.blocks.slice(call).find(({ block }) => block.type === 'text');
    if (text) report('assistant.text_after_tool_use', text.path, 'text after tool_use in one assistant turn');
  }
}

function checkCompaction({ turns, report }: Checked): void {
  let isFirst = true;
  for (const turn of turns) {
    for (const { block, path } of turn.blocks) {
      if (isSigned(block) && !isFirst) report('compaction.misplaced', path, 'compaction_block_misplaced');
      isFirst = false;
    }
  }
}
