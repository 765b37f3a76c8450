// The environment as one checked value: the only reader of `process.env`. A wrong value is an error that says what to set.

import { z } from 'zod';

const text = z.string().trim().min(1);
/** An empty variable is an unset one, as shells and CI systems write it. */
const optional = <T extends z.ZodType>(schema: T) => z.preprocess((v) => (v === '' ? undefined : v), schema.optional());

const Environment = z.object({
  PORT: optional(z.coerce.number().int().min(0).max(65_535)),
  HOST: optional(text),
  ANTHROPIC_API_KEY: optional(text),
  ANTHROPIC_BASE_URL: optional(z.url()),
  REPRISE_API_KEY: optional(text.min(8, 'must have 8 characters or more')),
  REPRISE_DATA_DIR: optional(text),
  REPRISE_STORE: optional(z.enum(['embedded', 'dynamodb'], 'must be embedded or dynamodb')),
  REPRISE_TABLE: optional(
    text.regex(/^[\w.-]{3,255}$/, 'must be the name of a table: 3 to 255 of a-z, A-Z, 0-9, _, - and .'),
  ),
  REPRISE_BUCKET: optional(text.regex(/^[a-z0-9][a-z0-9.-]{2,62}$/, 'must be the name of a bucket')),
  REPRISE_SANDBOX: optional(z.enum(['virtual'], 'must be virtual')),
  REPRISE_DEMO_DELAY_MS: optional(z.coerce.number().int().min(0).max(1000)),
  REPRISE_HEARTBEAT_MS: optional(z.coerce.number().int().min(100).max(60_000)),
  AWS_ENDPOINT_URL: optional(z.url()),
  AWS_ENDPOINT_URL_DYNAMODB: optional(z.url()),
  AWS_ENDPOINT_URL_S3: optional(z.url()),
  AWS_LAMBDA_FUNCTION_NAME: optional(text),
  ECS_CONTAINER_METADATA_URI_V4: optional(text),
});

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly dataDir: string;
  readonly store:
    | { readonly kind: 'embedded' }
    /** `server` is an endpoint, `aws`, or `local`: one on this machine that we start ourselves. */
    | {
        readonly kind: 'dynamodb';
        readonly table: string;
        readonly server: 'aws' | 'local' | { readonly endpoint: string };
      };
  /** null: blobs are files in the data directory. `endpoint` null: S3 itself. */
  readonly bucket: { readonly name: string; readonly endpoint: string | null } | null;
  /** null: no key is configured; the first one is made on loopback. */
  readonly apiKey: string | null;
  readonly model:
    | { readonly kind: 'demo'; readonly delayMs: number }
    | { readonly kind: 'anthropic'; readonly apiKey: string; readonly baseUrl: string | null };
  readonly heartbeatMs: number | null;
}

/** Addresses that only this machine reaches. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/.test(host);

/** The configuration, or an error whose message names each variable that is wrong. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const parsed = Environment.safeParse(environment);
  if (!parsed.success) {
    const lines = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    throw new Error(`The configuration is not valid:\n  ${lines.join('\n  ')}`);
  }
  const env = parsed.data;
  const host = env.HOST ?? '127.0.0.1';
  if (!isLoopback(host) && env.REPRISE_API_KEY === undefined) {
    throw new Error(`HOST=${host} can be reached from elsewhere: set REPRISE_API_KEY to a key of your choice first.`);
  }
  return {
    host,
    port: env.PORT ?? 8787,
    dataDir: env.REPRISE_DATA_DIR ?? '.reprise',
    store: storeOf(env),
    bucket: bucketOf(env),
    apiKey: env.REPRISE_API_KEY ?? null,
    model: modelOf(env),
    heartbeatMs: env.REPRISE_HEARTBEAT_MS ?? null,
  };
}

/** A key or an endpoint means a real model; neither means the demo, so that everything works offline. */
function modelOf(env: z.infer<typeof Environment>): Config['model'] {
  if (env.ANTHROPIC_API_KEY === undefined && env.ANTHROPIC_BASE_URL === undefined) {
    return { kind: 'demo', delayMs: env.REPRISE_DEMO_DELAY_MS ?? 5 };
  }
  return { kind: 'anthropic', apiKey: env.ANTHROPIC_API_KEY ?? 'none', baseUrl: env.ANTHROPIC_BASE_URL ?? null };
}

/** Off AWS nobody means the cloud by accident: there only an endpoint leads out of this machine. */
function storeOf(env: z.infer<typeof Environment>): Config['store'] {
  if (env.REPRISE_STORE !== 'dynamodb') return { kind: 'embedded' };
  const isOnAws = env.AWS_LAMBDA_FUNCTION_NAME !== undefined || env.ECS_CONTAINER_METADATA_URI_V4 !== undefined;
  const endpoint = env.AWS_ENDPOINT_URL_DYNAMODB ?? env.AWS_ENDPOINT_URL;
  const table = env.REPRISE_TABLE ?? 'reprise';
  if (endpoint !== undefined) return { kind: 'dynamodb', table, server: { endpoint } };
  return { kind: 'dynamodb', table, server: isOnAws ? 'aws' : 'local' };
}

function bucketOf(env: z.infer<typeof Environment>): Config['bucket'] {
  if (env.REPRISE_BUCKET === undefined) return null;
  return { name: env.REPRISE_BUCKET, endpoint: env.AWS_ENDPOINT_URL_S3 ?? env.AWS_ENDPOINT_URL ?? null };
}
