// The first key of an installation that has none: made once, so that a newcomer can start; it is shown by the caller.

import { listApiKeys } from '../log/resources.ts';
import type { Ports } from '../ports/ports.ts';
import { DEFAULT_TENANT } from './auth.ts';
import { makeApiKey } from './make-key.ts';

/** The new key, or null where the installation has keys already (they cannot be shown again). */
export async function createFirstKey(
  ports: Pick<Ports, 'storage' | 'hashing' | 'clock' | 'ids'>,
): Promise<string | null> {
  const [existing] = await listApiKeys(ports.storage.system, { limit: 1 });
  if (existing) return null;
  const { key } = await makeApiKey(ports, {
    name: 'first key',
    tenant: DEFAULT_TENANT,
    scopes: ['api', 'admin', 'work'],
  });
  return key;
}
