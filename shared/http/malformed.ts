// A request whose target or host is no URL never becomes a request of the app; it is answered like any other bad one.

import type { Ports } from '../ports/ports.ts';
import { ID_PREFIX } from '../types/ids.ts';
import { errorAnswer } from '../wire/errors.ts';
import { json } from './route.ts';

/** The 400 for it. */
export function refuseMalformed({ ids }: Pick<Ports, 'ids'>): Response {
  const requestId = ID_PREFIX.request + ids.ulid();
  const message = 'the request target and the host header do not make a URL';
  return json({ requestId }, errorAnswer('invalid_request', message, requestId), 400);
}
