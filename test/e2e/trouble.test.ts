// What may go wrong in a turn: a model that fails or refuses, and limits, each with its own end; the session stays usable.

import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, httpError, text, useModel } from '../support/model.ts';
import { previews } from '../support/previews.ts';
import { agentText, createSession, only, runTurn, TOOLSET, userText, waitFor } from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();

describe('model trouble', () => {
  test('an overload is retried by itself, shown as retrying, and the answer comes', async () => {
    model.script(httpError(529, 'overloaded_error'), text('After all.'));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'));
    expect(only(events, 'session.error')).toMatchObject([
      { error: { type: 'model_overloaded_error', retry_status: { type: 'retrying' } } },
    ]);
    expect(only(events, 'span.model_request_end').map((e) => e.is_error)).toEqual([true, false]);
    expect(agentText(events)).toBe('After all.');
  });

  test('a cut stream is retried: the first preview ends without its event, the retry has a new id', async () => {
    model.script(text('Half an answer', { cut: true }), text('A whole answer.'));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'), { eventDeltas: ['agent.message'] });
    const starts = only(events, 'event_start').map((e) => e.event.id);
    expect(new Set(starts).size).toBe(starts.length);
    const [message, ...more] = only(events, 'agent.message');
    expect(more).toEqual([]);
    expect(message?.id).toBe(starts.at(-1));
    expect(agentText(events)).toBe('A whole answer.');
    expect(previews(events).get(message?.id ?? '')).toBe('A whole answer.');
  });

  test('a wrong key ends the turn at once, clearly; the session stays usable', async () => {
    model.script(httpError(401, 'authentication_error'), text('Back again.'));
    const id = await createSession(client());
    const events = await runTurn(client(), id, userText('go'));
    expect(only(events, 'session.error')).toMatchObject([{ error: { retry_status: { type: 'exhausted' } } }]);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'retries_exhausted' } });
    expect(model.takeRequests()).toHaveLength(1);
    expect(agentText(await runTurn(client(), id, userText('again')))).toBe('Back again.');
  });

  test('a refusal has its own stop reason with details', async () => {
    model.script(text('I cannot.', { stopReason: 'refusal' }));
    const events = await runTurn(client(), await createSession(client()), userText('go'));
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'refusal' }, stop_details: { type: 'refusal' } });
  });

  test('max_tokens inside a call: the call neither runs nor enters the history', async () => {
    const half = { type: 'tool_use', name: 'bash', id: 'toolu_half', json: '{"command": "echo ran > /works' } as const;
    model.script(answer([{ type: 'text', text: 'Trying.' }, half], { stopReason: 'max_tokens' }), text('Next.'));
    model.script(text('Spare.'), text('Spare.'));
    const id = await createSession(client(), { tools: [TOOLSET] });
    const events = await runTurn(client(), id, userText('go'));
    expect(only(events, 'agent.tool_result').filter((r) => !r.is_error)).toEqual([]);
    await runTurn(client(), id, userText('again'));
    for (const { body } of model.takeRequests()) expect(JSON.stringify(body.messages)).not.toContain('toolu_half');
    model.dropScript();
  });
});

describe('limits', () => {
  test('model calls: the turn ends with its own reason and the session stays usable', async () => {
    const again = () => answer([call('bash', { command: 'true' })]);
    model.script(again(), again(), again());
    const agent = { tools: [TOOLSET], reprise: { limits: { model_calls: 2 } } };
    const id = await createSession(client(), agent);
    const events = await runTurn(client(), id, userText('go'));
    expect(model.takeRequests()).toHaveLength(2);
    expect(only(events, 'session.error')).toMatchObject([{ error: { type: 'tool_use_limit_reached_error' } }]);
    expect(JSON.stringify(only(events, 'session.error'))).toMatch(/model.calls/i);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'retries_exhausted' } });
    model.dropScript();
    model.script(text('Fresh.'));
    expect(agentText(await runTurn(client(), id, userText('next')))).toBe('Fresh.');
  });

  test('tokens: counted over the turn, the next request is not made', async () => {
    const usage = { input_tokens: 900, output_tokens: 200 };
    model.script(answer([call('bash', { command: 'true' })], { usage }), text('never'));
    const id = await createSession(client(), { tools: [TOOLSET], ...{ reprise: { limits: { tokens: 1000 } } } });
    const events = await runTurn(client(), id, userText('go'));
    expect(model.takeRequests()).toHaveLength(1);
    expect(JSON.stringify(only(events, 'session.error'))).toMatch(/tokens/i);
    model.dropScript();
  });

  test('wall clock: a turn that takes too long is ended with that reason', async () => {
    model.script(answer([call('bash', { command: 'true' })], { delayMs: 1200 }), text('never', { delayMs: 1200 }));
    const limits = { reprise: { limits: { wall_clock_seconds: 1 } } };
    const id = await createSession(client(), { tools: [TOOLSET], ...limits });
    const events = await runTurn(client(), id, userText('go'));
    expect(JSON.stringify(only(events, 'session.error'))).toMatch(/wall.clock/i);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'retries_exhausted' } });
    model.dropScript();
    await waitFor('idle', async () =>
      (await client().beta.sessions.retrieve(id)).status === 'idle' ? true : undefined,
    );
  });
});
