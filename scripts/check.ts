// `npm run check`: format, lint, boundaries, types and the unit tests, offline. Prints one line per part, and the whole
// output of the parts that failed; exit code 1 if any did.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const unitTests = ['core', 'wire', 'log', 'tools', 'transcript', 'architecture'].map((room) => `test/${room}/`);

const parts = [
  { name: 'format and lint', command: ['biome', 'check', '--error-on-warnings', '.'] },
  { name: 'boundaries', command: ['oxlint', '--deny-warnings', '--format=unix', '.'] },
  { name: 'types', command: ['tsc', '-p', '.'] },
  {
    name: 'unit tests',
    command: ['vitest', 'run', '--reporter=dot', ...unitTests.filter((path) => existsSync(join(root, path)))],
  },
];

interface Outcome {
  readonly name: string;
  readonly code: number;
  readonly seconds: number;
  readonly output: string;
}

function run(name: string, [tool = '', ...args]: readonly string[]): Promise<Outcome> {
  const startedAt = performance.now();
  const child = spawn(join(root, 'node_modules/.bin', tool), args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => {
    const end = (code: number): void =>
      resolve({ name, code, seconds: (performance.now() - startedAt) / 1000, output });
    child.on('error', (error) => {
      output += error.message;
      end(1);
    });
    child.on('close', (code) => end(code ?? 1));
  });
}

const outcomes = await Promise.all(parts.map(({ name, command }) => run(name, command)));
for (const { name, code, seconds, output } of outcomes) {
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'} ${name} (${seconds.toFixed(1)} s)`);
  if (code !== 0) console.log(output);
  else if (name === 'unit tests') console.log(output.trim().split('\n').slice(-6).join('\n'));
}
process.exitCode = outcomes.some(({ code }) => code !== 0) ? 1 : 0;
