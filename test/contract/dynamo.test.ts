// The Store contract for DynamoDB, against a real server process.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { madeUpConnection } from '../../shared/adapters/dynamo-client.ts';
import { createDynamoStore } from '../../shared/adapters/dynamo-store.ts';
import { ensureTable } from '../../shared/adapters/dynamo-table.ts';
import { type LocalDynamo, openLocalDynamo } from '../../shared/adapters/local-dynamo.ts';
import { storeContract } from './store.ts';

let directory: string;
let server: LocalDynamo;
let tables = 0;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-dynamo-'));
  server = await openLocalDynamo({ directory });
});
afterAll(async () => {
  await server?.close();
  rmSync(directory, { recursive: true });
});

describe('dynamodb', () => {
  storeContract(async () => {
    const connection = madeUpConnection(server.endpoint);
    const table = `table-${tables++}`;
    await ensureTable(table, connection);
    return { open: async () => createDynamoStore({ table, connection }), remove: async () => {} };
  });
});
