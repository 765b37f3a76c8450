// Tool calls in a turn: all answered by id and in order, failures told to the model, both faces, what the shell keeps.

import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import { agentText, createSession, only, runTurn, TOOLSET, userText } from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();

describe('tools', () => {
  test('several calls of one answer are answered in one user message, by id, in order', async () => {
    model.script(
      answer([
        { type: 'text', text: 'Looking.' },
        call('write', { file_path: '/workspace/a.txt', content: 'alpha\n' }, 'toolu_a'),
        call('bash', { command: 'cat /workspace/a.txt' }, 'toolu_b'),
        call('read', { file_path: '/workspace/missing.txt' }, 'toolu_c'),
        call('bash', { command: 'exit 3' }, 'toolu_d'),
      ]),
      text('Done.'),
    );
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });

    const uses = only(events, 'agent.tool_use');
    expect(uses.map((u) => [u.name, u.evaluated_permission])).toEqual([
      ['write', 'allow'],
      ['bash', 'allow'],
      ['read', 'allow'],
      ['bash', 'allow'],
    ]);
    const results = only(events, 'agent.tool_result');
    expect(results.map((r) => r.tool_use_id).toSorted()).toEqual(uses.map((u) => u.id).toSorted());
    for (const result of results) expect(Array.isArray(result.content)).toBe(true);
    const resultOf = (n: number) => results.find((r) => r.tool_use_id === uses[n]?.id);
    expect(JSON.stringify(resultOf(1)?.content)).toContain('alpha');
    expect(resultOf(2)?.is_error).toBe(true);
    expect(resultOf(3)?.is_error).toBe(true);

    const [, second] = model.takeRequests();
    const last = second?.body.messages.at(-1);
    expect(last?.role).toBe('user');
    expect(last?.content.map((b) => b.tool_use_id)).toEqual(['toolu_a', 'toolu_b', 'toolu_c', 'toolu_d']);
    expect(last?.content.map((b) => b.is_error === true)).toEqual([false, false, true, true]);
  });

  test.each([
    ['an unknown tool', call('teleport', { to: 'moon' }, 'toolu_x')],
    ['a wrong input', call('read', { file: 7 }, 'toolu_x')],
    ['a path outside', call('read', { file_path: '/workspace/../../etc/shadow' }, 'toolu_x')],
  ])('%s is an is_error result and the turn goes on', async (_what, wrong) => {
    model.script(answer([wrong]), text('I see.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    expect(agentText(events)).toBe('I see.');
    const [, second] = model.takeRequests();
    expect(second?.body.messages.at(-1)?.content).toMatchObject([{ tool_use_id: 'toolu_x', is_error: true }]);
  });

  test('an input that is broken JSON: the model is asked again, nothing of it runs or enters the history', async () => {
    const broken = { type: 'tool_use', name: 'bash', id: 'toolu_x', json: '{"command": "echo ran' } as const;
    model.script(answer([broken]), text('Asked again.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    expect(agentText(events)).toBe('Asked again.');
    expect(only(events, 'agent.tool_result').filter((r) => !r.is_error)).toEqual([]);
    const [first, second] = model.takeRequests();
    expect(second?.body.messages.slice(0, first?.body.messages.length)).toEqual(first?.body.messages);
  });

  test('directory and exported variables are kept between calls, also after exit', async () => {
    model.script(
      answer([call('bash', { command: 'mkdir -p /workspace/d && cd /workspace/d && export COLOR=blue && exit 0' })]),
      answer([call('bash', { command: 'pwd; echo $COLOR' })]),
      text('Done.'),
    );
    const id = await createSession(client(), { tools: [TOOLSET] });
    const results = only(await runTurn(client(), id, userText('go')), 'agent.tool_result');
    expect(JSON.stringify(results[1]?.content)).toMatch(/\/workspace\/d.*blue/);
  });

  test("Claude Code's face: its names and schemas, Read by absolute path with offset and limit", async () => {
    const lines = Array.from({ length: 9 }, (_, n) => `line ${n + 1}`).join('\n');
    model.script(
      answer([
        call('Write', { file_path: '/workspace/a.txt', content: lines }),
        call('Read', { file_path: '/workspace/a.txt', offset: 3, limit: 2 }),
        call('Read', { file_path: 'a.txt' }),
      ]),
      text('Done.'),
    );
    const toolset = { ...TOOLSET, reprise: { face: 'claude_code' } };
    const id = await createSession(client(), { tools: [toolset] });
    const events = await runTurn(client(), id, userText('go'));
    const results = only(events, 'agent.tool_use').map((use) =>
      only(events, 'agent.tool_result').find((result) => result.tool_use_id === use.id),
    );
    const read = JSON.stringify(results[1]?.content);
    expect(read).toContain('line 3');
    expect(read).toContain('line 4');
    expect(read).not.toContain('line 5');
    expect(results.map((r) => r?.is_error)).toEqual([false, false, true]);
    const offered = model.takeRequests()[0]?.body.tools?.map((t) => t.name);
    expect(offered).toEqual(expect.arrayContaining(['Bash', 'Read', 'Write', 'Edit', 'Glob', 'Grep']));
    expect(offered).not.toContain('bash');
  });
});
