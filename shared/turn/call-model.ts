// One model call: the request opens while its `model_started` is stored; no byte reaches a client before that is in.
// Every end of the stream is an entry: the message, a cut message after an interrupt, or a failure with what to do about it.

import { type Assembly, assemble, cutAssembly, finishAssembly, startAssembly } from '../core/assemble-message.ts';
import type { ModelBatch, ModelError } from '../ports/model.ts';
import type { EntryBody } from '../types/log.ts';
import type { ContentBlock } from '../types/message.ts';
import type { ModelFailure } from '../types/outcome.ts';
import { spillBlock } from './hydrate.ts';
import { failureEntries } from './model-failure.ts';
import { offeredTools, prepareRequest } from './prepare-request.ts';
import { createPreviewer } from './preview.ts';
import type { Worker } from './worker.ts';

/** A damaged history may need thousands; the log names the first ones. */
const REPAIRS_TOLD_MAX = 100;

/** Stages the outcome of the call. False: nothing was called, because the append was lost. */
export async function callModel(worker: Worker, attempt: number): Promise<boolean> {
  const { ports } = worker.context;
  const tools = offeredTools(ports, worker.state().agent);
  const hash = ports.hashing.sha256(JSON.stringify(tools)).slice(0, 16);
  const { request, fingerprint, repairs } = await prepareRequest(ports, worker.state(), tools);
  const told = repairs.slice(0, REPAIRS_TOLD_MAX);
  if (told.length > 0 && JSON.stringify(told) !== JSON.stringify(worker.state().lastRepairs)) {
    worker.stage([{ kind: 'repaired', repairs: told }]);
  }
  if (worker.state().toolsOffered !== hash && tools.length > 0) {
    worker.stage([{ kind: 'tools_offered', names: tools.map((t) => t.name), hash }]);
  }
  worker.stage([{ kind: 'model_started', model: request.model, attempt, fingerprint }]);
  const modelSeq = worker.state().lastSeq;
  if (request.messages.length === 0) {
    worker.stage([{ kind: 'model_failed', modelSeq, reason: 'error', retry: 'exhausted', error: NOTHING_TO_SEND }]);
    return true;
  }
  return worker.during(async (signal) => {
    const stream = ports.model.stream(request, signal)[Symbol.asyncIterator]();
    const stored = await worker.commit().catch(async (error: unknown) => {
      await stream.return?.();
      throw error;
    });
    if (!stored) {
      await stream.return?.();
      return false;
    }
    const outcome = await consume(worker, stream, modelSeq);
    worker.stage(await entriesOf(worker, outcome, { modelSeq, attempt, interrupted: signal.aborted }));
    return true;
  });
}

const NOTHING_TO_SEND: ModelFailure = {
  type: 'model_request_failed_error',
  message: 'the history holds nothing that can be sent to the model',
};

interface CallOutcome {
  readonly assembly: Assembly;
  readonly failure: ModelError | null;
}

async function consume(worker: Worker, stream: AsyncIterator<ModelBatch>, modelSeq: number): Promise<CallOutcome> {
  const preview = createPreviewer(worker.context.session, worker.state().agent, modelSeq);
  let assembly = startAssembly();
  for (;;) {
    const next = await stream.next();
    if (next.done) return { assembly, failure: CUT };
    const batch = next.value;
    switch (batch.kind) {
      case 'events':
        for (const event of batch.events) assembly = assemble(assembly, event);
        worker.emit(preview(batch.events));
        break;
      case 'done':
        return { assembly, failure: null };
      case 'error':
        return { assembly, failure: batch.error };
      default:
        batch satisfies never;
    }
  }
}

const CUT: ModelError = {
  kind: 'cut',
  status: null,
  apiType: null,
  message: "the model's answer ended before it was complete",
  retryAfterMs: null,
  requestId: null,
};

const MALFORMED: ModelError = { ...CUT, kind: 'stream', message: 'the model sent a tool input that is not JSON' };

async function entriesOf(
  worker: Worker,
  { assembly, failure }: CallOutcome,
  call: { readonly modelSeq: number; readonly attempt: number; readonly interrupted: boolean },
): Promise<EntryBody[]> {
  const { modelSeq, interrupted } = call;
  const malformed = assembly.complete && assembly.stopReason === 'tool_use' && assembly.badInputs.length > 0;
  if (failure === null && assembly.complete && !malformed) return [await messageOf(worker, assembly, modelSeq)];
  if (interrupted) {
    const content = await spillAll(worker, cutAssembly(assembly).content);
    const model = assembly.model ?? worker.state().agent.model.id;
    const { usage } = assembly;
    if (content.length === 0) return [{ kind: 'model_failed', modelSeq, reason: 'interrupted', usage }];
    return [{ kind: 'message', modelSeq, content, model, usage, stopReason: 'interrupted', cut: true }];
  }
  const trouble = failure ?? (malformed ? MALFORMED : CUT);
  return failureEntries(worker, trouble, { modelSeq, attempt: call.attempt, usage: assembly.usage });
}

async function messageOf(worker: Worker, assembly: Assembly, modelSeq: number): Promise<EntryBody> {
  const { content, model, usage, stopReason, stopDetails, callCut } = finishAssembly(assembly);
  return {
    kind: 'message',
    modelSeq,
    content: await spillAll(worker, content),
    model,
    usage,
    stopReason,
    ...(stopDetails ? { stopDetails } : {}),
    ...(callCut ? { callCut: true } : {}),
  };
}

/** Tool calls stay inline, whatever their size: decisions read them. */
async function spillAll(worker: Worker, content: readonly ContentBlock[]): Promise<readonly ContentBlock[]> {
  const { ports, tenant, session } = worker.context;
  const to = { blobs: ports.blobs, hashing: ports.hashing, tenant, session };
  return Promise.all(
    content.map((block) =>
      block.type === 'tool_use' ? block : spillBlock(to, block, ports.limits.blockInlineBytesMax),
    ),
  );
}
