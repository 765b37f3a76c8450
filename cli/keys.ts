// `reprise keys`: make, list and revoke the client keys of a running service. Needs a key with the scope `admin`.

import type { Command } from 'commander';
import { ApiKeyPage, NewApiKeyView } from '../shared/wire/api-keys.ts';
import { callService } from './call-service.ts';

const PATH = '/v1/api_keys';

export function addKeysCommand(program: Command): void {
  const keys = program.command('keys').description('the client keys of the service at REPRISE_URL');

  keys
    .command('create')
    .description('make a key and print it; it cannot be shown again')
    .argument('<name>', 'what it is for')
    .option('--tenant <tenant>', 'whose data it opens; default your own')
    .option('--scope <scope...>', 'api, admin, work; default api')
    .action(async (name: string, { tenant, scope }: { tenant?: string; scope?: readonly string[] }) => {
      const body = { name, ...(tenant ? { tenant } : {}), ...(scope ? { scopes: scope } : {}) };
      console.log(NewApiKeyView.parse(await callService('POST', PATH, body)).key);
    });

  keys
    .command('list')
    .description('print id, tenant, scopes, time and name of each key')
    .option('--json', 'print the answer as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const page = ApiKeyPage.parse(await callService('GET', PATH));
      if (json) return console.log(JSON.stringify(page.data, null, 2));
      console.log(['ID', 'TENANT', 'SCOPES', 'CREATED', 'NAME'].join('\t'));
      for (const key of page.data) {
        console.log([key.id, key.tenant, key.scopes.join(','), key.created_at, key.name].join('\t'));
      }
    });

  keys
    .command('revoke')
    .description('delete a key; it is refused from the next request on')
    .argument('<id>', 'as `keys list` prints it')
    .action(async (id: string) => {
      await callService('DELETE', `${PATH}/${encodeURIComponent(id)}`);
      console.log(`revoked ${id}`);
    });
}
