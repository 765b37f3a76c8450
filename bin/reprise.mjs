#!/usr/bin/env node
// Runs Reprise with a Node that is new enough: this one, or the one that came with the packages. `dev` builds first where
// sources are newer than dist/, then becomes the service; every other command is the CLI. Plain JavaScript for old Nodes.

import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sourceStamp } from './source-stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const SERVICE_FLAGS = ['--disable-sigusr1', '--max-semi-space-size=4'];

/** This Node if it is recent enough, else the packaged one. */
function findNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 24 || (major === 24 && minor >= 21)) return process.execPath;
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  try {
    const file = process.platform === 'win32' ? 'node.exe' : 'node';
    return createRequire(import.meta.url).resolve(`node-${platform}-${process.arch}/bin/${file}`);
  } catch {
    console.error(`Reprise needs Node 24.21 or newer; this is ${process.version}, and no packaged Node is installed.`);
    process.exit(1);
  }
}

function readStamp() {
  try {
    return readFileSync(join(dist, '.stamp'), 'utf8');
  } catch {
    return null;
  }
}

/** In a checkout: build if a source changed since the last build. An installed package carries its dist/. */
function ensureBuilt(node) {
  const stamp = sourceStamp(root);
  if (stamp === null || readStamp() === stamp) return;
  const built = spawnSync(node, [join(root, 'scripts/build.ts')], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (built.status !== 0) process.exit(built.status ?? 1);
}

/** Becomes `node args…`: the same process where the platform can, else a child that gets our signals and dies with us. */
function become(node, args) {
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(node, [node, ...args], process.env);
  }
  const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], detached: true });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const forward = (signal) => child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, forward);
    if (signal) process.kill(process.pid, signal);
    else process.exit(code ?? 1);
  });
}

const node = findNode();
const [command, ...rest] = process.argv.slice(2);
ensureBuilt(node);
if (command === 'dev' && rest.length === 0) become(node, [...SERVICE_FLAGS, join(dist, 'local.mjs')]);
else if (node === process.execPath) await import(new URL('../dist/cli.mjs', import.meta.url).href);
else become(node, [join(dist, 'cli.mjs'), ...process.argv.slice(2)]);
