// A small app behind the real adapter: one route per thing that a response stream can do.

import { Hono } from 'hono';
import { createStreamHandler, type LambdaEnv } from '../../../functions/lambda-stream.ts';

const app = new Hono<{ Bindings: LambdaEnv }>();
const bytes = (text: string) => new TextEncoder().encode(text);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
let ticks = 0;
setInterval(() => ticks++, 20).unref();

function stream(produce: (controller: ReadableStreamDefaultController<Uint8Array>) => Promise<void>) {
  return new ReadableStream<Uint8Array>({ start: (controller) => void produce(controller) });
}

app.get('/hello', (c) => c.json({ ticks, pid: process.pid, left: c.env.remainingMs(), id: c.env.awsRequestId }));
app.all('/echo', async (c) => {
  c.header('set-cookie', 'a=1; Path=/', { append: true });
  c.header('set-cookie', 'b=2', { append: true });
  c.header('connection', 'x-private, close');
  c.header('x-private', 'not for the client');
  c.header('keep-alive', 'timeout=77');
  const body = Buffer.from(await c.req.arrayBuffer()).toString('hex');
  const { search } = new URL(c.req.url);
  return c.json(
    { method: c.req.method, search, cookie: c.req.header('cookie'), name: c.req.header('x-name'), body },
    201,
  );
});
app.get('/chunks', (c) =>
  c.body(
    stream(async (controller) => {
      for (let i = 0; i < 4; i++) {
        controller.enqueue(bytes(`data: ${i}\n\n`));
        await pause(150);
      }
      controller.close();
    }),
  ),
);
app.get('/fails-late', (c) =>
  c.body(
    stream(async (controller) => {
      controller.enqueue(bytes('first'));
      await pause(50);
      controller.error(new Error('secret detail'));
    }),
  ),
);
app.get('/endless', (c) =>
  c.body(
    new ReadableStream({
      async pull(controller) {
        await pause(50);
        controller.enqueue(bytes('.'));
      },
    }),
  ),
);
app.get('/stuck', () => new Promise<Response>(() => {}));
app.get('/exit', () => process.exit(3));
app.get('/empty', () => new Response(null, { status: 204 }));
app.get('/binary', (c) => c.body(Uint8Array.from({ length: 256 }, (_, i) => i)));
app.get('/large', (c) => {
  let pulled = 0;
  return c.body(
    new ReadableStream({
      pull(controller) {
        console.log(`pulled=${++pulled}`);
        controller.enqueue(new Uint8Array(65_536));
        if (pulled === 640) controller.close();
      },
    }),
  );
});

export const handler = createStreamHandler({
  fetch: (request, env) => {
    if (new URL(request.url).pathname === '/throws') throw new Error('secret detail');
    return app.fetch(request, env);
  },
});
