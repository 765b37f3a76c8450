// What `npm start` tells the person who ran it: where it listens, which model it runs, how to call it.

import type { Config } from '../shared/config.ts';

export interface Greeting {
  readonly port: number;
  /** A key that was just made and cannot be shown again, or null. */
  readonly firstKey: string | null;
  readonly model: string;
  readonly storage: string;
}

/** The first line is for programs and stays as it is; the others are for people. */
export function greet(config: Config, { port, firstKey, model, storage }: Greeting): void {
  const host = config.host.includes(':') ? `[${config.host.replace(/[[\]]/g, '')}]` : config.host;
  const url = `http://${host === '127.0.0.1' ? 'localhost' : host}:${port}`;
  const demo = config.model.kind === 'demo';
  const lines = [
    `listening on http://${host}:${port}`,
    '',
    `  Reprise     ${url}   (API reference: ${url}/docs)`,
    `  Model       ${model}${demo ? ': scripted, offline, no real answers; set ANTHROPIC_API_KEY for a real model' : ''}`,
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
