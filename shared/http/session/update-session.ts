// What an update of a session changes, as one value for the holder; null where nothing would change. Pure.

import { mergeMetadata } from '../../core/merge-metadata.ts';
import type { SessionSnapshot } from '../../turn/engine-types.ts';
import { ServiceError } from '../../types/errors.ts';
import type { ControlEvent, SessionChange } from '../../types/log.ts';
import type { SessionState } from '../../types/turn.ts';
import { resolveTools } from '../../wire/agent-tools.ts';
import { sameJson } from '../../wire/common.ts';
import { tooMany } from '../../wire/limits.ts';
import type { UpdateSession } from '../../wire/sessions.ts';
import { budgetOf } from '../../wire/usage.ts';
import { pendingState } from './change-session.ts';

const wrong = (field: string, message: string, code?: string): ServiceError =>
  new ServiceError('invalid_request', `${field}: ${message}`, { field, ...(code ? { error_code: code } : {}) });

const MICRO_CENTS_PER_CENT = 1_000_000;

type Update = Extract<ControlEvent, { type: 'control.update' }>;

/** Throws a 400 that names the field. */
export function updateOf(snapshot: SessionSnapshot, body: UpdateSession): Update | null {
  const state = pendingState(snapshot);
  if (state.archivedAt !== null) throw new ServiceError('invalid_request', 'the session is archived and read-only');
  const change: SessionChange = {
    ...titleOf(state, body),
    ...agentOf(state, snapshot, body),
    ...budgetChange(state, body),
  };
  const patch = metadataPatchOf(state, body);
  if (Object.keys(change).length === 0 && !patch) return null;
  return { type: 'control.update', change, ...(patch ? { metadataPatch: patch } : {}) };
}

const titleOf = (state: SessionState, { title }: UpdateSession): SessionChange =>
  title === undefined || title === state.title ? {} : { title };

/** The patch itself goes into the log's change: it is merged when it is applied. */
function metadataPatchOf(state: SessionState, { metadata: patch }: UpdateSession): Update['metadataPatch'] {
  const merged = mergeMetadata(state.metadata, patch);
  if (merged === null) throw tooMany('metadata', 'metadataPairsMax', 'pairs', 'invalid_metadata');
  return !patch || sameJson(merged, state.metadata) ? undefined : patch;
}

/** Full replacement of the list, for this session alone, from the next turn on. */
function agentOf(state: SessionState, snapshot: SessionSnapshot, { agent }: UpdateSession): SessionChange {
  if (agent === undefined || agent.tools === undefined) return {};
  if (snapshot.status !== 'idle')
    throw wrong('agent', `can change only while the session is idle; it is ${snapshot.status}`);
  const tools = resolveTools(agent.tools ?? []);
  return sameJson(tools, state.agent.tools) ? {} : { agent: { ...state.agent, tools } };
}

/** A cap can be raised above what was consumed, or removed for good; never added later. */
function budgetChange(state: SessionState, { budget }: UpdateSession): SessionChange {
  if (budget === undefined) return {};
  if (budget === null) return state.budget === null ? {} : { budget: null };
  if (state.budget === null) throw wrong('budget', 'can only be set when the session is created', 'budget_create_only');
  const next = budgetOf(budget);
  if (next.maxListCostCents === state.budget.maxListCostCents) return {};
  if (next.maxListCostCents * MICRO_CENTS_PER_CENT <= state.totals.costMicroCents) {
    throw wrong(
      'budget.max_list_cost.amount',
      'must be more than what the session has cost so far',
      'budget_not_raised',
    );
  }
  return { budget: next };
}
