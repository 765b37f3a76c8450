// The state of a session is a fold of its log: pure, total, linear in what is new. An entry of unknown kind is skipped.
// Arrays and maps are copied at most once per `foldAll`, so folding a whole log costs O(log).

import type { EntryBody, EntryOf, InboxEvent, LogEntry } from '../types/log.ts';
import { type ContentBlock, isText, NO_TOTALS } from '../types/message.ts';
import type { Session } from '../types/session.ts';
import type { SessionState } from '../types/turn.ts';
import { callsOf, setResult } from './fold/fold-calls.ts';
import { countUsage, startCounters } from './fold/fold-counters.ts';
import { fileOfResource } from './fold/fold-resources.ts';
import { applyRuntimeEntry } from './fold/fold-runtime.ts';
import { type Draft, pushInput, pushMessage, startWork, type Work } from './fold/fold-work.ts';

/** Where a session starts: no entries, the files of its resources in place. */
export function initialState(session: Session): SessionState {
  return {
    session,
    agent: session.agent,
    title: session.title,
    metadata: session.metadata,
    budget: session.budget,
    resources: session.resources,
    mode: session.reprise.permission_mode ?? session.agent.reprise.permission_mode ?? null,
    archivedAt: null,
    updatedAt: session.createdAt,
    lastSeq: 0,
    epoch: 0,
    messages: [],
    calls: [],
    turnOpen: false,
    turnStartedAt: null,
    counters: null,
    openModel: null,
    lastStop: null,
    lastFailure: null,
    lastOutcome: null,
    toolsOffered: null,
    lastRepairs: [],
    totals: NO_TOTALS,
    inputs: [],
    files: new Map(session.resources.map((r) => [r.mountPath, fileOfResource(r)])),
    shell: { cwd: '/workspace', exports: {} },
  };
}

/** The state after `entries`, which must continue `state.lastSeq`. */
export function foldAll(state: SessionState, entries: readonly LogEntry[]): SessionState {
  const work = startWork(state);
  for (const entry of entries) {
    applyEntry(work, entry);
    work.draft.lastSeq = entry.seq;
    work.draft.epoch = Math.max(work.draft.epoch, entry.epoch);
    work.draft.updatedAt = entry.at;
  }
  return work.draft;
}

/** Entries as they will stand in the log when bodies are appended after `state`. */
export function placeEntries(
  state: SessionState,
  bodies: readonly EntryBody[],
  epoch: number,
  at: LogEntry['at'],
): LogEntry[] {
  return bodies.map((body, i) => ({ ...body, v: 1, seq: state.lastSeq + 1 + i, epoch, at }));
}

function applyEntry(work: Work, entry: LogEntry): void {
  const d = work.draft;
  switch (entry.kind) {
    case 'turn_started':
      d.turnOpen = true;
      d.turnStartedAt = entry.at;
      d.counters = startCounters(d.counters, entry);
      d.lastStop = entry.continues ? d.lastStop : null;
      d.lastFailure = null;
      d.lastOutcome = null;
      return;
    case 'resumed':
      d.turnStartedAt = entry.at;
      return;
    case 'input':
      pushInput(work, entry.event.id, entry.seq);
      applyInput(work, entry.event);
      return;
    case 'model_started':
      d.openModel = { seq: entry.seq, attempt: entry.attempt, model: entry.model };
      d.lastStop = null;
      d.lastFailure = null;
      return;
    case 'message':
      applyMessage(work, entry);
      return;
    case 'model_failed':
      applyModelFailed(d, entry);
      return;
    case 'decided':
      d.calls = d.calls.map((call) => {
        const to = entry.calls.find((c) => c.toolUseId === call.toolUseId);
        return to ? { ...call, kind: to.kind, decision: to.decision, reason: to.reason, input: to.input } : call;
      });
      return;
    case 'tool_started':
      d.calls = d.calls.map((call) => (entry.toolUseIds.includes(call.toolUseId) ? { ...call, started: true } : call));
      return;
    case 'tool_result':
      setResult(work, (c) => c.toolUseId === entry.toolUseId, { content: entry.content, isError: entry.isError });
      return;
    case 'turn_ended':
      applyTurnEnded(d, entry);
      return;
    default:
      applyRuntimeEntry(work, entry);
  }
}

