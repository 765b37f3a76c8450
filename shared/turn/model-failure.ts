// What a failed model call leaves in the log: the failure, whether it is tried again, and what was taken out of the history so
// that one bad link does not fail every later call.

import { type CallFailure, decideRetry } from '../core/decide-retry.ts';
import { isAboutMedia, linksFrom } from '../core/unlink-media.ts';
import type { EntryBody } from '../types/log.ts';
import type { ModelUsage } from '../types/message.ts';
import type { Worker } from './worker.ts';

/** Says it in the service's log as well: one line an attempt. */
export function failureEntries(
  worker: Worker,
  failure: CallFailure & { readonly requestId?: string | null },
  call: { readonly modelSeq: number; readonly attempt: number; readonly usage: ModelUsage },
): EntryBody[] {
  const { ports, session } = worker.context;
  const { counters, messages } = worker.state();
  const history = { attempts: counters?.attempts ?? 0, waitedMs: counters?.waitedMs ?? 0, random: ports.ids.random() };
  const decision = decideRetry(failure, history, ports.limits);
  // Which block a refusal means is not told. Without links the request is another one, so it may be sent again, at once.
  const isRefused = failure.status === 400 && isAboutMedia(failure.message);
  const unlinkedFrom = isRefused ? linksFrom(messages) : undefined;
  const { error } = decision;
  const { retry, waitMs } = unlinkedFrom === undefined ? decision : { retry: 'retrying' as const, waitMs: 0 };
  const { kind, status, message: reason, requestId } = failure;
  const fields = { session, kind, status, reason, requestId, attempt: call.attempt, retry, waitMs };
  ports.logger.warn('a model call failed', fields);
  const { modelSeq, usage } = call;
  const failed: EntryBody = { kind: 'model_failed', modelSeq, reason: 'error', usage, error, retry, waitMs };
  return unlinkedFrom === undefined ? [failed] : [failed, unlinked(unlinkedFrom)];
}

const unlinked = (from: number): EntryBody => ({
  kind: 'repaired',
  unlinkedFrom: from,
  repairs: [
    {
      rule: 'media.link',
      path: `messages[${from}]`,
      what: 'media by URL became text: the request was refused with it',
    },
  ],
});
