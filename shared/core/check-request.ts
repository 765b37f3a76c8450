// Whether the Messages API would take a request: a strict reading of its public rules, each fault under a stable name.
// Pure and linear; what only the API can know (tokens, real signatures, what lies behind a URL) is not judged.

import { checkBlocks } from './check/check-blocks.ts';
import { checkMarks } from './check/check-marks.ts';
import { checkMedia } from './check/check-media.ts';
import { checkPairs } from './check/check-pairs.ts';
import type { Checked, Report, RequestFault } from './check/check-report.ts';
import { checkRoles } from './check/check-roles.ts';
import { checkServerTools } from './check/check-server-tools.ts';
import { checkSettings } from './check/check-settings.ts';
import { turnsOf } from './check/check-turns.ts';
import { type Fields, isRecord } from './facts/fields.ts';
import { modelFacts } from './facts/model-facts.ts';

export const MESSAGES_MAX = 100_000;
export const BODY_CHARS_MAX = 32 * 1024 * 1024;

/** The first fault of a request body, or null where it is sound. Never throws. */
export const checkRequest = (body: unknown): RequestFault | null => findFaults(body)[0] ?? null;

/** All faults of a request body: envelope, settings, then the history. */
export function findFaults(body: unknown): readonly RequestFault[] {
  const faults: RequestFault[] = [];
  const report: Report = (rule, path, message) => faults.push({ rule, path, message });
  if (!isRecord(body)) return [{ rule: 'request.body', path: '', message: 'the body is not a JSON object' }];
  checkEnvelope(body, report);
  const checked = readBody(body, report);
  checkSettings(checked);
  checkHistory(checked);
  return faults;
}

/** The faults of a history alone. Without `tools` nothing is judged by what the request offers. */
export function findHistoryFaults(request: {
  readonly model: string;
  readonly messages: readonly unknown[];
  readonly tools?: readonly unknown[];
}): readonly RequestFault[] {
  const faults: RequestFault[] = [];
  const byTools = ['tool_reference.unknown', 'server_tool.tool_missing'];
  const report: Report = (rule, path, message) => {
    if (request.tools || !byTools.includes(rule)) faults.push({ rule, path, message });
  };
  checkSize(request.messages, request.messages, report);
  checkHistory(readBody(request, report));
  return faults;
}

function readBody(body: Fields, report: Report): Checked {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  const facts = modelFacts(typeof body.model === 'string' ? body.model : '');
  const turns = turnsOf(messages);
  return { body, facts, messages, turns, blocks: turns.flatMap((turn) => turn.blocks), report };
}

function checkHistory(checked: Checked): void {
  checkBlocks(checked);
  checkMedia(checked);
  checkRoles(checked);
  checkPairs(checked);
  checkServerTools(checked);
  checkMarks(checked);
}

function checkEnvelope(body: Fields, report: Report): void {
  if (typeof body.model !== 'string' || body.model === '') report('request.model', 'model', 'Field required');
  const { max_tokens: maxTokens, messages } = body;
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens)) {
    report('request.max_tokens', 'max_tokens', 'Field required: a whole number');
  } else if (maxTokens < 0) report('request.max_tokens', 'max_tokens', 'must be at least 1');
  checkSize(messages, body, report);
}

function checkSize(messages: unknown, whole: unknown, report: Report): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    report('request.messages', 'messages', 'at least one message is required');
  } else if (messages.length > MESSAGES_MAX) {
    report('request.too_many_messages', 'messages', `too many messages: at most ${MESSAGES_MAX}`);
  }
  const found = scanStrings(whole);
  if (found.chars > BODY_CHARS_MAX) report('request.too_large', '', 'request exceeds the maximum size');
  if (found.lone) report('request.lone_surrogate', '', 'the body is not valid JSON: no low surrogate in string');
}

/** Counts the characters of all strings and looks for half surrogates, keys included. No recursion: depth is the sender's. */
export function scanStrings(root: unknown): { readonly chars: number; readonly lone: boolean } {
  let chars = 0;
  let lone = false;
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value === 'string') {
      chars += value.length;
      lone ||= !value.isWellFormed();
    } else if (Array.isArray(value)) {
      for (const item of value) stack.push(item);
    } else if (isRecord(value)) {
      for (const key in value) stack.push(key, value[key]);
    }
  }
  return { chars, lone };
}
