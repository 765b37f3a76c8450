// The description of the service, made from the same table of routes that serves it.

import { readFileSync } from 'node:fs';
import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { Route } from '../shared/http/route.ts';
import { ROUTES } from '../shared/http/routes.ts';
import { ErrorAnswer } from '../shared/wire/errors.ts';

const TAGS: readonly { readonly name: string; readonly description: string }[] = [
  { name: 'Agents', description: 'What works: a model, a system prompt and tools, in versions.' },
  { name: 'Environments', description: 'Where sessions run.' },
  { name: 'Sessions', description: 'One conversation of an agent, durable and resumable.' },
  { name: 'Events', description: 'What a session hears and says: send, follow, list, stream.' },
  { name: 'Session resources', description: "Files in a session's workspace." },
  { name: 'Files', description: 'Uploads, and what agents wrote for download.' },
  { name: 'API keys', description: 'An extension: keys of clients, with scopes and a tenant.' },
  { name: 'Service', description: 'The service itself.' },
];

const PARAM_WORDS: Readonly<Record<string, string>> = {
  agent_id: 'agent_…',
  environment_id: 'env_…',
  session_id: 'sesn_…',
  resource_id: 'sesrsc_…',
  file_id: 'file_…',
  key_id: 'key_…',
};

const json = (schema: z.ZodType) => ({ 'application/json': { schema } });

function configOf({ spec }: Route): RouteConfig {
  const names = [...spec.path.matchAll(/\{(\w+)\}/g)].map((m) => m[1] as string);
  const params = z.object(
    Object.fromEntries(names.map((name) => [name, z.string().describe(PARAM_WORDS[name] ?? name)])),
  );
  const headers = spec.headers?.map(({ name, description }) =>
    z.object({ [name]: z.string().optional().describe(description) }),
  );
  const answers = Object.entries(spec.answers).map(([status, answer]) => {
    const type = answer.contentType ?? 'application/json';
    const also = Object.entries(answer.also ?? {}).map(([t, schema]) => [t, { schema }]);
    const content = { ...(answer.schema ? { [type]: { schema: answer.schema } } : {}), ...Object.fromEntries(also) };
    return [status, { description: answer.description, content }] as const;
  });
  const body = spec.body
    ? { required: true, content: json(spec.body) }
    : spec.multipart && { required: true, content: { 'multipart/form-data': { schema: spec.multipart } } };
  return {
    method: spec.method,
    path: spec.path,
    operationId: spec.operationId,
    summary: spec.summary,
    ...(spec.description ? { description: spec.description } : {}),
    tags: [spec.tag],
    security: spec.access === 'public' ? [] : [{ bearer: [] }, { apiKey: [] }],
    request: {
      ...(names.length > 0 ? { params } : {}),
      ...(spec.query ? { query: spec.query as z.ZodObject } : {}),
      ...(headers ? { headers } : {}),
      ...(body ? { body } : {}),
    },
    responses: {
      ...Object.fromEntries(answers),
      '4XX': { description: 'The request is refused; the message names the field', content: json(ErrorAnswer) },
      '5XX': { description: 'The service failed', content: json(ErrorAnswer) },
    },
  };
}

/** The text of `openapi.yaml`. */
export function openApiText(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  const app = new OpenAPIHono();
  for (const route of ROUTES) app.openAPIRegistry.registerPath(configOf(route));
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer' });
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', {
    type: 'apiKey',
    in: 'header',
    name: 'x-api-key',
  });
  const {
    openapi,
    info,
    webhooks: _none,
    ...rest
  } = app.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Reprise',
      version,
      description: 'An agent service that speaks the Managed Agents wire; extensions stand under `reprise`.',
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...TAGS],
  });
  return stringify({ openapi, info, ...rest }, { lineWidth: 0, aliasDuplicateObjects: false });
}
