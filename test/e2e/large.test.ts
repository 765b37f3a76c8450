// Large things on their way through: a message of megabytes, a long tool output, both still whole after kill -9.

import { expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import { agentText, createSession, listAll, only, runTurn, TOOLSET, userText } from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();

test('a message of 6 MB and 1.3 MB of tool output: streamed, listed, kept, sent to the model unchanged', async () => {
  const large = 'ü'.repeat(3_000_000);
  model.script(text('Got it.'), answer([call('bash', { command: 'seq 1 200000' })]), text('Counted.'));
  const id = await createSession(client(), { tools: [TOOLSET] });
  const first = await runTurn(client(), id, userText(large));
  expect(agentText(first)).toBe('Got it.');
  expect(only(first, 'user.message').map((event) => event.content)).toEqual([
    [{ type: 'text', text: large }],
    [{ type: 'text', text: large }],
  ]);

  const second = await runTurn(client(), id, userText('count'));
  expect(agentText(second)).toBe('Counted.');
  const output = JSON.stringify(only(second, 'agent.tool_result')[0]?.content);
  expect(output.length).toBeGreaterThan(50_000);
  expect(output.length).toBeLessThan(200_000);

  const before = await listAll(client(), id);
  await harness.service.kill9();
  await harness.service.restart();
  expect(await listAll(client(), id)).toEqual(before);
  const path = /\/(?:workspace|mnt|tmp)\/[\w./-]+/.exec(output)?.[0];
  expect(path, 'the model is told where the whole output lies').toBeDefined();
  model.script(answer([call('bash', { command: `tail -n 1 ${path}` })]), text('Still there.'));
  const third = await runTurn(client(), id, userText('last line?'));
  expect(JSON.stringify(only(third, 'agent.tool_result'))).toContain('200000');
  const [sent] = model.takeRequests().slice(-1);
  expect(sent?.body.messages[0]?.content[0]?.text === large, 'the message is as it was').toBe(true);
});
