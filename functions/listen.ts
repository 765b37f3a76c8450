// Node's server before the app: bound on return, and a request that is no request gets an answer in the shape of all others.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';

type Fetch = (request: Request) => Response | Promise<Response>;

/** `port` 0: a free one. `refuse` answers what cannot be read as a request. Throws where the address cannot be had. */
export async function listen(
  { host: hostname, port }: { readonly host: string; readonly port: number },
  fetch: Fetch,
  refuse: () => Response,
): Promise<Server> {
  const server = createServer(getRequestListener(fetch, { hostname, errorHandler: refuse }));
  server.listen(port, hostname);
  await once(server, 'listening');
  return server;
}
