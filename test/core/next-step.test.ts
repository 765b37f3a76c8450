// Control flow as rows: a log and an inbox, and the step that follows.

import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../shared/types/limits.ts';
import {
  agent,
  bench,
  custom,
  event,
  message,
  result,
  says,
  session,
  started,
  T0,
  text,
  toolset,
  toolUse,
} from './builders.ts';

const kinds = (step: { entries?: readonly { kind: string }[] }) => step.entries?.map((e) => e.kind);

describe('a turn', () => {
  it('starts with all queued messages and calls the model', () => {
    const b = bench();
    expect(b.step()).toEqual({ kind: 'wait' });
    expect(kinds(b.take([says('a'), says('b')]) as never)).toEqual(['turn_started', 'input', 'input']);
    expect(b.step()).toEqual({ kind: 'call_model', attempt: 1, waitMs: 0 });
    expect(b.state().messages.map((m) => m.role)).toEqual(['user', 'user']);
  });

  it('ends when the model has said all it has to say', () => {
    const b = bench();
    b.take([says('hi')]);
    b.log(started, message(3, [text('hello')]));
    expect(b.take()).toMatchObject({ kind: 'end', outcome: { kind: 'completed' } });
    expect(b.state().turnOpen).toBe(false);
    expect(b.step()).toEqual({ kind: 'wait' });
  });

  it('answers all calls of one answer in one user message, by id and in the order of the model', () => {
    const b = bench();
    b.take([says('hi')]);
    b.log(started, message(3, [toolUse('t1'), toolUse('t2')], 'tool_use'));
    expect(kinds(b.take() as never)).toEqual(['decided']);
    expect(b.step()).toMatchObject({ kind: 'run_tools', calls: [{ toolUseId: 't1' }, { toolUseId: 't2' }] });
    b.log(result('t2', 3, 1), result('t1', 3, 0));
    expect(
      b
        .state()
        .messages.at(-1)
        ?.content.map((c) => c.tool_use_id),
    ).toEqual(['t1', 't2']);
    expect(b.step()).toMatchObject({ kind: 'call_model' });
  });

  it('refuses what is unknown or switched off, and goes on', () => {
    const b = bench();
    b.take([says('hi')]);
    b.log(started, message(3, [toolUse('t1', 'nonsense')], 'tool_use'));
    b.take();
    expect(b.take()).toMatchObject({ kind: 'append', entries: [{ kind: 'tool_result', isError: true }] });
    expect(b.step()).toMatchObject({ kind: 'call_model' });
  });

  it('never runs again an unsafe call that a dead worker had started', () => {
    const b = bench();
    b.take([says('hi')]);
    b.log(started, message(3, [toolUse('t1', 'bash'), toolUse('t2', 'read')], 'tool_use'));
    b.take();
    b.log({ kind: 'tool_started', toolUseIds: ['t1', 't2'] as never });
    const lost = b.take();
    expect(lost).toMatchObject({ kind: 'append', entries: [{ toolUseId: 't1', isError: true }] });
    expect(JSON.stringify(lost)).toContain('unknown');
    expect(b.step()).toMatchObject({ kind: 'run_tools', calls: [{ toolUseId: 't2' }] });
  });

  it('closes a model call that a dead worker left open', () => {
    const b = bench();
    b.take([says('hi')]);
    b.log(started);
    expect(b.take()).toMatchObject({ kind: 'append', entries: [{ kind: 'model_failed', reason: 'lost' }] });
    expect(b.step()).toMatchObject({ kind: 'call_model', attempt: 2 });
  });
});

