// Who is calling: the key from `Authorization: Bearer` or `x-api-key`, compared by hash. Only hashes of keys are stored.

import { readApiKey } from '../log/resources.ts';
import type { Ports } from '../ports/ports.ts';
import { ServiceError } from '../types/errors.ts';
import { tenantId } from '../types/ids.ts';
import type { Authenticate, Caller, Service } from './service.ts';

export const DEFAULT_TENANT = tenantId('default');
const KEY_CHARS_MAX = 512;

/** `bootstrapKey` opens everything in the default tenant; all others are looked up by the hash of the whole key. */
export function createAuth(
  { storage, hashing }: Pick<Ports, 'storage' | 'hashing'>,
  bootstrapKey: string | null,
): Authenticate {
  const bootstrapHash = bootstrapKey === null ? null : hashing.sha256(bootstrapKey);
  const root: Caller = { tenant: DEFAULT_TENANT, scopes: ['api', 'admin', 'work'], root: true };
  return async (key) => {
    const hash = hashing.sha256(key);
    if (bootstrapHash !== null && equalConstantTime(hash, bootstrapHash)) return root;
    if (!key.startsWith('rk_')) return null;
    const stored = await readApiKey(storage.system, hash);
    if (!stored) return null;
    const { tenant, scopes } = stored;
    return { tenant, scopes, root: tenant === DEFAULT_TENANT && scopes.includes('admin') };
  };
}

/** Time depends on the length alone. */
function equalConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}

/** The caller of a request. Throws a 401 where there is no key or nobody has it, a 403 where its scopes do not suffice. */
export async function identify(
  service: Service,
  header: (name: string) => string | undefined,
  access: 'api' | 'admin',
): Promise<Caller> {
  const key = keyOf(header);
  if (key === null) {
    throw new ServiceError(
      'unauthenticated',
      'no API key: send it as `Authorization: Bearer KEY` or as `x-api-key: KEY`',
    );
  }
  const caller = key.length > KEY_CHARS_MAX ? null : await service.authenticate(key);
  if (!caller) throw new ServiceError('unauthenticated', 'this API key is not known');
  if (!caller.scopes.includes(access)) {
    throw new ServiceError('forbidden', `this API key does not have the scope ${access}`);
  }
  return caller;
}

function keyOf(header: (name: string) => string | undefined): string | null {
  const bearer = /^Bearer +(\S+) *$/i.exec(header('authorization') ?? '')?.[1];
  return bearer ?? header('x-api-key')?.trim() ?? null;
}
