// A client's event as lists and streams show it: as it was sent, with its id and the time of its processing.

import type { ClientEvent, InboxEvent } from '../../types/log.ts';
import type { ContentBlock } from '../../types/message.ts';
import { timestampOf } from '../common.ts';
import type { WireEvent } from './wire-event.ts';

/** As sent, with its id. Answers bear their acceptance time from the echo on: the claim is what processes them. */
export function clientEventView(event: InboxEvent, processedAt: string | null): readonly WireEvent[] {
  if (isControl(event)) return [];
  const { id, acceptedAt } = event;
  const answered = event.type === 'user.custom_tool_result' || event.type === 'user.tool_result';
  const at = answered ? timestampOf(acceptedAt) : processedAt;
  return [{ id, type: event.type, ...fieldsOf(event), processed_at: at }];
}

const isControl = (event: InboxEvent): boolean => event.type.startsWith('control.');

function fieldsOf(event: InboxEvent): object {
  const client = event as ClientEvent;
  switch (client.type) {
    case 'user.message':
    case 'system.message':
      return { content: client.content };
    case 'user.interrupt':
      return {};
    case 'user.tool_confirmation': {
      const { tool_use_id, result, deny_message } = client;
      return { tool_use_id, result, ...(deny_message === undefined ? {} : { deny_message }) };
    }
    case 'user.custom_tool_result':
      return { custom_tool_use_id: client.custom_tool_use_id, ...resultFields(client) };
    case 'user.tool_result':
      return { tool_use_id: client.tool_use_id, ...resultFields(client) };
    default:
      client satisfies never;
      return {};
  }
}

const resultFields = (event: { readonly content?: readonly ContentBlock[]; readonly is_error?: boolean }): object => ({
  content: event.content ?? [],
  is_error: event.is_error ?? false,
});
