// `reprise doctor`: what would keep the service from running well here, each with what to do. Changes nothing.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { probeNetworkNamespace, readLocalConfig } from '../shared/compose/cli.ts';

export interface Finding {
  readonly check: string;
  /** `warn`: works, but know this. `fail`: will not work. */
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
}

type Config = ReturnType<typeof readLocalConfig>;

const NODE_MIN = [24, 21] as const;
const HEALTH_MS = 2000;

/** All findings, in a fixed order; never throws. */
export async function runDoctor(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  const findings = [checkNode(process.versions.node), await checkSandbox()];
  try {
    const config = readLocalConfig(environment);
    return [...findings, checkModel(config), checkDataDir(config.dataDir), await checkPort(config)];
  } catch (error) {
    return [...findings, { check: 'configuration', level: 'fail', detail: messageOf(error) }];
  }
}

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isRecent = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1]);
  const detail = isRecent ? `Node ${version}` : `Node ${version}; needs ${NODE_MIN.join('.')}: run \`npm ci\` first`;
  return { check: 'node', level: isRecent ? 'ok' : 'fail', detail };
}

async function checkSandbox(): Promise<Finding> {
  if (await probeNetworkNamespace()) {
    return { check: 'sandbox', level: 'ok', detail: 'virtual; its processes have a network namespace of their own' };
  }
  const detail =
    'virtual; no user namespaces here (`unshare` fails), so its network wall is the prelude in the process alone';
  return { check: 'sandbox', level: 'warn', detail };
}

function checkModel({ model }: Config): Finding {
  if (model.kind === 'demo') {
    const detail = 'the scripted demo model; set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL for a real one';
    return { check: 'model', level: 'warn', detail };
  }
  const where = model.baseUrl ?? 'the Anthropic API';
  return { check: 'model', level: 'ok', detail: `${where} (not called)` };
}

/** Writes and removes one file; where the directory does not exist yet, in its nearest ancestor. */
function checkDataDir(dataDir: string): Finding {
  const path = resolve(dataDir);
  try {
    let directory = path;
    while (!existsSync(directory)) directory = dirname(directory);
    const probe = join(directory, `.reprise-probe-${randomUUID()}`);
    mkdirSync(probe);
    writeFileSync(join(probe, 'file'), 'x');
    rmSync(probe, { recursive: true });
    return { check: 'data', level: 'ok', detail: `${path} is writable` };
  } catch (error) {
    return { check: 'data', level: 'fail', detail: `${path}: ${messageOf(error)}; set REPRISE_DATA_DIR` };
  }
}

async function checkPort({ host, port }: Config): Promise<Finding> {
  const error = await listenOnce(host, port);
  if (error === null) return { check: 'port', level: 'ok', detail: `${host}:${port} is free` };
  const version = error.code === 'EADDRINUSE' ? await runningVersion(host, port) : null;
  if (version !== null) {
    return { check: 'port', level: 'ok', detail: `${host}:${port}: Reprise ${version} runs there already` };
  }
  const detail = `${host}:${port}: ${error.message}; set PORT, or stop what listens there`;
  return { check: 'port', level: 'fail', detail };
}

function listenOnce(host: string, port: number): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  return new Promise((resolveError) => {
    server.once('error', resolveError);
    server.listen(port, host, () => server.close(() => resolveError(null)));
  });
}

/** The version of the Reprise that listens there; null where something else does. */
async function runningVersion(host: string, port: number): Promise<string | null> {
  const plain = host.replace(/[[\]]/g, '');
  const reachable = { '0.0.0.0': '127.0.0.1', '::': '::1' }[plain] ?? plain;
  const url = `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/healthz`;
  try {
    const health: unknown = await (await fetch(url, { signal: AbortSignal.timeout(HEALTH_MS) })).json();
    const { status, version, model } = health as Readonly<Record<string, unknown>>;
    return status === 'ok' && typeof version === 'string' && typeof model === 'string' ? version.slice(0, 30) : null;
  } catch {
    return null;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
