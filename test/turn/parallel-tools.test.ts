// Safe calls run side by side and may end at any moment of each other's append: each runs once and has one result in the log.

import { afterEach, expect, it } from 'vitest';
import { text, toolUse } from '../core/builders.ts';
import { answers, calls, type Harness, startHarness } from './harness.ts';

let h: Harness;
afterEach(() => h.close());

const done = { content: [text('ok')], isError: false };
const ends = {
  'in one tick': async () => done,
  'a moment apart': async (input: Readonly<Record<string, unknown>>) => {
    await new Promise((resolve) => setTimeout(resolve, Number(input.n) / 4));
    return done;
  },
};

it.each(Object.entries(ends))('twelve safe calls that end %s have one result each', async (_when, tool) => {
  const ids = Array.from({ length: 12 }, (_, n) => `t${n}`);
  const blocks = ids.map((id, n) => ({ ...toolUse(id), name: 'read', input: { n } }));
  h = await startHarness({ script: [calls(...blocks), answers([text('done')])], tool });
  await h.send({ type: 'user.message', content: [text('go')] });
  await h.idle();
  const results = (await h.log()).filter((entry) => entry.kind === 'tool_result').map((entry) => entry.toolUseId);
  expect(results.toSorted()).toEqual(ids.toSorted());
  expect(h.runs.toSorted()).toEqual(ids.map((id) => `read ${id}`).toSorted());
  expect(h.requests).toHaveLength(2);
});
