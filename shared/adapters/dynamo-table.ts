// The table on servers that are not deployed by CDK: made where missing, in the shape that `infra/storage.ts` declares.

import { setTimeout as delay } from 'node:timers/promises';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  ResourceInUseException,
  ResourceNotFoundException,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { TABLE } from '../types/table.ts';
import { createClient, type DynamoConnection, retryTransient } from './dynamo-client.ts';

const READY_MS = 20_000;

/** Resolves when the table can be used. Several processes may ask at once. */
export async function ensureTable(table: string, connection: DynamoConnection): Promise<'made' | 'found'> {
  const client = createClient(connection);
  const status = () =>
    retryTransient(() => client.send(new DescribeTableCommand({ TableName: table })))
      .then(({ Table }) => Table?.TableStatus)
      .catch((error: unknown) => {
        if (error instanceof ResourceNotFoundException) return undefined;
        throw error;
      });
  try {
    if ((await status()) === 'ACTIVE') return 'found';
    await client.send(new CreateTableCommand(shapeOf(table))).catch((error: unknown) => {
      if (!(error instanceof ResourceInUseException)) throw error;
    });
    for (const giveUpAt = performance.now() + READY_MS; (await status()) !== 'ACTIVE'; await delay(50)) {
      if (performance.now() > giveUpAt) throw new Error(`the table ${table} does not become ready`);
    }
    const TimeToLiveSpecification = { AttributeName: TABLE.expiry, Enabled: true };
    // The sweep is a convenience: another process may have set it, a server may have none.
    await client.send(new UpdateTimeToLiveCommand({ TableName: table, TimeToLiveSpecification })).catch(() => {});
    return 'made';
  } finally {
    client.destroy();
  }
}

function shapeOf(table: string): CreateTableCommandInput {
  const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
  const schema = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  return {
    TableName: table,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [TABLE.partitionKey, TABLE.sortKey, TABLE.indexKey, TABLE.indexSort].map(text),
    KeySchema: schema(TABLE.partitionKey, TABLE.sortKey),
    GlobalSecondaryIndexes: [
      {
        IndexName: TABLE.indexName,
        KeySchema: schema(TABLE.indexKey, TABLE.indexSort),
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  };
}
