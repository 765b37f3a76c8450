// A route as data: from one definition come the parsing of its requests and its part of `openapi.yaml`, so they agree.

import type { z } from 'zod';
import type { Caller, Service } from './service.ts';

export interface Answer {
  readonly description: string;
  readonly schema?: z.ZodType;
  /** Default `application/json`. */
  readonly contentType?: string;
  /** Further media types of the same status. */
  readonly also?: Readonly<Record<string, z.ZodType>>;
}

export interface HeaderDoc {
  readonly name: string;
  readonly description: string;
}

export interface Spec<Q extends z.ZodType, B extends z.ZodType> {
  readonly method: 'get' | 'post' | 'delete';
  /** With parameters in braces, as OpenAPI writes them. */
  readonly path: `/${string}`;
  /** Further paths that answer the same; not in the document. */
  readonly aliases?: readonly `/${string}`[];
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  /** Who may call it; default `api`. */
  readonly access?: 'api' | 'admin' | 'public';
  readonly query?: Q;
  /** The JSON body; where absent, a body is not read. */
  readonly body?: B;
  /** For the document only: the route reads its body by itself. */
  readonly multipart?: z.ZodType;
  readonly headers?: readonly HeaderDoc[];
  readonly answers: Readonly<Record<number, Answer>>;
}

export interface RouteRequest<Q = unknown, B = unknown> {
  readonly service: Service;
  readonly caller: Caller;
  readonly requestId: string;
  /** The untouched request. */
  readonly raw: Request;
  readonly query: Q;
  readonly body: B;
  /** A part of the path, decoded; empty where there is none of that name. */
  readonly param: (name: string) => string;
  readonly header: (name: string) => string | undefined;
}

export interface Route {
  readonly spec: Spec<z.ZodType, z.ZodType>;
  readonly handle: (request: RouteRequest) => Promise<Response>;
}

/** Binds a handler to its definition; its query and body have the types of the schemas. */
export function defineRoute<Q extends z.ZodType = z.ZodUndefined, B extends z.ZodType = z.ZodUndefined>(
  spec: Spec<Q, B>,
  handle: (request: RouteRequest<z.output<Q>, z.output<B>>) => Promise<Response>,
): Route {
  return { spec, handle: handle as Route['handle'] };
}

export const IDEMPOTENCY_HEADER: HeaderDoc = {
  name: 'idempotency-key',
  description: 'The same key with the same request has the same answer for a day, and happens once',
};

const JSON_HEADERS = { 'content-type': 'application/json' } as const;

/** A JSON answer with the request's id. */
export function json(
  { requestId }: Pick<RouteRequest, 'requestId'>,
  value: unknown,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const all = { ...JSON_HEADERS, 'request-id': requestId, ...headers };
  return new Response(JSON.stringify(value), { status, headers: all });
}
