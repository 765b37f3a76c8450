// A history that the Messages API accepts, made from whatever the log holds, with as little lost as possible.

import type { Repair } from '../types/log.ts';
import type { Message } from '../types/message.ts';

export interface SanitizeResult {
  readonly messages: readonly Message[];
  readonly repairs: readonly Repair[];
  /** Text of system messages at the very start, which the API takes as the request's `system` only. */
  readonly system?: string;
}

/** The sanitised history; a sound one comes back as the same references. */
export function sanitizeMessages(messages: readonly Message[], _options: { readonly model: string }): SanitizeResult {
  return { messages, repairs: [] };
}
