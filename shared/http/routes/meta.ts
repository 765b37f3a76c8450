// What the service says about itself: that it lives, its limits, its description, and a page to read it.

import { z } from 'zod';
import { LIMITS } from '../../types/limits.ts';
import { docsPage } from '../docs-page.ts';
import { defineRoute, json, type Route } from '../route.ts';

const tag = 'Service';
const text = (requestId: string, type: string, body: string, more: Readonly<Record<string, string>> = {}): Response =>
  new Response(body, { headers: { 'content-type': type, 'request-id': requestId, ...more } });

const health = defineRoute(
  {
    method: 'get',
    path: '/healthz',
    operationId: 'health',
    summary: 'Whether the service lives',
    tag,
    access: 'public',
    answers: {
      200: {
        description: 'It does',
        schema: z.object({ status: z.literal('ok'), version: z.string(), model: z.string() }).meta({ id: 'Health' }),
      },
    },
  },
  async (request) => {
    const { version, ports } = request.service;
    return json(request, { status: 'ok', version, model: ports.model.label });
  },
);

const LimitsView = z
  .object(Object.fromEntries(Object.keys(LIMITS).map((name) => [name, z.number()])) as Record<string, z.ZodNumber>)
  .meta({ id: 'Limits', description: 'Every limit by its name, with the unit in the name' });

const limits = defineRoute(
  {
    method: 'get',
    path: '/v1/limits',
    operationId: 'getLimits',
    summary: 'Every limit and its value',
    tag,
    answers: { 200: { description: 'The limits', schema: LimitsView } },
  },
  async (request) => json(request, request.service.ports.limits),
);

const openapi = defineRoute(
  {
    method: 'get',
    path: '/openapi.yaml',
    operationId: 'getOpenApi',
    summary: 'This description',
    tag,
    access: 'public',
    answers: { 200: { description: 'OpenAPI 3.1', schema: z.string(), contentType: 'application/yaml' } },
  },
  async ({ service, requestId }) => text(requestId, 'application/yaml; charset=utf-8', service.openapi),
);

const CSP =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const docs = defineRoute(
  {
    method: 'get',
    path: '/docs',
    aliases: ['/docs/'],
    operationId: 'getDocs',
    summary: 'This description as a page',
    tag,
    access: 'public',
    answers: { 200: { description: 'A page without scripts', schema: z.string(), contentType: 'text/html' } },
  },
  async ({ service, requestId }) =>
    text(requestId, 'text/html; charset=utf-8', docsPage(service.openapi, service.version), {
      'content-security-policy': CSP,
    }),
);

export const META_ROUTES: readonly Route[] = [health, limits, openapi, docs];
