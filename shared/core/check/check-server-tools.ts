// Calls of tools that the API runs itself: call and result are blocks of assistant turns.

import { isServerCall, isServerResult } from '../facts/block-facts.ts';
import { isRecord } from '../facts/fields.ts';
import type { Checked } from './check-report.ts';
import { type Turn, type TurnBlock, withoutSystem } from './check-turns.ts';

/** Rules `server_tool.*`. */
export function checkServerTools({ turns, blocks, body, report }: Checked): void {
  if (!blocks.some(({ block }) => isServerCall(block) || isServerResult(block))) return;
  const spoken = withoutSystem(turns);
  spoken.forEach((turn, i) => {
    if (turn.role !== 'assistant') return;
    const carried = onlyResults(spoken[i - 1]) ? openServerCalls(spoken[i - 2]?.blocks ?? []) : [];
    const known = new Set(carried.map(({ block }) => block.id));
    for (const { block, path } of turn.blocks) {
      if (isServerCall(block)) known.add(block.id);
      if (isServerResult(block) && !known.delete(block.tool_use_id)) {
        report('server_tool.orphan_result', path, 'unexpected result block: no server_tool_use with this id');
      }
    }
    const next = spoken[i + 1];
    const isEnd = !next || (onlyResults(next) && i + 2 === spoken.length);
    const later = onlyResults(next) ? idsOfResults(spoken[i + 2]) : new Set();
    for (const { block, path } of openServerCalls(turn.blocks)) {
      if (!isEnd && !later.has(block.id)) {
        report('server_tool.unresolved', path, 'server tool use without a corresponding result block');
      } else if (isEnd && block.type === 'server_tool_use' && !offersTool(body.tools, block.name)) {
        report('server_tool.tool_missing', path, 'the tool of this call must be enabled');
      }
    }
  });
}

/** The server calls among these blocks that have no result behind them. */
export function openServerCalls(blocks: readonly TurnBlock[]): readonly TurnBlock[] {
  const answered = new Set<unknown>();
  const open: TurnBlock[] = [];
  for (let i = blocks.length - 1; i >= 0; i--) {
    const at = blocks[i] as TurnBlock;
    if (isServerResult(at.block)) answered.add(at.block.tool_use_id);
    if (isServerCall(at.block) && !answered.has(at.block.id)) open.push(at);
  }
  return open.reverse();
}

const onlyResults = (turn: Turn | undefined): boolean =>
  turn?.role === 'user' && turn.blocks.every(({ block }) => block.type === 'tool_result');

const idsOfResults = (turn: Turn | undefined): ReadonlySet<unknown> =>
  new Set((turn?.blocks ?? []).filter(({ block }) => isServerResult(block)).map(({ block }) => block.tool_use_id));

/** Whether a call of this name has its tool among these. Code execution is one tool with calls of several names. */
export function offersTool(tools: unknown, name: unknown): boolean {
  if (!Array.isArray(tools) || typeof name !== 'string') return false;
  return tools.some(
    (tool: unknown) =>
      isRecord(tool) && typeof tool.name === 'string' && (tool.name === name || name.endsWith(`_${tool.name}`)),
  );
}
