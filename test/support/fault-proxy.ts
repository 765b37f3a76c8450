// A proxy in front of an HTTP server that does one planned fault per request, in order, and passes everything else through.

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Fault =
  /** Answers itself; the server never hears of the request. */
  | { readonly kind: 'answer'; readonly status: number; readonly body: string }
  /** Closes the connection before the server hears of it. */
  | { readonly kind: 'refuse' }
  /** The server does it, the answer is lost. */
  | { readonly kind: 'lose' }
  /** The server does it, half of the answer's body arrives. */
  | { readonly kind: 'cut' };

/** What went through, the faulty ones included. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface FaultProxy {
  readonly url: string;
  readonly seen: readonly Seen[];
  /** For the next requests, one each; `always` for all until it is called again. */
  plan(faults: readonly Fault[] | { readonly always: Fault }): void;
  close(): Promise<void>;
}

export async function startFaultProxy(target: string): Promise<FaultProxy> {
  let seen: Seen[] = [];
  let planned: Fault[] = [];
  let always: Fault | undefined;
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url: path = '', headers } = incoming;
    seen = [...seen, { method, path, headers, body: body.toString() }];
    const fault = planned.shift() ?? always;
    if (fault?.kind === 'refuse') return void incoming.socket.destroy();
    if (fault?.kind === 'answer') {
      outgoing.writeHead(fault.status, { 'content-type': 'application/x-amz-json-1.0' }).end(fault.body);
      return;
    }
    forward(new URL(path, target), { incoming, body, outgoing, fault });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get seen() {
      return seen;
    },
    plan(faults) {
      planned = 'always' in faults ? [] : [...faults];
      always = 'always' in faults ? faults.always : undefined;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly body: Buffer;
  readonly outgoing: ServerResponse;
  readonly fault: Fault | undefined;
}

function forward(url: URL, { incoming, body, outgoing, fault }: Exchange): void {
  const { method, headers } = incoming;
  const onward = request(url, { method, headers }, async (answer) => {
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    if (fault?.kind === 'lose') return void incoming.socket.destroy();
    const full = Buffer.concat(chunks);
    const { 'transfer-encoding': _, ...kept } = answer.headers;
    const length = method === 'HEAD' ? {} : { 'content-length': full.length };
    outgoing.writeHead(answer.statusCode ?? 500, { ...kept, ...length });
    if (fault?.kind !== 'cut') return void outgoing.end(full);
    outgoing.write(full.subarray(0, full.length >> 1), () => setImmediate(() => incoming.socket.destroy()));
  });
  onward.on('error', () => incoming.socket.destroy());
  onward.end(body);
}
