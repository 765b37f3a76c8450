// How the DynamoDB adapters call their server: one client with time limits, and one loop that sends again what was
// throttled, in conflict or lost on the way, with backoff and jitter, for a bounded time.

import { setTimeout as delay } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ServiceError } from '../types/errors.ts';

const CONNECT_TIMEOUT_MS = 2000;
const REQUEST_TIMEOUT_MS = 5000;
const GIVE_UP_MS = 10_000;
const WAIT_FIRST_MS = 10;
const WAIT_MAX_MS = 500;
const SOCKETS_MAX = 256;

/** What is absent, the SDK takes from the environment and the role it runs under. */
export interface DynamoConnection {
  readonly endpoint?: string;
  readonly region?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** For servers on this machine, which check no signature. */
export const madeUpConnection = (endpoint: string): DynamoConnection => ({
  endpoint,
  region: 'us-east-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});

/** A client that sends each request once; `retryTransient` does the rest. */
export function createClient(connection: DynamoConnection): DynamoDBClient {
  const agent = { keepAlive: true, maxSockets: SOCKETS_MAX };
  return new DynamoDBClient({
    ...connection,
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  });
}

/**
 * Runs `job` until it answers or fails for good. `giveUpMs` bounds the time in which it is begun again.
 * Throws `ServiceError('overloaded')`, with the last failure as its cause, when that time is over.
 */
export async function retryTransient<T>(job: () => Promise<T>, giveUpMs = GIVE_UP_MS): Promise<T> {
  const giveUpAt = performance.now() + giveUpMs;
  for (let waitMs = WAIT_FIRST_MS; ; waitMs = Math.min(waitMs * 2, WAIT_MAX_MS)) {
    try {
      return await job();
    } catch (error) {
      if (!isTransient(error)) throw error;
      if (performance.now() + waitMs > giveUpAt) {
        const failed = new ServiceError('overloaded', 'the store is too busy or does not answer', {}, 1);
        failed.cause = error;
        throw failed;
      }
    }
    await delay(Math.random() * waitMs);
  }
}

interface Failure {
  readonly name?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly CancellationReasons?: readonly { readonly Code?: string }[];
}

const TRANSIENT = new Set([
  'InternalServerError',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'SyntaxError', // an answer that was cut off
  'ThrottlingException',
  'TimeoutError',
  'TransactionConflictException',
  'TransactionInProgressException',
]);
const TRANSIENT_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'EPIPE', 'ETIMEDOUT']);
const TRANSIENT_REASONS = new Set(['ProvisionedThroughputExceeded', 'ThrottlingError', 'TransactionConflict']);

/** Whether the same request may succeed a little later. */
function isTransient(error: unknown): boolean {
  const { name = '', code = '', $metadata, CancellationReasons: reasons } = (error ?? {}) as Failure;
  if (reasons) return reasons.some((reason) => TRANSIENT_REASONS.has(reason.Code ?? ''));
  const status = $metadata?.httpStatusCode ?? 0;
  return TRANSIENT.has(name) || TRANSIENT_CODES.has(code) || status >= 500 || status === 429;
}
