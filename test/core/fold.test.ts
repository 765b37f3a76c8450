// Folding: incrementally or at once, the same state; nothing before it is changed; unknown kinds are skipped.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldAll, initialState, placeEntries } from '../../shared/core/fold.ts';
import type { EntryBody } from '../../shared/types/log.ts';
import { runs } from '../support/property-runs.ts';
import { event, message, result, says, session, started, T0, TURN, text, toolUse } from './builders.ts';

const turn = { kind: 'turn_started', turnId: TURN } as const;
const input = (t: string): EntryBody => ({ kind: 'input', event: says(t) });
const saved = (path: string, gone = false): EntryBody => ({
  kind: 'workspace_saved',
  changes: [
    [path as never, gone ? null : ({ sha256: 'x', size: 1, mode: 0o644, mtimeMs: 0, blob: 'b', offset: 0 } as never)],
  ],
  shell: { cwd: '/workspace/sub', exports: { A: '1' } },
});
const bodies: EntryBody[] = [
  turn,
  input('a'),
  started,
  message(3, [text('x'), toolUse('t1')], 'tool_use'),
  saved('/workspace/a'),
  result('t1', 3, 1),
  started,
  message(7, [text('y')]),
  { kind: 'turn_ended', turnId: TURN, outcome: { kind: 'completed' }, totals: initialState(session()).totals },
  saved('/workspace/a', true),
  {
    kind: 'session_updated',
    inputId: event({ type: 'control.archive' }).id,
    change: { title: 't', metadata: { k: 'v' } },
  },
];
const log = placeEntries(initialState(session()), bodies, 1, T0);

describe('foldAll', () => {
  it('gives the same state in any number of steps, and leaves earlier states alone', () => {
    const whole = foldAll(initialState(session()), log);
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: log.length, maxLength: log.length }), (cuts) => {
        let state = initialState(session());
        let part: typeof log = [];
        const seen: { state: typeof state; json: string }[] = [];
        for (const [i, entry] of log.entries()) {
          part = [...part, entry];
          if (!cuts[i] && i < log.length - 1) continue;
          state = foldAll(state, part);
          seen.push({ state, json: show(state) });
          part = [];
        }
        expect(state).toEqual(whole);
        for (const s of seen) expect(show(s.state)).toBe(s.json);
      }),
      { numRuns: runs(50) },
    );
  });

  it('skips kinds that it does not know and keeps the position', () => {
    const odd = placeEntries(initialState(session()), [{ kind: 'of_a_later_version', x: 1 } as never, turn], 3, T0);
    expect(foldAll(initialState(session()), odd)).toMatchObject({ lastSeq: 2, epoch: 3, turnOpen: true });
  });

  it('discards what a refused answer said, and never keeps an empty answer', () => {
    const state = foldAll(
      initialState(session()),
      placeEntries(initialState(session()), [turn, input('a'), started, message(3, [text('no')], 'refusal')], 1, T0),
    );
    expect(state.messages.map((m) => m.role)).toEqual(['user']);
    const empty = foldAll(
      initialState(session()),
      placeEntries(initialState(session()), [turn, input('a'), started, message(3, [])], 1, T0),
    );
    expect(empty.messages).toHaveLength(1);
  });

  it('leaves blank text out of the history, and keeps the places of the calls', () => {
    const answer = message(3, [text(' \n'), toolUse('t1')], 'tool_use');
    const state = foldAll(
      initialState(session()),
      placeEntries(initialState(session()), [turn, input('a'), started, answer], 1, T0),
    );
    expect(state.messages.at(-1)?.content).toEqual([toolUse('t1')]);
    expect(state.calls.map((c) => c.block)).toEqual([1]);
  });

  it('puts a stand-in where a tool said nothing', () => {
    const silent: EntryBody = { ...(result('t1', 3, 0) as Extract<EntryBody, { kind: 'tool_result' }>), content: [] };
    const entries = [turn, input('a'), started, message(3, [toolUse('t1')], 'tool_use'), silent];
    const state = foldAll(initialState(session()), placeEntries(initialState(session()), entries, 1, T0));
    expect(state.messages.at(-1)?.content).toMatchObject([{ type: 'tool_result', content: [{ text: '(no output)' }] }]);
  });
});

const show = (state: object): string => JSON.stringify(state, (_, v) => (v instanceof Map ? [...v.entries()] : v));
