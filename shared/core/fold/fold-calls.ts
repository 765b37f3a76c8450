// The tool calls of the latest answer, from the message until each has a result.

import { derivedEventId, type SessionId } from '../../types/ids.ts';
import type { EntryOf } from '../../types/log.ts';
import { type ContentBlock, isToolUse, type ToolResultBlock } from '../../types/message.ts';
import type { CallState } from '../../types/turn.ts';
import { pushMessage, type Work } from './fold-work.ts';

/** The calls of an answer, undecided, in the model's order. */
export function callsOf(session: SessionId, entry: EntryOf<'message'>): readonly CallState[] {
  return entry.content.flatMap((block, index) =>
    isToolUse(block)
      ? [
          {
            toolUseId: block.id,
            modelSeq: entry.modelSeq,
            block: index,
            eventId: derivedEventId(session, entry.modelSeq, `b${index}`),
            name: block.name,
            input: block.input,
            kind: 'unknown' as const,
            decision: null,
            reason: '',
            confirmation: null,
            started: false,
            result: null,
          },
        ]
      : [],
  );
}

/** Sets a call's result; when the last call has one, all go to the model in one user message, in the model's order. */
export function setResult(
  work: Work,
  which: (c: CallState) => boolean,
  result: NonNullable<CallState['result']>,
): void {
  const d = work.draft;
  d.calls = d.calls.map((call) => (call.result === null && which(call) ? { ...call, result } : call));
  if (d.calls.length === 0 || d.calls.some((call) => call.result === null)) return;
  pushMessage(work, { role: 'user', content: d.calls.map(toolResultBlock) });
  d.calls = [];
}

function toolResultBlock(call: CallState): ToolResultBlock {
  const { content, isError } = call.result ?? { content: [], isError: true };
  const block = {
    type: 'tool_result',
    tool_use_id: call.toolUseId,
    content: content.length > 0 ? content : NO_OUTPUT,
  } as const;
  return isError ? { ...block, is_error: true } : block;
}

const NO_OUTPUT: readonly ContentBlock[] = [{ type: 'text', text: '(no output)' }];
