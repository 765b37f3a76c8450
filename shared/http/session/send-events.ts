// A send: checked against the session, made durable in one write, then answered. A repeated Idempotency-Key gets the same answer.

import { readIdempotency } from '../../log/idempotency.ts';
import type { AcceptOutcome, IdempotencyKey, SessionSnapshot } from '../../turn/engine-types.ts';
import { ServiceError } from '../../types/errors.ts';
import type { EventId, SessionId } from '../../types/ids.ts';
import type { ClientEvent, InboxEvent } from '../../types/log.ts';
import type { ContentBlock } from '../../types/message.ts';
import { canonical } from '../../wire/common.ts';
import type { ClientEventInput, SendEvents } from '../../wire/events/client-events.ts';
import { queuedEvent } from '../../wire/events/events.ts';
import type { WireEvent } from '../../wire/events/wire-event.ts';
import { type Asker, notFound } from '../find.ts';
import { logDeps } from '../service.ts';
import { stampOf } from './change-session.ts';
import { checkEvents } from './check-events.ts';
import { prepareBlocks, shrinkBlocks, type Target } from './prepare-content.ts';

export interface SentAnswer {
  readonly data: readonly WireEvent[];
  readonly reprise?: { readonly waiting_for: readonly EventId[] };
}

export interface Sent {
  readonly answer: SentAnswer;
  /** Ids of the accepted events. */
  readonly ids: readonly string[];
  /** The log's end when they were accepted: what follows them comes after it. */
  readonly afterSeq: number;
  /** True where this is the stored answer of an earlier request with the same key. */
  readonly repeated: boolean;
}

interface StoredAnswer {
  readonly answer: SentAnswer;
  readonly afterSeq: number;
}

/** Checks the header's form. Throws a 400. */
export function idempotencyKeyOf(header: string | undefined, charsMax: number): string | null {
  if (header === undefined || header === '') return null;
  if (header.length <= charsMax && /^[\x21-\x7e]+$/.test(header)) return header;
  const message = `idempotency-key: must be 1 to ${charsMax} printable ASCII characters (idempotencyKeyCharsMax)`;
  const details = { field: 'idempotency-key', limit: 'idempotencyKeyCharsMax', limit_value: charsMax };
  throw new ServiceError('invalid_request', message, details);
}

/** The stored answer under the key, or null where it is new. A 422 where it was used for another request. */
export async function repeatedSend(
  { service, caller }: Asker,
  key: string | null,
  fingerprint: string,
): Promise<Sent | null> {
  if (key === null) return null;
  const { store, clock } = logDeps(service, caller.tenant);
  const record = await readIdempotency(store, key, clock.now());
  return record ? replay(record.fingerprint, record.answer, fingerprint) : null;
}

function replay(stored: string, value: unknown, fingerprint: string): Sent {
  if (stored !== fingerprint) {
    const message = 'idempotency-key: was used with another request';
    throw new ServiceError('idempotency_mismatch', message, { field: 'idempotency-key' });
  }
  const { answer, afterSeq } = value as StoredAnswer;
  return { answer, afterSeq, ids: answer.data.map((e) => e.id), repeated: true };
}

/** Hash of what makes two requests the same. */
export const fingerprintOf = ({ service }: Asker, session: SessionId, body: SendEvents): string =>
  service.ports.hashing.sha256(`events ${session} ${canonical(body)}`);

/** Throws what the client is to hear: 400, 404, 422, 429. When it resolves the events are durable and the work is on its way. */
export async function sendEvents(
  target: Target,
  snapshot: SessionSnapshot,
  body: SendEvents,
  idempotency: { readonly key: string | null; readonly fingerprint: string },
): Promise<Sent> {
  const onBusy = body.reprise?.on_busy ?? 'queue';
  const { claims, waitingFor } = checkEvents(snapshot, body.events, onBusy);
  const busy = snapshot.status !== 'idle' || waitingFor.length > 0;
  const interrupt: readonly InboxEvent[] =
    onBusy === 'interrupt' && busy ? [{ type: 'user.interrupt', ...stampOf(target.service) }] : [];
  const prepared = await Promise.all(body.events.map((event, i) => prepareEvent(target, event, i, onBusy === 'steer')));
  const stored = await fitInbox(target, [...interrupt, ...prepared.map((p) => p.stored)]);
  const shown = [...interrupt, ...prepared.map((p) => p.shown)];
  const behind = onBusy === 'interrupt' ? [] : waitingFor;
  const answer: SentAnswer = {
    data: shown.flatMap(queuedEvent),
    ...(behind.length > 0 ? { reprise: { waiting_for: behind } } : {}),
  };
  const { lastSeq } = snapshot.state;
  const outcome = await target.service.engine.accept({
    tenant: target.caller.tenant,
    session: target.session,
    sessionRev: snapshot.sessionRev,
    events: stored,
    open: snapshot.inbox.length,
    claims: claims.map(({ index, call }) => ({ call, event: (prepared[index] as PreparedEvent).stored.id })),
    ...idempotencyOf(idempotency, answer, lastSeq),
  });
  const repeated = readOutcome(target, outcome, idempotency.fingerprint);
  return repeated ?? { answer, ids: stored.map((e) => e.id), afterSeq: lastSeq, repeated: false };
}

