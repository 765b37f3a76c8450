// Follow and wait: from message to the end of the turn in one request.

import { describe, expect, test } from 'vitest';
import { eventOf, readFrames } from '../support/frames.ts';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import {
  agentText,
  createSession,
  listAll,
  only,
  type StreamedEvent,
  TOOLSET,
  typesOf,
  userText,
  waitFor,
} from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url, env: { REPRISE_HEARTBEAT_MS: '300' } });
const client = () => harness.client();

const send = (session: string, ...words: string[]) =>
  client().beta.sessions.events.send(session, { events: words.map(userText) });
function scriptTwoRounds(): void {
  model.script(
    answer([
      { type: 'text', text: 'Looking.' },
      call('bash', { command: 'echo 1' }),
      call('bash', { command: 'echo 2' }),
    ]),
    answer([call('bash', { command: 'cat /nothing' })]),
    text('That was it.'),
  );
}

describe('Follow', () => {
  const follow = (session: string, words: string, query = '', headers: Record<string, string> = {}) =>
    harness.request(`/v1/sessions/${session}/events${query}`, {
      method: 'POST',
      headers: { accept: 'text/event-stream', ...headers },
      body: JSON.stringify({ events: [userText(words)] }),
    });

  test('one request from message to idle, beginning with the echo, ending by itself', async () => {
    scriptTwoRounds();
    const id = await createSession(client(), { tools: [TOOLSET] });
    const response = await follow(id, 'go', '?event_deltas[]=agent.message');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = (await readFrames(response, () => false)).map(eventOf);
    expect(events[0]).toMatchObject({ type: 'user.message', processed_at: null });
    expect(typesOf(events)).toContain('event_delta');
    expect(events.at(-1)).toMatchObject({ type: 'session.status_idle', stop_reason: { type: 'end_turn' } });
    expect(only(events, 'session.status_idle')).toHaveLength(1);
    expect(agentText(events)).toBe('Looking.\nThat was it.');
  });

  test('twice in a row on one session', async () => {
    model.script(text('One.'), text('Two.'));
    const id = await createSession(client());
    const texts: string[] = [];
    for (const words of ['1', '2']) {
      texts.push(agentText((await readFrames(await follow(id, words), () => false)).map(eventOf)));
    }
    expect(texts).toEqual(['One.', 'Two.']);
  });

  test('while another turn runs it reads along to the end of its own', async () => {
    model.script(text('First.', { delayMs: 500 }), text('Second.'));
    const id = await createSession(client());
    await send(id, 'one');
    await waitFor('the first request', () => (model.seen() > 0 ? true : undefined));
    const events = (await readFrames(await follow(id, 'two'), () => false)).map(eventOf);
    expect(agentText(events)).toBe('First.\nSecond.');
    expect(events.at(-1)?.type).toBe('session.status_idle');
  });

  test('whoever leaves in mid-answer stops nothing', async () => {
    model.script(text('Said to nobody, piece by piece.', { chunkChars: 2, paceMs: 20 }));
    const id = await createSession(client());
    await readFrames(await follow(id, 'go', '?event_deltas[]=agent.message'), (frames) =>
      frames.some((frame) => eventOf(frame).type === 'event_delta'),
    );
    await waitFor('the end', async () => {
      const said = agentText(await listAll(client(), id));
      return said === 'Said to nobody, piece by piece.' ? said : undefined;
    });
  });

  test('a wrong event is a JSON 400, not a stream', async () => {
    const id = await createSession(client());
    const response = await harness.request(`/v1/sessions/${id}/events`, {
      method: 'POST',
      headers: { accept: 'text/event-stream' },
      body: JSON.stringify({ events: [{ type: 'user.message', content: [] }] }),
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ type: 'error' });
  });

  test('Prefer: wait answers JSON when idle, with session and events', async () => {
    model.script(text('Waited for.'));
    const id = await createSession(client());
    const response = await harness.request(`/v1/sessions/${id}/events`, {
      method: 'POST',
      headers: { prefer: 'wait=20' },
      body: JSON.stringify({ events: [userText('go')] }),
    });
    expect(response.status).toBe(200);
    const body = (await response.json()) as {
      data: StreamedEvent[];
      reprise: { session: object; events: StreamedEvent[] };
    };
    expect(body.data).toMatchObject([{ type: 'user.message' }]);
    expect(body.reprise.session).toMatchObject({ id, status: 'idle' });
    expect(agentText(body.reprise.events)).toBe('Waited for.');
    expect(body.reprise.events.at(-1)?.type).toBe('session.status_idle');
  });

  test('Prefer: wait is over before the turn: 202 with the echo, and the turn goes on', async () => {
    model.script(text('Late.', { delayMs: 2000 }));
    const id = await createSession(client());
    const response = await harness.request(`/v1/sessions/${id}/events`, {
      method: 'POST',
      headers: { prefer: 'wait=1' },
      body: JSON.stringify({ events: [userText('go')] }),
    });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ data: [{ type: 'user.message' }] });
    await waitFor('idle', async () =>
      (await client().beta.sessions.retrieve(id)).status === 'idle' ? true : undefined,
    );
    expect(agentText(await listAll(client(), id))).toBe('Late.');
  });
});
