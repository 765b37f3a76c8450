// Calls and results: each client call has one result at the start of the next user turn, and no result is without a call.

import { isFromCode, isServerCall, isThinkingBlock } from '../facts/block-facts.ts';
import { isRecord } from '../facts/fields.ts';
import type { Checked, Report } from './check-report.ts';
import { type Turn, type TurnBlock, withoutSystem } from './check-turns.ts';

/** Rules `tool_use.duplicate_id`, `tool_use.unanswered`, `tool_result.*` of order, `tool_reference.unknown`, `thinking.modified`. */
export function checkPairs({ turns, blocks, body, report }: Checked): void {
  checkIds(blocks, report);
  const spoken = withoutSystem(turns);
  spoken.forEach((turn, i) => {
    if (turn.role === 'assistant') checkAnswered(turn, spoken[i + 1], report);
    else checkResults(turn, spoken[i - 1], report);
  });
  checkReferences(blocks, body.tools, report);
}

function checkIds(blocks: readonly TurnBlock[], report: Report): void {
  const ids = new Set<unknown>();
  const thoughts = new Set<unknown>();
  for (const { block, path } of blocks) {
    if (block.type === 'tool_use' || isServerCall(block)) {
      if (ids.has(block.id)) report('tool_use.duplicate_id', `${path}.id`, 'tool_use ids must be unique');
      ids.add(block.id);
    } else if (isThinkingBlock(block)) {
      const proof = block.type === 'thinking' ? block.signature : block.data;
      if (typeof proof !== 'string' || proof === '') continue;
      if (thoughts.has(proof)) report('thinking.modified', path, 'thinking blocks cannot be modified: sent twice');
      thoughts.add(proof);
    }
  }
}

const callsOf = (turn: Turn | undefined): readonly TurnBlock[] =>
  turn?.role === 'assistant' ? turn.blocks.filter(({ block }) => block.type === 'tool_use') : [];

function checkAnswered(turn: Turn, next: Turn | undefined, report: Report): void {
  const answered = new Set((next?.role === 'user' ? next.blocks : []).map(({ block }) => resultId(block)));
  for (const { block, path } of callsOf(turn)) {
    if (answered.has(block.id)) continue;
    report('tool_use.unanswered', path, 'tool_use ids were found without tool_result blocks immediately after');
  }
}

/** The call that a block answers; undefined for other blocks. */
const resultId = (block: TurnBlock['block']): unknown =>
  block.type === 'tool_result' ? (block.tool_use_id ?? null) : undefined;

function checkResults(turn: Turn, before: Turn | undefined, report: Report): void {
  const calls = new Map(callsOf(before).map(({ block }) => [block.id, block]));
  const seen = new Set<unknown>();
  const other = turn.blocks.findIndex(({ block }) => block.type !== 'tool_result');
  turn.blocks.forEach(({ block, path }, i) => {
    if (block.type !== 'tool_result') return;
    const call = calls.get(block.tool_use_id);
    if (!call) {
      report('tool_result.orphan', path, 'unexpected tool_use_id: no such tool_use in the previous message');
      return;
    }
    if (seen.has(block.tool_use_id)) report('tool_result.duplicate', path, 'each tool_use must have a single result');
    seen.add(block.tool_use_id);
    if (other !== -1 && other < i) report('tool_result.not_first', path, 'tool_result blocks must come first');
    if ((call.toolset_name ?? null) !== (block.toolset_name ?? null)) {
      report('tool_result.toolset_name', path, 'toolset_name does not match that of the call');
    }
  });
  const fromCode = [...calls.values()].some(isFromCode);
  if (fromCode && other !== -1) {
    report(
      'tool_result.only_results',
      turn.blocks[other]?.path ?? turn.path,
      'only tool_result blocks are allowed here',
    );
  }
}

function checkReferences(blocks: readonly TurnBlock[], tools: unknown, report: Report): void {
  const names = new Set((Array.isArray(tools) ? tools : []).map((tool: unknown) => isRecord(tool) && tool.name));
  for (const { block, path } of blocks) {
    if (block.type !== 'tool_result' || !Array.isArray(block.content)) continue;
    block.content.forEach((inner: unknown, i) => {
      if (!isRecord(inner) || inner.type !== 'tool_reference' || names.has(inner.tool_name as string)) return;
      report('tool_reference.unknown', `${path}.content.${i}`, 'tool reference not found in available tools');
    });
  }
}
