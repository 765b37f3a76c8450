// Parts of the wire that this version does not have: a request for one gets an answer that names it.

import type { ErrorCode } from '../types/errors.ts';

const PARTS: readonly (readonly [RegExp, string])[] = [
  [/^\/v1\/vaults(\/|$)/, 'vaults'],
  [/^\/v1\/deployment_runs(\/|$)/, 'deployments'],
  [/^\/v1\/deployments(\/|$)/, 'deployments'],
  [/^\/v1\/memory_stores(\/|$)/, 'memory_stores'],
  [/^\/v1\/skills(\/|$)/, 'skills'],
  [/^\/v1\/sessions\/[^/]+\/threads(\/|$)/, 'session threads'],
  [/^\/v1\/environments\/[^/]+\/work(\/|$)/, 'the work queue of self_hosted environments'],
  [/^\/v1\/files\/uploads(\/|$)/, 'presigned uploads'],
  [/^\/v1\/runs(\/|$)/, 'runs'],
];

/** Words for a path of such a part, or undefined for any other path. */
export function unsupportedPart(path: string): { readonly message: string; readonly code: ErrorCode } | undefined {
  const part = PARTS.find(([pattern]) => pattern.test(path))?.[1];
  return part === undefined ? undefined : { message: `not yet supported: ${part}`, code: 'unsupported' };
}
