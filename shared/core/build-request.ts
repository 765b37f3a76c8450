// The body of one Messages request. Fields stand in a fixed order and messages come last, so a longer history has the
// shorter one's bytes as its prefix; cache marks are set here, at most four, and never stored.

import type { Message } from '../types/message.ts';
import type { AgentSnapshot } from '../types/session.ts';
import type { Fields } from './facts/fields.ts';
import { modelFacts } from './facts/model-facts.ts';
import { MARK, markTurns, withoutMarks } from './request/cache-marks.ts';
import { chainHash, type Hash, hashText, hexOf, NO_HASH } from './request/hash-text.ts';

/** The request body; assignable to what the model port takes. */
export interface MessagesRequest {
  readonly model: string;
  readonly max_tokens: number;
  readonly thinking?: Fields;
  readonly output_config?: Fields;
  readonly system?: readonly Fields[];
  readonly tools?: readonly Fields[];
  readonly messages: readonly Message[];
  readonly [field: string]: unknown;
}

export interface RequestParts {
  readonly agent: Pick<AgentSnapshot, 'model' | 'system'>;
  /** Sanitised. */
  readonly messages: readonly Message[];
  /** In the API's shape and a stable order. */
  readonly tools: readonly object[];
  readonly maxTokens: number;
}

/**
 * The request for the next model call. Marks: the end of the system prompt (or of the tools, where there is none) and the
 * ends of the last two user turns, of which one is where the request before this had its own.
 */
export function buildRequest({ agent, messages, tools, maxTokens }: RequestParts): MessagesRequest {
  const facts = modelFacts(agent.model.id);
  const { system } = agent;
  const hasSystem = system !== null && system.trim() !== '';
  const { effort, inference_geo: geo } = agent.model;
  return {
    model: agent.model.id,
    max_tokens: maxTokens,
    ...(facts.thinkingTypes.includes('adaptive') ? { thinking: { type: 'adaptive' } } : {}),
    ...(effort !== null && facts.effort ? { output_config: { effort } } : {}),
    ...(geo === undefined ? {} : { inference_geo: geo }),
    ...(hasSystem ? { system: [{ type: 'text', text: system, cache_control: MARK }] } : {}),
    ...(tools.length > 0 ? { tools: toolsOf(tools, !hasSystem) } : {}),
    messages: markTurns(messages),
  };
}

const toolsOf = (tools: readonly object[], marked: boolean): readonly Fields[] =>
  tools.map((tool, i) => ({ ...tool, ...(marked && i === tools.length - 1 ? { cache_control: MARK } : {}) }));

const memo = new WeakMap<Message, Hash>();

/**
 * A hash of what a request says, cache marks and output limit aside: sixteen hex digits over model, thinking, effort,
 * system, tools and messages as they are written. Each message object is hashed once, so that a longer history costs
 * only its new messages.
 */
export function fingerprintRequest(request: {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly [field: string]: unknown;
}): string {
  const { model, thinking, output_config, system, tools } = request;
  const head = { model, thinking, output_config, system: withoutMarks(system), tools: withoutMarks(tools) };
  let chain = hashText(JSON.stringify(head), NO_HASH);
  for (const message of request.messages) chain = chainHash(chain, hashMessage(message));
  return hexOf(chain);
}

function hashMessage(message: Message): Hash {
  const known = memo.get(message);
  if (known) return known;
  const hash = hashText(JSON.stringify({ role: message.role, content: withoutMarks(message.content) }));
  memo.set(message, hash);
  return hash;
}