function idempotencyOf(
  { key, fingerprint }: { readonly key: string | null; readonly fingerprint: string },
  answer: SentAnswer,
  afterSeq: number,
): { readonly idempotency?: IdempotencyKey } {
  return key === null ? {} : { idempotency: { key, fingerprint, answer: { answer, afterSeq } satisfies StoredAnswer } };
}

function readOutcome({ service, session }: Target, outcome: AcceptOutcome, fingerprint: string): Sent | null {
  switch (outcome.kind) {
    case 'accepted':
      return null;
    case 'repeated':
      return replay(outcome.fingerprint, outcome.answer, fingerprint);
    case 'deleted':
      throw notFound('session', session);
    case 'claimed':
      throw new ServiceError('invalid_request', `events: the call ${outcome.call} has an answer already`);
    case 'full': {
      const max = service.ports.limits.inboxEventsMax;
      const details = { field: 'events', limit: 'inboxEventsMax', limit_value: max };
      throw new ServiceError('rate_limited', `events: ${max} events are queued already (inboxEventsMax)`, details, 1);
    }
    default:
      return outcome satisfies never;
  }
}

interface PreparedEvent {
  readonly stored: InboxEvent;
  readonly shown: InboxEvent;
}

async function prepareEvent(
  target: Target,
  event: ClientEventInput,
  index: number,
  steer: boolean,
): Promise<PreparedEvent> {
  const stamp = stampOf(target.service);
  const withContent = async (
    make: (content: readonly ContentBlock[]) => ClientEvent,
    given: readonly ContentBlock[],
  ) => {
    const { stored, shown } = await prepareBlocks(target, given, `events[${index}].content`);
    return { stored: { ...make(stored), ...stamp }, shown: { ...make(shown), ...stamp } };
  };
  const plain = (made: ClientEvent): PreparedEvent => ({ stored: { ...made, ...stamp }, shown: { ...made, ...stamp } });
  switch (event.type) {
    case 'user.message':
      return withContent((content) => ({ type: event.type, content, ...(steer ? { steer } : {}) }), event.content);
    case 'system.message':
      return withContent((content) => ({ type: event.type, content }), event.content);
    case 'user.interrupt':
      return plain({ type: event.type });
    case 'user.tool_confirmation': {
      const { tool_use_id, result, deny_message, reprise } = event;
      const more = {
        ...(deny_message ? { deny_message } : {}),
        ...(reprise?.input ? { reprise: { input: reprise.input } } : {}),
      };
      return plain({ type: event.type, tool_use_id: tool_use_id as EventId, result, ...more });
    }
    case 'user.custom_tool_result': {
      const { custom_tool_use_id, content, is_error } = event;
      const fields = { custom_tool_use_id: custom_tool_use_id as EventId, is_error: is_error ?? false };
      return withContent(
        (blocks) => ({ type: event.type, ...fields, content: blocks }),
        (content ?? []).filter(isNotEmpty),
      );
    }
    case 'user.tool_result':
    case 'user.define_outcome':
      throw new TypeError(`${event.type} was refused before`);
    default:
      return event satisfies never;
  }
}

const isNotEmpty = (block: ContentBlock): boolean => block.type !== 'text' || block.text !== '';

/** One send is one item: where its events are too large together, more of their blocks go to the blob store. */
async function fitInbox(target: Target, events: readonly InboxEvent[]): Promise<readonly InboxEvent[]> {
  const { appendBytesMax } = target.service.ports.limits;
  const content = (e: InboxEvent): readonly ContentBlock[] => ('content' in e ? (e.content ?? []) : []);
  const blocks = events.flatMap(content);
  if (blocks.length < 4 || JSON.stringify(blocks).length * 3 <= appendBytesMax) return events;
  return Promise.all(
    events.map(async (e) => ('content' in e ? { ...e, content: await shrinkBlocks(target, content(e)) } : e)),
  );
}
