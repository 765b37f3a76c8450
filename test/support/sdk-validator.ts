// Holds an answer to the schemas that were derived from the SDK's declarations: which root applies is looked up by route.

import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type AnswerMeta, wordsOf } from './open-api.ts';

/** Method, path, and the root that a 2xx JSON answer is held to. */
const ROUTES: readonly (readonly [string, RegExp, string])[] = [
  ['POST', /^\/v1\/agents$/, 'Agent'],
  ['GET', /^\/v1\/agents$/, 'AgentPage'],
  ['GET', /^\/v1\/agents\/[^/]+\/versions$/, 'AgentPage'],
  ['*', /^\/v1\/agents\/[^/]+(\/archive)?$/, 'Agent'],
  ['POST', /^\/v1\/environments$/, 'Environment'],
  ['GET', /^\/v1\/environments$/, 'EnvironmentPage'],
  ['DELETE', /^\/v1\/environments\/[^/]+$/, 'EnvironmentDeleted'],
  ['*', /^\/v1\/environments\/[^/]+(\/archive)?$/, 'Environment'],
  ['POST', /^\/v1\/sessions$/, 'Session'],
  ['GET', /^\/v1\/sessions$/, 'SessionPage'],
  ['DELETE', /^\/v1\/sessions\/[^/]+$/, 'SessionDeleted'],
  ['*', /^\/v1\/sessions\/[^/]+(\/archive)?$/, 'Session'],
  ['POST', /^\/v1\/sessions\/[^/]+\/events$/, 'SentEvents'],
  ['GET', /^\/v1\/sessions\/[^/]+\/events$/, 'ListedEventPage'],
  ['GET', /^\/v1\/sessions\/[^/]+\/resources$/, 'SessionResourcePage'],
  ['POST', /^\/v1\/sessions\/[^/]+\/resources$/, 'SessionResource'],
  ['DELETE', /^\/v1\/sessions\/[^/]+\/resources\/[^/]+$/, 'SessionResourceDeleted'],
  ['*', /^\/v1\/sessions\/[^/]+\/resources\/[^/]+$/, 'SessionResource'],
  ['POST', /^\/v1\/files$/, 'FileMetadata'],
  ['GET', /^\/v1\/files$/, 'FileMetadataPage'],
  ['DELETE', /^\/v1\/files\/[^/]+$/, 'FileDeleted'],
  ['GET', /^\/v1\/files\/[^/]+$/, 'FileMetadata'],
];

/** The SDK declares no type for a 413's body; the wire's name for it is checked against openapi.yaml alone. */
const ERRORS_WITHOUT_TYPE = new Set([413]);

/** The root for an answer, or undefined where the SDK declares nothing about it (an extension of ours). */
export function sdkRootOf(meta: AnswerMeta): string | undefined {
  if (meta.status >= 400) return ERRORS_WITHOUT_TYPE.has(meta.status) ? undefined : 'ErrorAnswer';
  if (meta.contentType === 'text/event-stream') return 'StreamedEvent';
  return ROUTES.find(([method, path]) => (method === '*' || method === meta.method) && path.test(meta.path))?.[2];
}

export interface SdkValidator {
  /** Words on what is wrong with `body` as the root `name`; empty where all is well. */
  validate(name: string, body: unknown): readonly string[];
}

export function createSdkValidator(): SdkValidator {
  const file = new URL('./sdk-schemas.generated.json', import.meta.url);
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allErrors: false,
    discriminator: true,
  });
  addFormats.default(ajv);
  ajv.addSchema(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>);
  return {
    validate(name, body) {
      const validate = ajv.getSchema(`sdk-schemas#/$defs/${name}`);
      if (!validate) throw new Error(`no schema ${name}`);
      return validate(body) ? [] : wordsOf(validate as Parameters<typeof wordsOf>[0]);
    },
  };
}