describe('how a turn ends', () => {
  const ended = (stopReason: string, extra: object = {}) => {
    const b = bench();
    b.take([says('hi')]);
    b.log(started, { ...message(3, [text('x')], stopReason), ...extra } as never);
    return b.step();
  };
  it.each([
    ['end_turn', {}, 'completed'],
    ['stop_sequence', {}, 'completed'],
    ['max_tokens', {}, 'completed'],
    ['max_tokens', { callCut: true }, 'failed'],
    ['refusal', { stopDetails: { category: 'cyber', explanation: 'no' } }, 'refused'],
    ['model_context_window_exceeded', {}, 'failed'],
    ['something_new', {}, 'completed'],
  ])('%s %j → %s', (stopReason, extra, kind) => {
    expect(ended(stopReason, extra)).toMatchObject({ kind: 'end', outcome: { kind } });
  });

  it('pause_turn asks the model again', () => {
    expect(ended('pause_turn')).toMatchObject({ kind: 'call_model' });
  });

  it('each limit has its own reason', () => {
    const b = bench(session({ reprise: { limits: { model_calls: 1 } } }));
    b.take([says('hi')]);
    b.log(started, message(3, [toolUse('t1')], 'tool_use'));
    b.take();
    b.log(result('t1', 3, 0));
    expect(b.step()).toMatchObject({ kind: 'end', outcome: { kind: 'limit', limit: 'model_calls', value: 1 } });
    const slow = bench();
    slow.take([says('hi')]);
    expect(slow.step([], T0 + LIMITS.turnWallClockMs)).toMatchObject({
      outcome: { kind: 'limit', limit: 'wall_clock' },
    });
    expect(slow.step([], T0, { ...LIMITS, turnTokensMax: 0 })).toMatchObject({
      outcome: { kind: 'limit', limit: 'tokens' },
    });
  });

  it('waits before another attempt, and gives up when told so', () => {
    const b = bench();
    b.take([says('hi')]);
    b.log(started, { kind: 'model_failed', modelSeq: 3, reason: 'error', retry: 'retrying', waitMs: 700 });
    expect(b.step([], T0 + 200)).toEqual({ kind: 'call_model', attempt: 2, waitMs: 500 });
    b.log(started, {
      kind: 'model_failed',
      modelSeq: 5,
      reason: 'error',
      retry: 'exhausted',
      error: { type: 'billing_error', message: 'm' },
    });
    expect(b.step()).toMatchObject({
      kind: 'end',
      outcome: { kind: 'retries_exhausted', error: { type: 'billing_error' } },
    });
  });
});

describe('what the client must answer', () => {
  const asking = () => {
    const b = bench(session({ agent: agent([toolset('always_ask'), custom('lookup')]) }));
    b.take([says('hi')]);
    b.log(started, message(3, [toolUse('t1', 'bash'), toolUse('t2', 'lookup')], 'tool_use'));
    b.take();
    return b;
  };
  const ids = (b: ReturnType<typeof bench>) => b.state().calls.map((c) => c.eventId);

  it('pauses the turn, naming every open call', () => {
    const b = asking();
    expect(b.take()).toMatchObject({ kind: 'end', outcome: { kind: 'requires_action', eventIds: ids(b) } });
    expect(b.step([says('more')])).toEqual({ kind: 'wait' });
  });

  it('names the rest after a partial answer, and goes on after the last', () => {
    const b = asking();
    b.take();
    const [ask, own] = ids(b);
    const answer = event({ type: 'user.custom_tool_result', custom_tool_use_id: own as never, content: [text('42')] });
    expect(b.take([answer])).toMatchObject({ kind: 'end', outcome: { kind: 'requires_action', eventIds: [ask] } });
    const allow = event({ type: 'user.tool_confirmation', tool_use_id: ask as never, result: 'allow' });
    expect(kinds(b.take([allow]) as never)).toEqual(['turn_started', 'input']);
    expect(b.step()).toMatchObject({ kind: 'run_tools', calls: [{ toolUseId: 't1' }] });
    b.log(result('t1', 3, 0));
    expect(b.state().messages.at(-1)?.content).toHaveLength(2);
  });

  it('tells the model why a call was denied', () => {
    const b = asking();
    b.take();
    const [ask, own] = ids(b);
    b.take([
      event({ type: 'user.tool_confirmation', tool_use_id: ask as never, result: 'deny', deny_message: 'not today' }),
      event({ type: 'user.custom_tool_result', custom_tool_use_id: own as never }),
    ]);
    expect(JSON.stringify(b.take())).toContain('not today');
    expect(b.step()).toMatchObject({ kind: 'call_model' });
  });
});