function applyInput(work: Work, event: InboxEvent): void {
  switch (event.type) {
    case 'user.message':
      pushMessage(work, { role: 'user', content: event.content });
      return;
    case 'system.message':
      pushMessage(work, { role: 'system', content: event.content });
      return;
    case 'user.tool_confirmation': {
      const confirmation = { result: event.result, message: event.deny_message ?? null };
      work.draft.calls = work.draft.calls.map((call) =>
        call.eventId === event.tool_use_id
          ? { ...call, confirmation, input: event.reprise?.input ?? call.input }
          : call,
      );
      return;
    }
    case 'user.custom_tool_result':
      setResult(work, (c) => c.eventId === event.custom_tool_use_id, resultOf(event));
      return;
    case 'user.tool_result':
      setResult(work, (c) => c.eventId === event.tool_use_id, resultOf(event));
      return;
    default:
      return; // interrupts and controls change nothing by themselves: the entries beside them do
  }
}

const resultOf = (event: { content?: readonly ContentBlock[]; is_error?: boolean }) => ({
  content: event.content ?? [],
  isError: event.is_error ?? false,
});

function applyMessage(work: Work, entry: EntryOf<'message'>): void {
  const d = work.draft;
  const refused = entry.stopReason === 'refusal'; // partial output of a refusal is discarded (rules 10)
  const content = entry.content.some(isBlankText) ? entry.content.filter((b) => !isBlankText(b)) : entry.content;
  if (content.length > 0 && !refused) pushMessage(work, { role: 'assistant', content });
  d.openModel = null;
  d.calls = refused ? [] : callsOf(d.session.id, entry);
  d.lastStop = {
    stopReason: entry.stopReason,
    category: entry.stopDetails?.category ?? null,
    explanation: entry.stopDetails?.explanation ?? null,
    cut: entry.cut ?? false,
    callCut: entry.callCut ?? false,
    hadCalls: d.calls.length > 0,
  };
  countUsage(d, entry.usage, entry.model);
  if (d.counters) d.counters = { ...d.counters, modelCalls: d.counters.modelCalls + 1, attempts: 0, waitedMs: 0 };
}

/** Models answer with blank texts now and then, and the API takes none back (rules 4). */
const isBlankText = (block: ContentBlock): boolean => isText(block) && block.text.trim() === '';

function applyModelFailed(d: Draft, entry: EntryOf<'model_failed'>): void {
  const model = d.openModel?.model ?? d.agent.model.id;
  d.openModel = null;
  d.lastFailure = {
    retry: entry.retry ?? null,
    reason: entry.reason,
    error: entry.error ?? null,
    waitMs: entry.waitMs ?? 0,
    at: entry.at,
  };
  if (entry.usage) countUsage(d, entry.usage, model);
  const counted = entry.reason === 'error' || entry.reason === 'lost';
  if (d.counters && counted) {
    d.counters = {
      ...d.counters,
      attempts: d.counters.attempts + 1,
      waitedMs: d.counters.waitedMs + (entry.waitMs ?? 0),
    };
  }
}

function applyTurnEnded(d: Draft, entry: EntryOf<'turn_ended'>): void {
  const active = d.turnStartedAt === null ? 0 : Math.max(0, entry.at - d.turnStartedAt);
  const pauses = entry.outcome.kind === 'requires_action' || entry.outcome.kind === 'budget_reached';
  d.counters = pauses && d.counters ? { ...d.counters, activeMs: d.counters.activeMs + active } : null;
  d.turnOpen = false;
  d.turnStartedAt = null;
  d.openModel = null;
  d.lastFailure = null;
  d.lastOutcome = entry.outcome;
  d.totals = entry.totals;
}
