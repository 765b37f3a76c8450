// Many sessions at once, interrupted, changed and killed in mid-turn: whatever happened, each history is whole and each session
// usable, and the model never sees a history that it would refuse.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createScriptedModel } from '../../shared/adapters/scripted-model/server.ts';
import { checkRequest } from '../../shared/core/check-request.ts';
import { useHarness } from '../support/harness.ts';
import { call } from '../support/model.ts';
import {
  agentText,
  createSession,
  listAll,
  only,
  runTurn,
  type StreamedEvent,
  TOOLSET,
  userText,
  waitFor,
} from '../support/sessions.ts';

/** Each message is worked on in two model calls: three tool calls first, then words. */
const model = createScriptedModel({
  check: checkRequest,
  delayMs: 1,
  script: ({ messages }) => {
    const last = messages.at(-1)?.content;
    if (Array.isArray(last) && last.some((block) => block.type === 'tool_result')) return { blocks: ['Done.'] };
    const file_path = '/workspace/x';
    const calls = [
      call('read', { file_path }),
      call('write', { file_path, content: 'x' }),
      call('glob', { pattern: '*' }),
    ];
    return { blocks: ['On it.', ...calls] };
  },
});
let modelUrl = '';
beforeAll(async () => {
  modelUrl = (await model.listen()).url;
});
afterAll(() => model.close());

const harness = useHarness({ modelUrl: () => modelUrl });
const client = () => harness.client();
const makeSessions = (count: number) =>
  Promise.all(Array.from({ length: count }, () => createSession(client(), { tools: [TOOLSET] })));
const send = (session: string, words: string) =>
  client().beta.sessions.events.send(session, { events: [userText(words)] });
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function expectWhole(events: readonly StreamedEvent[], messages: number): void {
  const ids = events.map((event) => ('id' in event ? event.id : ''));
  expect(new Set(ids).size).toBe(ids.length);
  const sent = only(events, 'user.message');
  expect(sent).toHaveLength(messages);
  expect(sent.every((event) => event.processed_at)).toBe(true);
  const uses = only(events, 'agent.tool_use').map((event) => event.id);
  const results = only(events, 'agent.tool_result').map((event) => event.tool_use_id);
  expect(results.toSorted()).toEqual(uses.toSorted());
  const starts = only(events, 'span.model_request_start').map((event) => event.id);
  expect(only(events, 'span.model_request_end').map((event) => event.model_request_start_id)).toEqual(starts);
  expect(only(events, 'session.status_idle')).toHaveLength(only(events, 'session.status_running').length);
}

async function expectSound(session: string, messages: number): Promise<void> {
  await waitFor(
    `${session} to be idle`,
    async () => ((await client().beta.sessions.retrieve(session)).status === 'idle' ? true : undefined),
    60_000,
  );
  expectWhole(await listAll(client(), session), messages);
  expect(agentText(await runTurn(client(), session, userText('last')))).toContain('Done.');
  expect(model.refusals).toEqual([]);
}

test('thirty sessions with messages, interrupts and changes at any moment', async () => {
  const sessions = await makeSessions(30);
  const play = async (session: string, index: number) => {
    for (let round = 0; round < 4; round += 1) {
      await send(session, `message ${round}`);
      await pause((index * 7 + round * 13) % 120);
      if ((index + round) % 3 === 0) {
        await client().beta.sessions.events.send(session, { events: [{ type: 'user.interrupt' }] });
      }
      if ((index + round) % 4 === 0) await client().beta.sessions.update(session, { title: `title ${round}` });
    }
  };
  await Promise.all(sessions.map(play));
  for (const session of sessions) await expectSound(session, 4);
}, 120_000);

test('eight sessions over four kills at different moments of their turns', async () => {
  const sessions = await makeSessions(8);
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(sessions.map((session) => send(session, `round ${round}`)));
    await pause(5 + round * 23);
    await harness.service.kill9();
    await harness.service.restart();
  }
  for (const session of sessions) await expectSound(session, 4);
}, 120_000);
