// It lasts: after kill -9 between turns and a restart on the same directory, everything is as if nothing had happened.

import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import {
  agentText,
  createSession,
  customTool,
  listAll,
  only,
  runTurn,
  TOOLSET,
  userText,
} from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();

const restarts = {
  'kill -9': () => harness.service.kill9().then(() => harness.service.restart()),
  SIGTERM: () => harness.service.restart(),
} as const;

describe.each(Object.entries(restarts))('%s between turns', (_how, restart) => {
  test('list, history, files, shell and the next turn are as before', async () => {
    model.script(
      answer([
        call('bash', {
          command:
            'mkdir -p /workspace/d && cd /workspace/d && export COLOR=blue && printf "\\x00\\x01\\xff" > bin; sha256sum bin',
        }),
        call('write', { file_path: '/mnt/session/outputs/report.md', content: '# Report ü\n' }),
      ]),
      text('Written.'),
    );
    const id = await createSession(
      client(),
      { tools: [TOOLSET], system: 'Be brief.' },
      { title: 'Kept', metadata: { a: 'b' } },
    );
    const first = JSON.stringify(only(await runTurn(client(), id, userText('go')), 'agent.tool_result'));
    const digest = /[0-9a-f]{64}/.exec(first)?.[0] ?? 'no digest';
    const before = {
      session: await client().beta.sessions.retrieve(id),
      events: await listAll(client(), id),
      files: (await client().beta.files.list({ scope_id: id })).data,
      agents: (await client().beta.agents.list()).data,
    };
    const requests = model.takeRequests();

    await restart();

    // How long it exists goes on counting; nothing else may differ.
    const { stats: _now, ...session } = await client().beta.sessions.retrieve(id);
    const { stats: _then, ...sessionBefore } = before.session;
    expect(session).toEqual(sessionBefore);
    expect(await listAll(client(), id)).toEqual(before.events);
    expect((await client().beta.files.list({ scope_id: id })).data).toEqual(before.files);
    expect((await client().beta.agents.list()).data).toEqual(before.agents);

    model.script(
      answer([call('bash', { command: 'pwd; echo $COLOR; sha256sum bin; cat /mnt/session/outputs/report.md' })]),
      text('Read.'),
    );
    const events = await runTurn(client(), id, userText('and now?'));
    const seen = JSON.stringify(only(events, 'agent.tool_result'));
    expect(seen).toContain('/workspace/d');
    expect(seen).toContain('blue');
    expect(seen).toContain(digest);
    expect(seen).toContain('# Report ü');
    expect(agentText(events)).toBe('Read.');

    // What the model was sent before stands byte for byte at the start of what it is sent now (marks aside).
    const [next] = model.takeRequests();
    const plain = (value: unknown) =>
      JSON.stringify(value, (key, v: unknown) => (key === 'cache_control' ? undefined : v));
    const last = requests.at(-1)?.body;
    expect(plain(next?.body.system)).toBe(plain(last?.system));
    expect(plain(next?.body.tools)).toBe(plain(last?.tools));
    const old = last?.messages ?? [];
    expect(old.length).toBeGreaterThan(2);
    expect(next?.body.messages.slice(0, old.length).map(plain)).toEqual(old.map(plain));
    expect(Object.keys(next?.body ?? {})).toEqual(Object.keys(last ?? {}));
  });

  test('an open custom call waits on and can be answered after', async () => {
    model.script(answer([call('weather', { city: 'Oslo' }, 'toolu_k')]), text('Cold.'));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    const [use] = only(await runTurn(client(), id, userText('go')), 'agent.custom_tool_use');
    await client().beta.sessions.events.send(id, { events: [userText('queued behind it')] });
    // The message woke a worker that found nothing to do; killed in that moment, its lease would have to run out first.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await restart();
    const queued = only(await listAll(client(), id), 'user.message').filter((e) => e.processed_at === null);
    expect(queued).toHaveLength(1);
    model.script(text('And the other.'));
    const answered = {
      type: 'user.custom_tool_result' as const,
      custom_tool_use_id: use?.id ?? '',
      content: [{ type: 'text' as const, text: '-5' }],
    };
    let said = '';
    await runTurn(client(), id, answered, {
      until: (e) => {
        said += agentText([e]);
        return e.type === 'session.status_idle' && said.includes('And the other.');
      },
    });
    expect(said).toContain('Cold.');
  });
});

test('a message accepted right before kill -9 is answered after the restart, by itself', async () => {
  model.script(text('Never delivered.', { delayMs: 5000 }), text('Answered after all.'));
  const id = await createSession(client());
  await client().beta.sessions.events.send(id, { events: [userText('do not lose me')] });
  await harness.service.kill9();
  await harness.service.restart();
  const deadline = Date.now() + 25_000;
  let said = '';
  while (said === '' && Date.now() < deadline) {
    said = agentText(await listAll(client(), id));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(said).toMatch(/Answered after all\.|Never delivered\./);
  expect(only(await listAll(client(), id), 'user.message').every((e) => e.processed_at !== null)).toBe(true);
  model.dropScript();
}, 40_000);

test('a lost answer is no lost or doubled message: an Idempotency-Key holds over kill -9', async () => {
  model.script(text('Once.'));
  const id = await createSession(client());
  const post = (words: string) =>
    harness.request(`/v1/sessions/${id}/events`, {
      method: 'POST',
      headers: { 'idempotency-key': 'job-1' },
      body: JSON.stringify({ events: [userText(words)] }),
    });
  const first = (await (await post('only once')).json()) as { data: { id: string }[] };
  const end = Date.now() + 10_000;
  while (agentText(await listAll(client(), id)) === '' && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await harness.service.kill9();
  await harness.service.restart();
  const again = (await (await post('only once')).json()) as { data: { id: string }[] };
  expect(again.data[0]?.id).toBe(first.data[0]?.id);
  expect((await post('something else')).status).toBe(422);
  expect(only(await listAll(client(), id), 'user.message')).toHaveLength(1);
});
