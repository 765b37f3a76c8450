// The door: every route of the table, behind keys and limits; every answer has a request id, every error the SDK's shape,
// and nothing internal leaks.

import { Hono } from 'hono';
import type { Ports } from '../ports/ports.ts';
import type { Engine } from '../turn/engine-types.ts';
import { ServiceError } from '../types/errors.ts';
import { ID_PREFIX } from '../types/ids.ts';
import { ERROR_STATUS, errorAnswer } from '../wire/errors.ts';
import { DEFAULT_TENANT, identify } from './auth.ts';
import { parseWith, readJson } from './read-body.ts';
import { arraysOf, readQuery } from './read-query.ts';
import { json, type Route } from './route.ts';
import { ROUTES } from './routes.ts';
import type { Authenticate, Caller, Service } from './service.ts';
import { unsupportedPart } from './unsupported.ts';

export interface AppOptions {
  readonly ports: Ports;
  readonly engine: Engine;
  /** From `createAuth`. */
  readonly auth: Authenticate;
  readonly version: string;
  /** The text of `openapi.yaml`, served as it is. */
  readonly openapi: string;
  /** On Lambda a request is smaller. */
  readonly lambda?: boolean;
}

const NOBODY: Caller = { tenant: DEFAULT_TENANT, scopes: [], root: false };

export function createApp({ ports, engine, auth, version, openapi, lambda }: AppOptions): Hono {
  const { limits } = ports;
  const service: Service = {
    ports,
    engine,
    authenticate: auth,
    version,
    openapi,
    bodyBytesMax: lambda ? limits.requestBodyBytesMaxLambda : limits.requestBodyBytesMax,
    streams: new Map(),
  };
  const app = new Hono();
  for (const route of ROUTES) {
    const { method, path, aliases = [] } = route.spec;
    const paths = [path, ...aliases].map((p) => p.replaceAll(/\{(\w+)\}/g, ':$1'));
    const serve = serveRoute(service, route);
    app.on(method.toUpperCase(), paths, (c) =>
      serve(
        c.req.raw,
        (name) => c.req.param(name) ?? '',
        (name) => c.req.header(name),
      ),
    );
  }
  app.get('/', () => {
    const headers = { location: '/docs', 'request-id': newRequestId(service) };
    return new Response(null, { status: 302, headers });
  });
  app.notFound((c) => {
    const { message, code } = unsupportedPart(c.req.path) ?? {
      message: `there is no ${c.req.method} ${c.req.path.slice(0, 200)}`,
      code: 'not_found' as const,
    };
    return fail(service, newRequestId(service), new ServiceError(code, message));
  });
  app.onError((error) => fail(service, newRequestId(service), error));
  return app;
}

const newRequestId = ({ ports }: Service): string => ID_PREFIX.request + ports.ids.ulid();

type Serve = (
  raw: Request,
  param: (name: string) => string,
  header: (name: string) => string | undefined,
) => Promise<Response>;

/** One request of one route: who calls, what is asked, and the answer, or the error in its place. */
function serveRoute(service: Service, { spec, handle }: Route): Serve {
  const arrays = arraysOf(spec.query);
  const access = spec.access ?? 'api';
  return async (raw, param, header) => {
    const requestId = newRequestId(service);
    try {
      const caller = access === 'public' ? NOBODY : await identify(service, header, access);
      const query = spec.query ? parseWith(spec.query, readQuery(raw.url, arrays)) : undefined;
      const body = spec.body ? await readJson(raw, spec.body, service.bodyBytesMax) : undefined;
      return await handle({ service, caller, requestId, raw, query, body, param, header });
    } catch (error) {
      return fail(service, requestId, error);
    }
  };
}

/** An error as the client may see it; what it does not know how to read is logged and answered as a plain 500. */
function fail(service: Service, requestId: string, error: unknown): Response {
  if (error instanceof ServiceError) {
    const { code, message, details, retryAfterSeconds } = error;
    const retry: Record<string, string> =
      retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
    return json({ requestId }, errorAnswer(code, message, requestId, details), ERROR_STATUS[code], retry);
  }
  service.ports.logger.error('a request failed', {
    requestId,
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  });
  return json({ requestId }, errorAnswer('internal', 'an internal error; see the log of the service', requestId), 500);
}
