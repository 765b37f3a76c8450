// API keys, an extension for admins: made here, shown once, stored as a hash.

import { listApiKeys, removeApiKey } from '../../log/resources.ts';
import { ServiceError } from '../../types/errors.ts';
import { tenantId } from '../../types/ids.ts';
import type { ApiKey } from '../../types/session.ts';
import { ApiKeyDeleted, ApiKeyPage, apiKeyView, CreateApiKey, NewApiKeyView } from '../../wire/api-keys.ts';
import { notFound } from '../find.ts';
import { makeApiKey } from '../make-key.ts';
import { defineRoute, json, type Route } from '../route.ts';
import type { Caller, Service } from '../service.ts';

const tag = 'API keys';
const KEYS_PER_PAGE = 500;

const create = defineRoute(
  {
    method: 'post',
    path: '/v1/api_keys',
    operationId: 'createApiKey',
    summary: 'Create an API key',
    description: 'The answer is the only place where the key itself is shown. Needs the scope `admin`.',
    tag,
    access: 'admin',
    body: CreateApiKey,
    answers: { 200: { description: 'The key', schema: NewApiKeyView } },
  },
  async (request) => {
    const { service, caller, body } = request;
    const tenant = body.tenant === undefined ? caller.tenant : tenantId(body.tenant);
    if (tenant !== caller.tenant && !caller.root) {
      throw new ServiceError('forbidden', 'tenant: only an admin of the default tenant makes keys of other tenants');
    }
    const { key, record } = await makeApiKey(service.ports, {
      name: body.name,
      tenant,
      scopes: body.scopes ?? ['api'],
    });
    return json(request, { ...apiKeyView(record), key });
  },
);

const list = defineRoute(
  {
    method: 'get',
    path: '/v1/api_keys',
    operationId: 'listApiKeys',
    summary: 'List API keys',
    description: 'Never the keys themselves. An admin of the default tenant sees the keys of all tenants.',
    tag,
    access: 'admin',
    answers: { 200: { description: 'All keys', schema: ApiKeyPage } },
  },
  async (request) => {
    const keys = await visibleKeys(request.service, request.caller);
    keys.sort((a, b) => (a.key.id < b.key.id ? 1 : -1));
    return json(request, { data: keys.map(({ key }) => apiKeyView(key)), next_page: null });
  },
);

const remove = defineRoute(
  {
    method: 'delete',
    path: '/v1/api_keys/{key_id}',
    operationId: 'deleteApiKey',
    summary: 'Delete an API key',
    description: 'It is refused from the next request on.',
    tag,
    access: 'admin',
    answers: { 200: { description: 'It is gone', schema: ApiKeyDeleted } },
  },
  async (request) => {
    const id = request.param('key_id');
    const found = (await visibleKeys(request.service, request.caller)).find(({ key }) => key.id === id);
    if (!found) throw notFound('API key', id);
    await removeApiKey(request.service.ports.storage.system, found.hash);
    return json(request, { id, type: 'api_key_deleted' });
  },
);

async function visibleKeys(
  service: Service,
  caller: Caller,
): Promise<{ readonly hash: string; readonly key: ApiKey }[]> {
  const keys: { readonly hash: string; readonly key: ApiKey }[] = [];
  for (let after: string | undefined; ; ) {
    const options = { ...(after === undefined ? {} : { after }), limit: KEYS_PER_PAGE };
    const page = await listApiKeys(service.ports.storage.system, options);
    keys.push(...page.filter(({ key }) => caller.root || key.tenant === caller.tenant));
    if (page.length < KEYS_PER_PAGE) return keys;
    after = page.at(-1)?.hash;
  }
}

export const API_KEY_ROUTES: readonly Route[] = [create, list, remove];
