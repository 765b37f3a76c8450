// Listing events through the official SDK: pages in both orders, filters, cursors that hold while the session goes on.

import { BadRequestError } from '@anthropic-ai/sdk';
import { describe, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { answer, call, text, useModel } from '../support/model.ts';
import {
  createSession,
  customTool,
  listAll,
  only,
  runTurn,
  type StreamedEvent,
  TOOLSET,
  userText,
} from '../support/sessions.ts';

const model = useModel();
const harness = useHarness({ modelUrl: () => model.url });
const client = () => harness.client();
const events = () => client().beta.sessions.events;

/** A session after a turn with two tool rounds. */
async function workedSession(): Promise<string> {
  model.script(
    answer([call('bash', { command: 'echo 1' }), call('bash', { command: 'echo 2' })]),
    answer([call('bash', { command: 'echo 3' })]),
    text('Done.'),
  );
  const id = await createSession(client(), { tools: [TOOLSET] });
  await runTurn(client(), id, userText('go'));
  return id;
}

const collect = async (pages: AsyncIterable<StreamedEvent>): Promise<StreamedEvent[]> => Array.fromAsync(pages);

describe('pages', () => {
  test('of every size give the same events, oldest first, and newest first reversed', async () => {
    const id = await workedSession();
    const all = await listAll(client(), id);
    expect(all.length).toBeGreaterThan(15);
    expect((await events().list(id)).data).toEqual(all);
    for (const limit of [1, 2, 3, 7, all.length - 1, all.length, all.length + 1]) {
      expect(await collect(events().list(id, { limit })), `limit ${limit}`).toEqual(all);
      expect(await collect(events().list(id, { limit, order: 'desc' })), `desc ${limit}`).toEqual(all.toReversed());
    }
    expect((await events().list(id, { limit: all.length })).next_page).toBeNull();
  });

  test('a cursor goes on where it was although the session went on', async () => {
    const id = await workedSession();
    const before = await listAll(client(), id);
    const first = await events().list(id, { limit: 5 });
    const newest = await events().list(id, { limit: 5, order: 'desc' });
    model.script(text('More.'));
    await runTurn(client(), id, userText('more'));
    const rest: StreamedEvent[] = [];
    for (let page = first; page.next_page; ) {
      page = await events().list(id, { limit: 5, page: page.next_page });
      rest.push(...page.data);
    }
    expect([...first.data, ...rest]).toEqual(await listAll(client(), id));
    const older: StreamedEvent[] = [];
    for (let page = newest; page.next_page; ) {
      page = await events().list(id, { limit: 5, order: 'desc', page: page.next_page });
      older.push(...page.data);
    }
    expect([...newest.data, ...older]).toEqual(before.toReversed());
  });

  test('queued messages come after everything processed, and first under desc', async () => {
    model.script(answer([call('weather', { city: 'A' })]));
    const id = await createSession(client(), { tools: [customTool('weather')] });
    await runTurn(client(), id, userText('go'));
    await events().send(id, { events: [userText('two'), userText('three')] });
    for (const limit of [1, 3, 100]) {
      const asc = await collect(events().list(id, { limit }));
      expect(only(asc.slice(-2), 'user.message').map((e) => e.processed_at)).toEqual([null, null]);
      expect(await collect(events().list(id, { limit, order: 'desc' }))).toEqual(asc.toReversed());
    }
  });

  test('wrong cursors and limits are a 400', async () => {
    const id = await workedSession();
    const { next_page } = await events().list(id, { limit: 2 });
    await expect(events().list(id, { limit: 2, order: 'desc', page: next_page })).rejects.toThrow(BadRequestError);
    await expect(events().list(id, { page: 'nonsense' })).rejects.toThrow(BadRequestError);
    await expect(events().list(id, { limit: 0 })).rejects.toThrow(/limit/);
    await expect(events().list(id, { limit: 1001 })).rejects.toThrow(/limit/);
    expect((await events().list(id, { limit: 1000 })).data.length).toBeGreaterThan(10);
  });
});

describe('filters', () => {
  test('by type and by time', async () => {
    const id = await workedSession();
    const all = await listAll(client(), id);
    const types = ['agent.tool_use', 'agent.message'] as const;
    const wanted = all.filter((event) => types.some((type) => type === event.type));
    expect(wanted).toHaveLength(4);
    expect(await collect(events().list(id, { types: [...types], limit: 2 }))).toEqual(wanted);
    await expect(events().list(id, { types: ['agent.shout' as 'agent.message'] })).rejects.toThrow(/types/);

    const timeOf = (event: StreamedEvent | undefined): string =>
      event && 'processed_at' in event ? String(event.processed_at) : '';
    const middle = timeOf(all[Math.floor(all.length / 2)]);
    const after = all.filter((event) => timeOf(event) > middle);
    expect(await collect(events().list(id, { 'created_at[gt]': middle }))).toEqual(after);
    const until = all.filter((event) => timeOf(event) <= middle);
    expect(await collect(events().list(id, { 'created_at[lte]': middle, limit: 3 }))).toEqual(until);
  });
});
