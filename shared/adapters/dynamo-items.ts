// How an item of the Store port stands in DynamoDB: attributes, keys, conditions and bounds, and back. Pure.

import { type AttributeValue, TransactionCanceledException, type TransactWriteItem } from '@aws-sdk/client-dynamodb';
import type { Expect, Item, Key, ListOptions, Row } from '../ports/store.ts';
import type { TenantId } from '../types/ids.ts';
import { TABLE } from '../types/table.ts';
import type { EncodedWrite } from './store-checks.ts';

const { partitionKey: PK, sortKey: SK, expiry: TTL, indexKey: IX, indexSort: IXSK } = TABLE;

export type Attributes = Record<string, AttributeValue>;

export const keyOf = (tenant: string, { partition, sort }: Key): Attributes => ({
  [PK]: { S: `${tenant}/${partition}` },
  [SK]: { S: sort },
});

function attributesOf(tenant: string, { key, item, json }: EncodedWrite): Attributes | undefined {
  if (!item || json === null) return undefined;
  const { rev, index, expiresAtMs } = item;
  return {
    ...keyOf(tenant, key),
    rev: { S: rev },
    data: { S: json },
    ...(index ? { [IX]: { S: index.name }, [IXSK]: { S: index.sort } } : {}),
    ...(expiresAtMs === undefined ? {} : { [TTL]: { N: String(Math.ceil(expiresAtMs / 1000)) } }),
  };
}

/** What a single write and a part of a transaction have in common. */
export function targetOf(table: string, tenant: string, write: EncodedWrite) {
  return {
    TableName: table,
    Item: attributesOf(tenant, write),
    ...conditionOf(write.expect),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  };
}

export function transactionPart(table: string, tenant: string, write: EncodedWrite): TransactWriteItem {
  const { Item: stored, ConditionExpression, ...target } = targetOf(table, tenant, write);
  if (stored) return { Put: { ...target, ConditionExpression, Item: stored } };
  const Key = keyOf(tenant, write.key);
  if (write.item === null) return { Delete: { ...target, ConditionExpression, Key } };
  return { ConditionCheck: { ...target, ConditionExpression, Key } };
}

function conditionOf(expect: Expect) {
  if (expect === 'any') return {};
  if (expect === 'absent') return { ConditionExpression: `attribute_not_exists(${PK})` };
  if (expect === 'exists') return { ConditionExpression: `attribute_exists(${PK})` };
  return { ConditionExpression: 'rev = :rev', ExpressionAttributeValues: { ':rev': { S: expect.rev } } };
}

/** The first expectation that failed, or undefined where an earlier write met something else, so that it is not known yet. */
export function refusalOf(error: unknown): { index: number; current: Item | undefined } | undefined {
  if (!(error instanceof TransactionCanceledException)) return undefined;
  const reasons = error.CancellationReasons ?? [];
  const index = reasons.findIndex(({ Code = 'None' }) => Code !== 'None');
  if (reasons[index]?.Code !== 'ConditionalCheckFailed') return undefined;
  return { index, current: currentOf(reasons[index].Item) };
}

export const isSame = (stored: Attributes, found: Attributes | undefined): boolean =>
  found !== undefined && found.rev?.S === stored.rev?.S && found.data?.S === stored.data?.S;

export function currentOf(found: Attributes | undefined): Item | undefined {
  if (found?.rev?.S === undefined) return undefined;
  const [name, sort, expires] = [found[IX]?.S, found[IXSK]?.S, found[TTL]?.N];
  return {
    rev: found.rev.S,
    data: JSON.parse(found.data?.S ?? 'null'),
    ...(name === undefined || sort === undefined ? {} : { index: { name, sort } }),
    ...(expires === undefined ? {} : { expiresAtMs: Number(expires) * 1000 }),
  };
}

export function rowOf(found: Attributes): { tenant: TenantId; row: Row } {
  const item = currentOf(found);
  const [pk, sort] = [found[PK]?.S ?? '', found[SK]?.S ?? ''];
  const slash = pk.indexOf('/');
  if (item === undefined || slash < 0) throw new Error('the table holds an item that is not ours');
  const key = { partition: pk.slice(slash + 1), sort };
  return { tenant: pk.slice(0, slash) as TenantId, row: { ...item, key } };
}

/**
 * Both bounds are inclusive there, so they are texts that no key can be: keys are printable ASCII, `\x01` sorts before and
 * `\x7f` after whatever may follow. What sorts just before `after` is its last character less one, and anything behind that.
 */
export function rangeOf({ after, prefix = '', reverse }: ListOptions): { from: string; to: string } {
  const [start, last] = [prefix === '' ? '\x01' : prefix, `${prefix}\x7f`];
  if (after === undefined) return { from: start, to: last };
  if (!reverse) return { from: laterOf(`${after}\x01`, start), to: last };
  const end = after.length - 1;
  const before = end < 0 ? '' : `${after.slice(0, end)}${String.fromCharCode(after.charCodeAt(end) - 1)}\x7f`;
  return { from: start, to: before === laterOf(before, last) ? last : before };
}

const laterOf = (a: string, b: string): string => (a > b ? a : b);
