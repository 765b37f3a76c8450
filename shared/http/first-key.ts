// The first client key of an installation on loopback: made once, shown once, kept only as a hash.

import { listApiKeys, saveApiKey } from '../log/resources.ts';
import type { Ports } from '../ports/ports.ts';
import { ID_PREFIX } from '../types/ids.ts';
import { DEFAULT_TENANT } from './auth.ts';

/** A new key with every scope, or null where the installation has keys already. */
export async function createFirstKey({ storage, ids, hashing, clock }: Ports): Promise<string | null> {
  if ((await listApiKeys(storage.system, { limit: 1 })).length > 0) return null;
  const id = ids.ulid();
  const key = `rk_${id}_${ids.nonce()}`;
  const record = {
    id: ID_PREFIX.apiKey + id,
    name: 'first key',
    tenant: DEFAULT_TENANT,
    scopes: ['api', 'admin', 'work'],
    createdAt: clock.now(),
  } as const;
  await saveApiKey({ store: storage.system, ids }, hashing.sha256(key), record);
  return key;
}
