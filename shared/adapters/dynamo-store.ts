// The Store port on one DynamoDB table: keys only, no scans; reads are consistent (but the index, which may lag), pages are
// followed to the end. A write whose reply was lost is sent again and says what it would have said the first time.

import { randomUUID } from 'node:crypto';
import {
  ConditionalCheckFailedException,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import type { IndexRow, PutResult, Storage, Store, Write } from '../ports/store.ts';
import { TABLE } from '../types/table.ts';
import { createClient, type DynamoConnection, retryTransient } from './dynamo-client.ts';
import {
  type Attributes,
  currentOf,
  isSame,
  keyOf,
  rangeOf,
  refusalOf,
  rowOf,
  targetOf,
  transactionPart,
} from './dynamo-items.ts';
import { checkKey, type EncodedWrite, encodeWrites } from './store-checks.ts';

const { partitionKey: PK, sortKey: SK, indexKey: IX, indexSort: IXSK } = TABLE;
/** No tenant has this name, so nobody reaches the installation's own items through `forTenant`. */
const SYSTEM = '';

export interface DynamoStoreOptions {
  /** A table as `infra/storage.ts` declares it. */
  readonly table: string;
  readonly connection: DynamoConnection;
  /** How long a request is sent again; default 10 s. */
  readonly giveUpMs?: number;
}

/** Every call throws `ServiceError('overloaded')` where throttling, conflicts or an unreachable server outlast `giveUpMs`. */
export function createDynamoStore({ table, connection, giveUpMs }: DynamoStoreOptions): Storage {
  const client = createClient(connection);
  const pending = new Set<Promise<unknown>>();
  let closed = false;

  const run = <T>(job: () => Promise<T>): Promise<T> => {
    if (closed) return Promise.reject(new Error('the store is closed'));
    const done = retryTransient(job, giveUpMs).finally(() => pending.delete(done));
    pending.add(done);
    return done;
  };

  const query = async (input: Omit<QueryCommandInput, 'TableName'>, limit: number): Promise<Attributes[]> => {
    const found: Attributes[] = [];
    let from: Attributes | undefined;
    while (found.length < limit) {
      const page = { ...input, TableName: table, Limit: limit - found.length, ExclusiveStartKey: from };
      const { Items = [], LastEvaluatedKey } = await run(() => client.send(new QueryCommand(page)));
      found.push(...Items);
      from = LastEvaluatedKey;
      if (from === undefined) break;
    }
    return found;
  };

  const writeOne = (tenant: string, write: EncodedWrite): Promise<PutResult> => {
    const { Item: stored, ...target } = targetOf(table, tenant, write);
    let isRepeated = false;
    return run(async () => {
      try {
        await (stored
          ? client.send(new PutItemCommand({ ...target, Item: stored }))
          : client.send(new DeleteItemCommand({ ...target, Key: keyOf(tenant, write.key) })));
        return { ok: true };
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) {
          // Our own item, after an attempt without an answer: that attempt had stored it.
          if (isRepeated && stored && isSame(stored, error.Item)) return { ok: true };
          return { ok: false, index: 0, current: currentOf(error.Item) };
        }
        isRepeated = true;
        throw error;
      }
    });
  };

  const writeAll = (tenant: string, writes: readonly EncodedWrite[]): Promise<PutResult> => {
    // The server takes no check that cannot fail; `places` leads back from its list to the caller's.
    const places = [...writes.keys()].filter((i) => writes[i]?.item !== undefined || writes[i]?.expect !== 'any');
    const items = places.map((i) => transactionPart(table, tenant, writes[i] as EncodedWrite));
    if (items.length === 0) return Promise.resolve({ ok: true });
    // One token for all attempts: a transaction that was done, though its reply was lost, is not done again.
    const command = () => new TransactWriteItemsCommand({ TransactItems: items, ClientRequestToken: token });
    const token = randomUUID();
    return run(async () => {
      try {
        await client.send(command());
        return { ok: true };
      } catch (error) {
        const refused = refusalOf(error);
        if (refused === undefined) throw error;
        return { ok: false, index: places[refused.index] as number, current: refused.current };
      }
    });
  };

  const write = async (tenant: string, writes: readonly Write[]): Promise<PutResult> => {
    const encoded = encodeWrites(writes);
    const [first] = encoded;
    return encoded.length === 1 && first?.item !== undefined ? writeOne(tenant, first) : writeAll(tenant, encoded);
  };

  const storeOf = (tenant: string): Store => ({
    get: async (key) => {
      checkKey(key);
      const input = { TableName: table, Key: keyOf(tenant, key), ConsistentRead: true };
      return currentOf((await run(() => client.send(new GetItemCommand(input)))).Item);
    },
    put: (key, item, expect) => write(tenant, [{ key, item, expect }]),
    putAll: (writes) => write(tenant, writes),
    delete: (key, expect) => write(tenant, [{ key, item: null, expect }]),
    list: async (partition, options) => {
      checkKey({ partition, sort: '-' });
      const { from, to } = rangeOf(options);
      if (from > to) return [];
      const input = {
        KeyConditionExpression: `${PK} = :p AND ${SK} BETWEEN :from AND :to`,
        ExpressionAttributeValues: { ':p': { S: `${tenant}/${partition}` }, ':from': { S: from }, ':to': { S: to } },
        ConsistentRead: true,
        ScanIndexForward: !options.reverse,
      };
      return (await query(input, options.limit)).map((found) => rowOf(found).row);
    },
  });

  return {
    forTenant: (tenant) => {
      if (tenant === SYSTEM) throw new TypeError('a tenant needs a name');
      return storeOf(tenant);
    },
    system: storeOf(SYSTEM),
    listIndex: async (name, { after = '', limit }) => {
      const input = {
        IndexName: TABLE.indexName,
        KeyConditionExpression: after === '' ? `${IX} = :n` : `${IX} = :n AND ${IXSK} > :after`,
        ExpressionAttributeValues: { ':n': { S: name }, ...(after === '' ? {} : { ':after': { S: after } }) },
      };
      return (await query(input, limit)).map((found): IndexRow => {
        const { tenant, row } = rowOf(found);
        return { ...row, tenant };
      });
    },
    async close() {
      closed = true;
      await Promise.allSettled(pending);
      client.destroy();
    },
  };
}
