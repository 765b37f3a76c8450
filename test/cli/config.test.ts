// The environment as the service reads it: where data goes, and that nobody writes into a cloud by accident.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Config, readConfig } from '../../shared/config.ts';

const aws = { AWS_LAMBDA_FUNCTION_NAME: 'f' };
const dynamodb = { REPRISE_STORE: 'dynamodb' };

test.each<readonly [Record<string, string>, Config['store']]>([
  [{}, { kind: 'embedded' }],
  [{ REPRISE_STORE: '' }, { kind: 'embedded' }],
  [{ REPRISE_TABLE: 'a-table' }, { kind: 'embedded' }],
  [dynamodb, { kind: 'dynamodb', table: 'reprise', server: 'local' }],
  [
    { ...dynamodb, AWS_REGION: 'eu-west-1', AWS_PROFILE: 'work' },
    { kind: 'dynamodb', table: 'reprise', server: 'local' },
  ],
  [
    { ...dynamodb, ...aws, REPRISE_TABLE: 'T_1.x' },
    { kind: 'dynamodb', table: 'T_1.x', server: 'aws' },
  ],
  [
    { ...dynamodb, ...aws, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' },
    { kind: 'dynamodb', table: 'reprise', server: { endpoint: 'http://127.0.0.1:1' } },
  ],
])('%j keeps items in %j', (environment, store) => {
  expect(readConfig(environment).store).toEqual(store);
});

test.each<readonly [Record<string, string>, Config['bucket']]>([
  [{}, null],
  [{ REPRISE_BUCKET: 'my-bucket' }, { name: 'my-bucket', endpoint: null }],
  [
    { REPRISE_BUCKET: 'my-bucket', AWS_ENDPOINT_URL_S3: 'http://localhost:9000' },
    { name: 'my-bucket', endpoint: 'http://localhost:9000' },
  ],
])('%j keeps blobs in %j', (environment, bucket) => {
  expect(readConfig(environment).bucket).toEqual(bucket);
});

test.each([
  ['REPRISE_STORE', 'sqlite', 'must be embedded or dynamodb'],
  ['REPRISE_TABLE', 'a', 'must be the name of a table'],
  ['REPRISE_BUCKET', 'No Bucket', 'must be the name of a bucket'],
  ['AWS_ENDPOINT_URL_DYNAMODB', 'localhost', 'AWS_ENDPOINT_URL_DYNAMODB'],
])('%s=%s is refused', (name, value, message) => {
  expect(() => readConfig({ [name]: value })).toThrow(message);
});

test("the README's table names every variable that is read, and no other", () => {
  const text = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
  const read = [...text('shared/config.ts').matchAll(/^ {2}([A-Z][A-Z_\d]+): optional/gm)].map((match) => match[1]);
  const told = [...text('README.md').matchAll(/^\| `([A-Z][A-Z_\d]+)` +\|/gm)].map((match) => match[1]);
  // What AWS itself sets, and the addresses of its services, stand in the words below the table.
  expect(told.toSorted()).toEqual(read.filter((name) => !/^(AWS|ECS)_/.test(name ?? '')).toSorted());
});
