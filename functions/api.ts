// The HTTP API on Lambda, with streamed answers. Loaded by the runtime only: it needs the `awslambda` global.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../package.json' with { type: 'json' };
import { composeApi } from '../shared/compose/api.ts';
import { readConfig } from '../shared/config.ts';
import { createApp } from '../shared/http/app.ts';
import { createAuth } from '../shared/http/auth.ts';
import { createEngine } from '../shared/turn/engine.ts';
import { createStreamHandler } from './lambda-stream.ts';

const config = readConfig(process.env);
const { ports, onWake } = composeApi(config);
const engine = createEngine(ports);
onWake(engine.run);

const app = createApp({
  ports,
  engine,
  auth: createAuth(ports, config.apiKey),
  version: packageJson.version,
  openapi: readFileSync(join(import.meta.dirname, 'openapi.yaml'), 'utf8'),
  lambda: true,
});

export const handler = createStreamHandler({
  fetch: (request, env) => app.fetch(request, env),
  // Frozen work would wait for the next request: what runs may end first.
  afterResponse: (remainingMs) => engine.drain(remainingMs),
});
