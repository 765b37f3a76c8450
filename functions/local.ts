// `npm start`: the whole service in one process on this machine.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { composeLocal } from '../shared/compose/local.ts';
import { readConfig } from '../shared/config.ts';
import { createApp } from '../shared/http/app.ts';
import { createAuth } from '../shared/http/auth.ts';
import { createFirstKey } from '../shared/http/first-key.ts';
import { refuseMalformed } from '../shared/http/malformed.ts';
import { createEngine } from '../shared/turn/engine.ts';
import { explainFailure, greet } from './greet.ts';
import { listen } from './listen.ts';

const root = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const readText = (path: string) => readFileSync(root(path), 'utf8');
async function main(): Promise<void> {
  const config = readConfig(process.env);
  const { ports, storageLabel, onWake, close } = await composeLocal(config, root('dist/sandbox-child.mjs'));
  const engine = createEngine(ports);
  onWake(engine.run);
  const { version } = JSON.parse(readText('package.json')) as { version: string };
  const auth = createAuth(ports, config.apiKey);
  const app = createApp({ ports, engine, auth, version, openapi: readText('openapi.yaml') });
  const server = await listen(config, app.fetch, () => refuseMalformed(ports));
  // Made only now: a start that fails must not use up the one time that a key is shown.
  const firstKey = config.apiKey === null ? await createFirstKey(ports) : null;
  greet(config, { address: server.address(), firstKey, model: ports.model.label, storage: storageLabel });
  const sweep = () => engine.resumeDue().catch((error) => ports.logger.warn('sweep failed', { error: String(error) }));
  void sweep();
  setInterval(sweep, ports.limits.dueSweepMs).unref();
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  server.close();
  await engine.drain(5000);
  await close();
  process.exit(0);
}

main().catch(explainFailure);
