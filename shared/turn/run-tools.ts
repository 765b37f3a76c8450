// Runs allowed calls: safe ones side by side, unsafe ones alone and in order. Intent is stored before the effect of an unsafe
// one, the outcome after it, together with the workspace it left. Failure of any kind is an error result; the turn goes on.

import { toolsetOf } from '../core/builtin-tools.ts';
import { errorResult } from '../core/calls.ts';
import type { Workspace } from '../ports/sandbox.ts';
import type { EntryBody } from '../types/log.ts';
import type { Tool, ToolOutcome } from '../types/tool.ts';
import type { CallState } from '../types/turn.ts';
import { spillBlock } from './hydrate.ts';
import type { Worker } from './worker.ts';

/**
 * Runs the first batch of `calls` and stages its results, the last ones uncommitted. Safe calls that end within
 * `safeCallAheadMs` (most reads) travel in the append of the answer that made them, with what comes next: one append per
 * round; their results are void where it is lost. False: the append was lost.
 */
export async function runTools(worker: Worker, calls: readonly CallState[]): Promise<boolean> {
  const batch = firstBatch(worker, calls);
  const started = batch.filter((c) => !c.started).map((c) => c.toolUseId);
  if (started.length > 0) worker.stage([{ kind: 'tool_started', toolUseIds: started }]);
  let isAhead = batch.every((call) => toolOf(worker, call)?.replay === 'safe');
  if (!isAhead && !(await worker.commit())) return false;
  let open = batch.length;
  let held = true;
  await worker.during(async (signal) => {
    const one = async (call: CallState) => {
      const outcome = await runOne(worker, call, signal);
      open--;
      if (signal.aborted && outcome.isError) return; // the interrupt answers it and says so
      const entries = await resultEntries(worker, call, outcome);
      if (!held) return;
      worker.stage(entries);
      if (open > 0 && !isAhead) held = (await worker.commit()) && held; // a sibling still runs: do not lose this one with it
    };
    const all = Promise.all(batch.map(one));
    const isLate = isAhead && !(await endsWithin(worker, all, worker.context.ports.limits.safeCallAheadMs));
    isAhead = false;
    if (isLate) held = (await worker.commit()) && held;
    await all;
  });
  return held;
}

async function endsWithin(worker: Worker, work: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = worker.context.ports.clock.sleep(ms, timer.signal).then(() => false);
  const ended = await Promise.race([work.then(() => true), late]);
  timer.abort('ended');
  return ended;
}

function toolOf(worker: Worker, call: CallState): Tool<Workspace> | undefined {
  const toolset = toolsetOf(worker.state().agent);
  return toolset && worker.context.ports.tools(toolset.face).find((t) => t.name === call.name);
}

/** All leading safe calls, or the first unsafe one alone. */
function firstBatch(worker: Worker, calls: readonly CallState[]): readonly CallState[] {
  const firstUnsafe = calls.findIndex((c) => toolOf(worker, c)?.replay !== 'safe');
  if (firstUnsafe === 0) return calls.slice(0, 1);
  return firstUnsafe < 0 ? calls : calls.slice(0, firstUnsafe);
}

async function runOne(worker: Worker, call: CallState, signal: AbortSignal): Promise<ToolOutcome> {
  const tool = toolOf(worker, call);
  if (!tool) return failure(`There is no tool named ${call.name}.`);
  const wrong = tool.check(call.input);
  if (wrong !== null) return failure(`The input of ${call.name} is not valid: ${wrong}`);
  const { limits, logger } = worker.context.ports;
  try {
    const run = { toolUseId: call.toolUseId, input: call.input, timeoutMs: limits.toolTimeoutMs };
    return await tool.run(run, worker.workspace(), signal);
  } catch (error) {
    logger.error('tool threw', { tool: call.name, error: String(error) });
    return failure(`The tool ${call.name} failed.`);
  }
}

const failure = (text: string): ToolOutcome => ({ content: [{ type: 'text', text }], isError: true });

async function resultEntries(worker: Worker, call: CallState, outcome: ToolOutcome): Promise<EntryBody[]> {
  const { ports, tenant, session } = worker.context;
  const to = { blobs: ports.blobs, hashing: ports.hashing, tenant, session };
  const max = ports.limits.blockInlineBytesMax;
  const content = await Promise.all(outcome.content.map((b) => spillBlock(to, b, max)));
  const result: EntryBody = { ...resultOf(call), content, isError: outcome.isError };
  const saved = await savedWorkspace(worker);
  return saved ? [result, saved] : [result];
}

const resultOf = (call: CallState) => errorResult(call, '') as Extract<EntryBody, { kind: 'tool_result' }>;

/** The workspace as the call left it: its blobs are stored first, its pointer and the result are one append. */
async function savedWorkspace(worker: Worker): Promise<EntryBody | null> {
  const delta = await worker.workspace().snapshot();
  if (!delta) return null;
  return { kind: 'workspace_saved', changes: delta.changes, shell: delta.shell };
}
