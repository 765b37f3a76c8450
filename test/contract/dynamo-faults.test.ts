// What the DynamoDB store does when its server throttles, conflicts, breaks off or says nothing, and what it asks at all.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { madeUpConnection } from '../../shared/adapters/dynamo-client.ts';
import { createDynamoStore } from '../../shared/adapters/dynamo-store.ts';
import { ensureTable } from '../../shared/adapters/dynamo-table.ts';
import { type LocalDynamo, openLocalDynamo } from '../../shared/adapters/local-dynamo.ts';
import type { Item, Key, Storage, Store } from '../../shared/ports/store.ts';
import { tenantId } from '../../shared/types/ids.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../support/fault-proxy.ts';

const TENANT = tenantId('default');
const GIVE_UP_MS = 1500;
let directory: string;
let server: LocalDynamo;
let proxy: FaultProxy;
let behindProxy: Storage;
let direct: Storage;
let store: Store;
let tables = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-dynamo-'));
  server = await openLocalDynamo({ directory });
});
afterAll(async () => {
  await server?.close();
  rmSync(directory, { recursive: true });
});
beforeEach(async () => {
  const table = `faults-${tables++}`;
  await ensureTable(table, madeUpConnection(server.endpoint));
  proxy = await startFaultProxy(server.endpoint);
  behindProxy = createDynamoStore({ table, connection: madeUpConnection(proxy.url), giveUpMs: GIVE_UP_MS });
  direct = createDynamoStore({ table, connection: madeUpConnection(server.endpoint) });
  store = behindProxy.forTenant(TENANT);
});
afterEach(async () => {
  await behindProxy.close();
  await direct.close();
  await proxy.close();
});

const key = (sort: string): Key => ({ partition: 'p', sort });
const item = (rev: string, data: unknown = { of: rev }): Item => ({ rev, data });
const says = (type: string, more: object = {}, status = 400): Fault => ({
  kind: 'answer',
  status,
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: type, ...more }),
});
const canceled = (...codes: readonly string[]): Fault =>
  says('TransactionCanceledException', { CancellationReasons: codes.map((Code) => ({ Code })) });

const passing: Readonly<Record<string, Fault>> = {
  throttling: says('ProvisionedThroughputExceededException'),
  'another kind of throttling': says('ThrottlingException'),
  'an internal error': says('InternalServerError', {}, 500),
  'an answer of no server of ours': { kind: 'answer', status: 503, body: '<html>busy</html>' },
  'a connection that breaks before': { kind: 'refuse' },
  'a connection that breaks after': { kind: 'lose' },
  'an answer that is cut off': { kind: 'cut' },
};

describe.each(Object.entries(passing))('%s', (_name, fault) => {
  test('is waited out by reads', async () => {
    await direct.forTenant(TENANT).put(key('k'), item('1'), 'absent');
    proxy.plan([fault, fault]);
    expect(await store.get(key('k'))).toEqual(item('1'));
    proxy.plan([fault, fault]);
    expect(await store.list('p', { limit: 5 })).toEqual([{ key: key('k'), ...item('1') }]);
  });

  test('is waited out by writes, which are done once and say so', async () => {
    proxy.plan([fault, fault]);
    expect(await store.put(key('k'), item('1'), 'absent')).toEqual({ ok: true });
    proxy.plan([fault]);
    expect(await store.put(key('k'), item('2'), { rev: '1' })).toEqual({ ok: true });
    proxy.plan([fault]);
    const both = [
      { key: key('k'), item: item('3'), expect: { rev: '2' } },
      { key: key('l'), item: item('3'), expect: 'absent' },
    ] as const;
    expect(await store.putAll(both)).toEqual({ ok: true });
    expect((await store.list('p', { limit: 5 })).map((row) => row.rev)).toEqual(['3', '3']);
  });
});

test('an item of another writer, found when a broken write is sent again, is not taken for ours', async () => {
  await direct.forTenant(TENANT).put(key('k'), item('theirs'), 'absent');
  proxy.plan([{ kind: 'refuse' }]);
  expect(await store.put(key('k'), item('ours'), 'absent')).toEqual({ ok: false, index: 0, current: item('theirs') });
  proxy.plan([{ kind: 'refuse' }]);
  const put = await store.put(key('k'), item('theirs', 'other data'), 'absent');
  expect(put).toEqual({ ok: false, index: 0, current: item('theirs') });
});

test('conflicting transactions are sent again, as the same one; a conflict before a refusal leaves it open', async () => {
  const writes = [
    { key: key('a'), item: item('1'), expect: 'absent' },
    { key: key('b'), item: item('1'), expect: 'absent' },
  ] as const;
  proxy.plan([
    canceled('TransactionConflict', 'None'),
    canceled('TransactionConflict', 'ConditionalCheckFailed'),
    canceled('None', 'ThrottlingError'),
    says('TransactionInProgressException'),
  ]);
  expect(await store.putAll(writes)).toEqual({ ok: true });
  const tokens = proxy.seen.map(({ body }) => (JSON.parse(body) as { ClientRequestToken: string }).ClientRequestToken);
  expect(tokens).toHaveLength(5);
  expect(new Set(tokens).size).toBe(1);
  proxy.plan([canceled('ConditionalCheckFailed', 'TransactionConflict')]);
  expect(await store.putAll(writes)).toEqual({ ok: false, index: 0, current: undefined });
  proxy.plan([says('TransactionConflictException')]);
  expect(await store.put(key('a'), item('2'), { rev: '1' })).toEqual({ ok: true });
});

test('what lasts ends as `overloaded`, with the cause, within its time; what will never work ends at once', async () => {
  for (const always of [says('ThrottlingException'), { kind: 'refuse' } as const]) {
    proxy.plan({ always });
    const startedAt = performance.now();
    const failure = await store.get(key('k')).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ServiceError', code: 'overloaded', cause: expect.any(Error) });
    expect(performance.now() - startedAt).toBeLessThan(GIVE_UP_MS + 1000);
  }
  proxy.plan([says('AccessDeniedException')]);
  await expect(store.get(key('k'))).rejects.toThrow('AccessDenied');
  expect(await store.get(key('k'))).toBeUndefined();
});

test('asks for consistent reads by key, follows pages, and never scans', async () => {
  const big = 'x'.repeat(100_000);
  for (let i = 0; i < 25; i++) await store.put(key(String(i).padStart(2, '0')), item('1', big), 'any');
  await store.get(key('00'));
  expect(await store.list('p', { limit: 100 })).toHaveLength(25);
  await behindProxy.listIndex('due', { limit: 5 });
  const asked = proxy.seen.map(({ headers, body }) => ({
    verb: String(headers['x-amz-target']).split('.')[1] ?? '',
    body: JSON.parse(body) as { ConsistentRead?: boolean; IndexName?: string },
  }));
  expect(new Set(asked.map(({ verb }) => verb))).toEqual(new Set(['PutItem', 'GetItem', 'Query']));
  const reads = asked.filter(({ verb, body }) => verb !== 'PutItem' && body.IndexName === undefined);
  expect(reads.length).toBeGreaterThanOrEqual(4); // one item, and at least three pages of 1 MB
  expect(reads.every(({ body }) => body.ConsistentRead === true)).toBe(true);
});

test('what was asked before close is done; after it, calls fail', async () => {
  const put = store.put(key('k'), item('1'), 'absent');
  await behindProxy.close();
  expect(await put).toEqual({ ok: true });
  await expect(store.get(key('k'))).rejects.toThrow('closed');
});
