// Threads: every session has its primary one, and its events are the session's own.

import { afterAll, afterEach, expect, test } from 'vitest';
import { text } from '../core/builders.ts';
import { answers } from '../turn/harness.ts';
import { readFrames, says, startHttp, typesOf } from './harness.ts';

const http = startHttp();
afterAll(() => http.close());
afterEach(() => expect(http.failures.splice(0)).toEqual([]));

interface Page {
  readonly data: Record<string, unknown>[];
  readonly next_page: string | null;
}

test('the primary thread is listed and shown; its events and stream are those of the session', async () => {
  http.script(answers([text('hi')]));
  const id = await http.session();
  const path = `/v1/sessions/${id}`;
  await http.call('POST', `${path}/events`, { events: [says('go')] });
  await http.idle(id);
  const { body: session } = await http.call('GET', path);
  const { body: events } = await http.call<Page>('GET', `${path}/events`);
  const thread = events.data.find((e) => e.type === 'session.thread_status_idle')?.session_thread_id;

  const { body: listed } = await http.call<Page>('GET', `${path}/threads`);
  const { agent, status, usage, created_at, archived_at } = session as Record<string, unknown>;
  expect(listed).toMatchObject({
    data: [
      {
        ...{ id: thread, type: 'session_thread', session_id: id, parent_thread_id: null, workflow_run_id: null },
        ...{ agent, status, usage, created_at, archived_at },
      },
    ],
    next_page: null,
  });
  const own = `${path}/threads/${thread}`;
  expect((await http.call('GET', own)).body).toMatchObject({ id: thread, status: 'idle' });
  expect((await http.call('GET', `${own}/events`)).body).toEqual(events);
  const frames = await readFrames(await http.request('GET', `${own}/stream?after=1-0`), 'session.status_idle');
  expect(typesOf(frames)).toEqual(events.data.slice(1).map((e) => e.type));

  const running = await http.call<Page>('GET', `${path}/threads?statuses[]=running`);
  expect(running.body.data).toEqual([]);
  expect((await http.call('GET', `${path}/threads?page=x`)).status).toBe(400);
});

test('another thread is a 404, archiving one is not there yet', async () => {
  const id = await http.session();
  const other = `sthr_${(await http.session()).slice('sesn_'.length)}`;
  for (const path of ['', '/events', '/stream']) {
    expect((await http.call('GET', `/v1/sessions/${id}/threads/${other}${path}`)).status).toBe(404);
  }
  const archive = await http.call<{ error: { message: string } }>(
    'POST',
    `/v1/sessions/${id}/threads/${other}/archive`,
  );
  expect([archive.status, archive.body.error.message]).toEqual([400, 'not yet supported: session threads']);
});