describe('interrupt', () => {
  const stop = () => event({ type: 'user.interrupt' });
  it('has no effect on an idle session but is taken', () => {
    const b = bench();
    expect(kinds(b.take([stop()]) as never)).toEqual(['input']);
  });
  it('ends an open turn, answers its calls, and leaves later messages for the next turn', () => {
    const b = bench();
    b.take([says('hi')]);
    b.log(started, message(3, [toolUse('t1')], 'tool_use'));
    const inbox = [stop(), says('next')];
    expect(kinds(b.take(inbox) as never)).toEqual(['decided']);
    const end = b.take(inbox);
    expect(end).toMatchObject({ kind: 'end', outcome: { kind: 'interrupted' } });
    expect(kinds(end as never)).toEqual(['tool_result', 'input', 'turn_ended']);
    expect(kinds(b.take(inbox.slice(1)) as never)).toEqual(['turn_started', 'input']);
  });
  it('takes what was accepted before it as a turn without a model call', () => {
    const b = bench();
    const end = b.take([says('hi'), stop()]);
    expect(kinds(end as never)).toEqual(['turn_started', 'input', 'input', 'turn_ended']);
    expect(b.step()).toEqual({ kind: 'wait' });
  });
  it('prefers an answer that the client gave', () => {
    const b = bench(session({ agent: agent([custom('lookup')]) }));
    b.take([says('hi')]);
    b.log(started, message(3, [toolUse('t1', 'lookup')], 'tool_use'));
    b.take();
    b.take();
    const id = b.state().calls[0]?.eventId as never;
    const inbox = [event({ type: 'user.custom_tool_result', custom_tool_use_id: id, content: [text('42')] }), stop()];
    expect(b.take(inbox)).toMatchObject({
      kind: 'append',
      entries: [{ kind: 'input', event: { type: 'user.custom_tool_result' } }],
    });
    expect(JSON.stringify(b.state().messages.at(-1))).toContain('42');
  });
});

describe('money', () => {
  it('stops before the next call at the cap, holds messages back, and goes on when the cap is lifted', () => {
    const b = bench(session({ budget: { maxListCostCents: 1 } }));
    b.take([says('hi')]);
    const usage = {
      input_tokens: 10_000_000,
      output_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation_input_tokens: 0,
    };
    b.log(started, { ...message(3, [toolUse('t1')], 'tool_use'), usage } as never);
    b.take();
    b.log(result('t1', 3, 0));
    expect(b.take()).toMatchObject({ kind: 'end', outcome: { kind: 'budget_reached' } });
    expect(b.step([says('more')])).toEqual({ kind: 'wait' });
    b.take([event({ type: 'control.update', change: { budget: { maxListCostCents: 1_000_000 } } })]);
    expect(b.take()).toMatchObject({ kind: 'append', entries: [{ kind: 'turn_started', continues: true }] });
    expect(b.step()).toMatchObject({ kind: 'call_model' });
  });
});

it('merges metadata when a change is applied, so that of two side by side neither undoes the other', () => {
  const b = bench(session({ metadata: { kept: '1', gone: '1' } }));
  const inbox = [
    event({ type: 'control.update', change: {}, metadataPatch: { x: '1', gone: null } }),
    event({ type: 'control.update', change: {}, metadataPatch: { y: '2' } }),
  ];
  b.take(inbox);
  b.take(inbox.slice(1));
  expect(b.state().metadata).toEqual({ kept: '1', x: '1', y: '2' });
});
