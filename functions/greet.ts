// What `npm start` tells the person who ran it: where it listens, which model it runs, how to call it, or why it did not start.

import type { AddressInfo } from 'node:net';
import type { Config } from '../shared/config.ts';

export interface Greeting {
  readonly address: AddressInfo | string | null;
  /** A key that was just made and cannot be shown again, or null. */
  readonly firstKey: string | null;
  readonly model: string;
  readonly storage: string;
}

/** Addresses that mean every interface, and that nobody can type into a browser. */
const EVERYWHERE = new Set(['127.0.0.1', '0.0.0.0', '::', '[::]']);

/** The first line is for programs and stays as it is; the others are for people. */
export function greet(config: Config, { address, firstKey, model, storage }: Greeting): void {
  const port = typeof address === 'object' && address ? address.port : config.port;
  const host = config.host.includes(':') ? `[${config.host.replace(/[[\]]/g, '')}]` : config.host;
  const url = `http://${EVERYWHERE.has(host) ? 'localhost' : host}:${port}`;
  const demo = config.model.kind === 'demo';
  const lines = [
    `listening on http://${host}:${port}`,
    '',
    `  Reprise     ${url}   (API reference: ${url}/docs)`,
    `  Model       ${model}${demo ? ': fixed rules, offline, no language model; set ANTHROPIC_API_KEY for a real one' : ''}`,
    `  Data        ${storage}`,
    `  Client key  ${keyLine(config, firstKey)}`,
    '',
  ];
  console.log(lines.join('\n'));
}

function keyLine(config: Config, firstKey: string | null): string {
  if (config.apiKey !== null) return 'the one in REPRISE_API_KEY';
  if (firstKey !== null) return `${firstKey}   (shown once; only its hash is stored)`;
  return 'made and shown at the first start; to choose one, set REPRISE_API_KEY';
}

/** Ends the process with words on what to do; a stack only where nobody foresaw the fault. */
export function explainFailure(error: unknown): void {
  const { code, port } = error as { readonly code?: string; readonly port?: number };
  if (code === 'EADDRINUSE')
    console.error(`Port ${port} is taken: set PORT to another one, or stop what listens there.`);
  else if (code === 'EACCES') console.error(`Not allowed: ${(error as Error).message}`);
  else console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
