// Answers that a client gives to open calls.

import { only, type SentEvent, type StreamedEvent } from './sessions.ts';

/** The answer to a custom call. */
export const resultFor = (id: string, words: string): SentEvent => ({
  type: 'user.custom_tool_result',
  custom_tool_use_id: id,
  content: [{ type: 'text', text: words }],
});
/** The answer to a call that must be confirmed. */
export const confirm = (id: string, result: 'allow' | 'deny', deny_message?: string): SentEvent => ({
  type: 'user.tool_confirmation',
  tool_use_id: id,
  result,
  ...(deny_message ? { deny_message } : {}),
});
/** Event ids of the calls that the last idle waits for. */
export const openCalls = (events: readonly StreamedEvent[]): string[] => {
  const reason = only(events, 'session.status_idle').at(-1)?.stop_reason;
  return reason?.type === 'requires_action' ? reason.event_ids : [];
};
