// Creating under an Idempotency-Key: the same request twice makes one thing and has one answer. The key is reserved first, so
// that two requests at once are one; a reservation that a dead process left ends by itself.

import { type IdempotencyRecord, idempotencyWrite, liveRecord } from '../../log/idempotency.ts';
import { idempotencyKey } from '../../log/keys.ts';
import { ServiceError } from '../../types/errors.ts';
import { canonical } from '../../wire/common.ts';
import { json, type RouteRequest } from '../route.ts';
import { logDeps } from '../service.ts';
import { idempotencyKeyOf } from './send-events.ts';

const RESERVED_MS = 60_000;
const RETRY_SECONDS = 1;

/** The answer of `make` (JSON, status 200); without the header it is just made. `what` names the route. */
export async function answerOnce(request: RouteRequest, what: string, make: () => Promise<unknown>): Promise<Response> {
  const { service, caller, body } = request;
  const { idempotencyKeyCharsMax, idempotencyTtlMs } = service.ports.limits;
  const key = idempotencyKeyOf(request.header('idempotency-key'), idempotencyKeyCharsMax);
  if (key === null) return json(request, await make());
  const { store, clock, ids } = logDeps(service, caller.tenant);
  const record = { key, fingerprint: service.ports.hashing.sha256(`${what} ${canonical(body)}`) };
  const stood = await reserve(request, { ...record, answer: PENDING });
  if ('answer' in stood) return json(request, stood.answer);
  try {
    const answer = await make();
    const until = clock.now() + idempotencyTtlMs;
    await store.putAll([idempotencyWrite({ ...record, answer }, ids.nonce(), until, stood.rev)]);
    return json(request, answer);
  } catch (error) {
    await store.delete(idempotencyKey(key), { rev: stood.rev });
    throw error;
  }
}

const PENDING = null;

/** The reservation's rev, or the answer of an earlier request. A 422 for another request, a 409 for one still at work. */
async function reserve(
  { service, caller }: RouteRequest,
  record: IdempotencyRecord,
): Promise<{ readonly rev: string } | { readonly answer: unknown }> {
  const { store, clock, ids } = logDeps(service, caller.tenant);
  const rev = ids.nonce();
  let replaces: string | undefined;
  for (;;) {
    const now = clock.now();
    const put = await store.putAll([idempotencyWrite(record, rev, now + RESERVED_MS, replaces)]);
    if (put.ok || put.current?.rev === rev) return { rev };
    const stands = put.current && liveRecord(record.key, put.current, now);
    if (stands) return answerOf(stands, record.fingerprint);
    replaces = put.current?.rev;
  }
}

function answerOf(stands: IdempotencyRecord, fingerprint: string): { readonly answer: unknown } {
  const details = { field: 'idempotency-key' };
  if (stands.fingerprint !== fingerprint) {
    throw new ServiceError('idempotency_mismatch', 'idempotency-key: was used with another request', details);
  }
  if (stands.answer === PENDING) {
    const message = 'idempotency-key: the first request with it is still at work';
    throw new ServiceError('conflict', message, details, RETRY_SECONDS);
  }
  return { answer: stands.answer };
}
