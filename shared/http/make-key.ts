// A new API key: `rk_<id>_<secret>`, handed out here and nowhere else; only its hash is stored.

import { saveApiKey } from '../log/resources.ts';
import type { Ports } from '../ports/ports.ts';
import { ID_PREFIX } from '../types/ids.ts';
import type { ApiKey } from '../types/session.ts';

type KeyPorts = Pick<Ports, 'storage' | 'hashing' | 'clock' | 'ids'>;

/** The key itself and its stored record. */
export async function makeApiKey(
  { storage, hashing, clock, ids }: KeyPorts,
  what: Pick<ApiKey, 'name' | 'tenant' | 'scopes'>,
): Promise<{ readonly key: string; readonly record: ApiKey }> {
  const ulid = ids.ulid();
  const secret = `${ids.nonce()}${ids.nonce()}`.replaceAll(/[^A-Za-z0-9]/g, '');
  const key = `rk_${ulid}_${secret}`;
  const record: ApiKey = { id: ID_PREFIX.apiKey + ulid, ...what, createdAt: clock.now() };
  await saveApiKey({ store: storage.system, ids }, hashing.sha256(key), record);
  return { key, record };
}
