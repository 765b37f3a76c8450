// A history that the Messages API accepts, made from whatever the log holds, with as little lost as possible.
// Pure, total, idempotent and linear. A sound history comes back as the same objects; what is made up depends on the data alone.

import type { Repair } from '../types/log.ts';
import type { Message } from '../types/message.ts';
import { findHistoryFaults } from './check-request.ts';
import { modelFacts } from './facts/model-facts.ts';
import { isPlainlySound } from './sanitize/known-sound.ts';
import { cleanDraft } from './sanitize/sanitize-blocks.ts';
import {
  type Context,
  type Draft,
  type DraftTurn,
  gatherTurns,
  messageOf,
  note,
  regather,
} from './sanitize/sanitize-draft.ts';
import { fromCompaction, limitSize, newestMessages } from './sanitize/sanitize-limits.ts';
import { limitMedia } from './sanitize/sanitize-media.ts';
import { pairCalls } from './sanitize/sanitize-pairs.ts';
import { carrySystems, fixEnds, placeSystems, splitRoles } from './sanitize/sanitize-roles.ts';
import { pairServerTools } from './sanitize/sanitize-server-tools.ts';
import { readMessages, uniqueBlocks } from './sanitize/sanitize-shapes.ts';
import { cleanThinking, dropThinking } from './sanitize/sanitize-thinking.ts';
import { hideSpilled } from './sanitize/spilled-blocks.ts';
import { tellAsText } from './sanitize/tell-as-text.ts';

export interface SanitizeOptions {
  readonly model: string;
  /** Tools of the request; where given, references to others become text. */
  readonly tools?: readonly unknown[];
  /**
   * The history was not made by this service. Thinking after a repair was then produced after something else than what is
   * sent now; our own was produced after the very same repair, as repairs are made from the data alone.
   */
  readonly isForeign?: boolean;
}

export interface SanitizeResult {
  /** Empty where nothing is left to send: the model must not be called. */
  readonly messages: readonly Message[];
  readonly repairs: readonly Repair[];
  /** Text of system messages that stood before all others: it belongs into the request's `system`. */
  readonly system?: string;
}

/** The sanitised history. Never throws, whatever the values are. */
export function sanitizeMessages(given: readonly Message[], options: SanitizeOptions): SanitizeResult {
  if (!Array.isArray(given)) return { messages: [], repairs: [] };
  if (given.length === 0) return { messages: given, repairs: [] };
  const { messages, restore } = hideSpilled(given);
  if (isPlainlySound(messages)) return { messages: given, repairs: [] };
  const faults = findHistoryFaults({ ...options, messages });
  if (faults.length === 0) return { messages: given, repairs: [] };
  const context: Context = {
    facts: modelFacts(options.model),
    broken: new Set(faults.map((fault) => fault.rule)),
    tools: options.tools,
    repairs: [],
  };
  const repaired = repair(messages, context, options.isForeign ?? false);
  const isSound = repaired.messages.length === 0 || findHistoryFaults({ ...options, ...repaired }).length === 0;
  const result = isSound ? repaired : { ...repaired, messages: tellAsText(messages, context) };
  return { ...result, messages: restore(result.messages), repairs: context.repairs };
}

function repair(messages: readonly unknown[], context: Context, isForeign: boolean): Omit<SanitizeResult, 'repairs'> {
  const read = newestMessages(uniqueBlocks(readMessages(messages, context)), context);
  const compacted = fromCompaction(read, context);
  const clean = compacted.map((draft) => cleanDraft(draft, context));
  const split = carrySystems(splitRoles(cleanThinking(clean, context), context), context);
  for (const draft of split) {
    if (draft.blocks.length === 0) note(context, 'message.empty', draft.source, 'an empty message was left out');
  }
  const { leading, turns } = gatherTurns(limitSize(limitMedia(split, context), context));
  const paired = pairServerTools(pairCalls(turns, context), context);
  const bound = isForeign ? dropUnboundThinking(paired, context) : paired;
  const final = placeSystems(fixEnds(bound, context), context);
  if (leading.length > 0) note(context, 'system.placement', leading[0]?.source ?? 0, 'text moved to the system prompt');
  const system = leading.flatMap((draft) => draft.blocks.map((block) => String(block.text))).join('\n\n');
  return { messages: final.map(messageOf), ...(system === '' ? {} : { system }) };
}

/** Repairs after which the model saw what is sent now, or that come behind all thinking. */
const HARMLESS = /^(text\.empty|message\.(empty|prefill|content_type)|thinking\.|cache\.|tool_result\.not_first)/;

function dropUnboundThinking(turns: readonly DraftTurn[], context: Context): readonly DraftTurn[] {
  if (!context.facts.bindsThinking) return turns;
  const sources = context.repairs.filter((r) => !HARMLESS.test(r.rule)).map((r) => Number(r.path.split('.')[1]));
  const first = sources.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const drop = (draft: Draft) => (draft.source > first ? dropThinking(draft, context) : draft);
  return regather(turns.map((turn) => ({ ...turn, drafts: turn.drafts.map(drop) })));
}
