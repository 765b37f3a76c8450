// API keys, an extension: made by an admin, shown once, stored as a hash.

import { z } from 'zod';
import type { ApiKey } from '../types/session.ts';
import { pageOf, Timestamp, timestampOf } from './common.ts';
import { most } from './limits.ts';

const Scope = z.enum(['api', 'admin', 'work']);

export const CreateApiKey = z
  .object({
    name: z
      .string()
      .min(1)
      .max(...most('nameCharsMax', 'characters')),
    tenant: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and -')
      .optional()
      .describe("Default: the caller's own"),
    scopes: z.array(Scope).min(1).max(3).optional().describe('Default: api'),
  })
  .meta({ id: 'CreateApiKey' });

const KEY_FIELDS = {
  id: z.string(),
  type: z.literal('api_key'),
  name: z.string(),
  tenant: z.string(),
  scopes: z.array(Scope),
  created_at: Timestamp,
} as const;
export const ApiKeyView = z.object(KEY_FIELDS).meta({ id: 'ApiKey' });
export const NewApiKeyView = z
  .object({ ...KEY_FIELDS, key: z.string().describe('The key itself; it cannot be shown again') })
  .meta({ id: 'NewApiKey' });
export const ApiKeyPage = pageOf(ApiKeyView, 'ApiKeyPage');
export const ApiKeyDeleted = z
  .object({ id: z.string(), type: z.literal('api_key_deleted') })
  .meta({ id: 'ApiKeyDeleted' });

export const apiKeyView = (key: ApiKey): z.infer<typeof ApiKeyView> => ({
  id: key.id,
  type: 'api_key',
  name: key.name,
  tenant: key.tenant,
  scopes: [...key.scopes],
  created_at: timestampOf(key.createdAt),
});
