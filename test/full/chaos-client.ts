// A client that outlives the service: it sends until it is told that a message is accepted, answers what it is asked, and reads
// one stream over many connections, each going on behind the last SSE id that it saw.

import { setTimeout as sleep } from 'node:timers/promises';
import { readSse } from '../support/sse.ts';
import type { Random } from './random.ts';

export interface SeenEvent {
  readonly id: string;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** Where the service can be reached; another address each time, where it has several processes. */
export interface Door {
  readonly url: string;
  readonly apiKey: string;
}

export interface ChaosClient {
  readonly session: string;
  /** Events with an SSE id, as they came over all connections. */
  readonly seen: readonly { readonly sse: string; readonly event: SeenEvent }[];
  /** Ids of accepted messages. */
  readonly accepted: readonly string[];
  /** Answers that no healthy or dying service may give. */
  readonly faults: readonly string[];
  connections(): number;
  /** Resolves once the message is accepted. */
  send(text: string): Promise<void>;
  interrupt(): Promise<void>;
  list(): Promise<readonly SeenEvent[]>;
  status(): Promise<string>;
  close(): Promise<void>;
}

const RETRY_MS = 40;
const REQUEST_MS = 15_000;
const LEAVE_SHARE = 0.05;

type Body = Readonly<Record<string, unknown>>;

interface Answered {
  readonly status: number;
  readonly text: string;
}

/** null where no whole answer came. */
async function ask(door: Door, path: string, init: RequestInit): Promise<Answered | null> {
  try {
    const response = await fetch(`${door.url}${path}`, { ...init, signal: AbortSignal.timeout(REQUEST_MS) });
    return { status: response.status, text: await response.text() };
  } catch {
    return null;
  }
}

/** Asks again while the service is away or busy; any other refusal is thrown. */
export async function request(door: Door, path: string, body?: Body, key?: string): Promise<Body> {
  const headers = {
    'x-api-key': door.apiKey,
    'content-type': 'application/json',
    ...(key === undefined ? {} : { 'idempotency-key': key }),
  };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  for (;;) {
    const answered = await ask(door, path, init);
    if (answered?.status === 200) return JSON.parse(answered.text) as Body;
    if (answered !== null && answered.status < 500 && ![409, 429].includes(answered.status)) {
      throw new Error(`${path} ${JSON.stringify(body ?? null).slice(0, 200)}: ${answered.status} ${answered.text}`);
    }
    await sleep(RETRY_MS);
  }
}

/** Begins to read the session's stream, and leaves it now and then between two frames; resolves when the first connection stands. */
export async function startClient(door: Door, session: string, random: Random): Promise<ChaosClient> {
  const seen: { sse: string; event: SeenEvent }[] = [];
  const accepted: string[] = [];
  const faults: string[] = [];
  const stop = new AbortController();
  const path = `/v1/sessions/${session}/events`;
  let connections = 0;
  let sends = 0;
  const connected = Promise.withResolvers<void>();

  const post = async (event: Body, key: string): Promise<readonly SeenEvent[]> => {
    const answer = await request(door, path, { events: [event] }, `${session}-${key}`);
    return answer.data as readonly SeenEvent[];
  };
  /** Allows the calls that an idle session waits for. */
  const confirm = async (event: SeenEvent): Promise<void> => {
    const reason = event.stop_reason as { readonly type: string; readonly event_ids?: readonly string[] };
    for (const call of reason.event_ids ?? []) {
      await post({ type: 'user.tool_confirmation', tool_use_id: call, result: 'allow' }, `confirm-${call}`);
    }
  };
  const readOnce = async (): Promise<void> => {
    const last = seen.at(-1)?.sse;
    const response = await fetch(`${door.url}${path}/stream`, {
      headers: { 'x-api-key': door.apiKey, ...(last === undefined ? {} : { 'last-event-id': last }) },
      signal: stop.signal,
    });
    if (response.status !== 200) {
      if (response.status < 500) faults.push(`stream behind ${last}: ${response.status} ${await response.text()}`);
      return;
    }
    connections++;
    connected.resolve();
    for await (const { id, data } of readSse(response)) {
      if (id === undefined) continue;
      const event = JSON.parse(data) as SeenEvent;
      seen.push({ sse: id, event });
      if (event.type === 'session.status_idle') confirm(event).catch((error) => faults.push(String(error)));
      if (random.share(LEAVE_SHARE)) return;
    }
  };
  const reading = (async () => {
    while (!stop.signal.aborted) {
      await readOnce().catch(() => {}); // the service was killed; whatever was lost shows in the ids
      await sleep(RETRY_MS);
    }
  })();
  await connected.promise;

  return {
    session,
    seen,
    accepted,
    faults,
    connections: () => connections,
    async send(text) {
      const message = { type: 'user.message', content: [{ type: 'text', text }] };
      const [event] = await post(message, `send-${sends++}`);
      accepted.push(event?.id ?? 'none');
    },
    async interrupt() {
      await post({ type: 'user.interrupt' }, `interrupt-${sends++}`);
    },
    async list() {
      const events: SeenEvent[] = [];
      for (let page: string | null = ''; page !== null; ) {
        const answer: Body = await request(door, `${path}?limit=1000${page === '' ? '' : `&page=${page}`}`);
        events.push(...(answer.data as readonly SeenEvent[]));
        page = (answer.next_page ?? null) as string | null;
      }
      return events;
    },
    status: async () => String((await request(door, `/v1/sessions/${session}`)).status),
    async close() {
      stop.abort();
      await reading;
    },
  };
}
