// Who may import whom: oxlint passes on the project, and refuses one planted violation per room, in a copy.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'boundaries-'));
const RESTRICTED_IMPORT = 'no-restricted-imports';

/** File, its text, the rule that must refuse it. */
const PLANTED: readonly (readonly [path: string, text: string, rule: string])[] = [
  ['shared/types/bad.ts', "import '../core/fold.ts';", RESTRICTED_IMPORT],
  ['shared/types/bad-package.ts', "import type { Hono } from 'hono';\nexport type A = Hono;", RESTRICTED_IMPORT],
  ['shared/core/bad.ts', "import type { Clock } from '../ports/system.ts';\nexport type A = Clock;", RESTRICTED_IMPORT],
  ['shared/core/bad-node.ts', "import { join } from 'node:path';\nexport const a = join;", RESTRICTED_IMPORT],
  ['shared/core/bad-package.ts', "export { z } from 'zod';", RESTRICTED_IMPORT],
  ['shared/core/bad-lazy.ts', "export const a = () => import('../adapters/system.ts');", RESTRICTED_IMPORT],
  ['shared/core/bad-detour.ts', "import './../adapters/system.ts';", RESTRICTED_IMPORT],
  ['shared/core/bad-type.ts', "export type A = import('../ports/system.ts').Clock;", 'consistent-type-imports'],
  ['shared/core/check/bad.ts', "import '../../ports/system.ts';", RESTRICTED_IMPORT],
  ['shared/core/sanitize/bad.ts', "import '../../adapters/system.ts';", RESTRICTED_IMPORT],
  ['shared/transcript/bad.ts', "import '../ports/system.ts';", RESTRICTED_IMPORT],
  ['shared/ports/bad.ts', "import '../core/fold.ts';", RESTRICTED_IMPORT],
  ['shared/log/bad.ts', "import '../adapters/system.ts';", RESTRICTED_IMPORT],
  ['shared/turn/bad.ts', "import '../tools/bash.ts';", RESTRICTED_IMPORT],
  ['shared/tools/bad.ts', "import '../turn/engine.ts';", RESTRICTED_IMPORT],
  ['shared/adapters/bad.ts', "import '../core/fold.ts';", RESTRICTED_IMPORT],
  ['shared/adapters/bad-sibling.ts', "import './local-wake.ts';", RESTRICTED_IMPORT],
  ['shared/adapters/folder/bad.ts', "import '../local-wake.ts';", RESTRICTED_IMPORT],
  ['shared/adapters/folder/bad-core.ts', "import '../../core/fold.ts';", RESTRICTED_IMPORT],
  ['shared/wire/bad.ts', "import '../ports/system.ts';", RESTRICTED_IMPORT],
  ['shared/http/bad.ts', "import '../adapters/system.ts';", RESTRICTED_IMPORT],
  ['shared/http/bad-package.ts', "import '@anthropic-ai/sdk';", RESTRICTED_IMPORT],
  ['shared/http/routes/bad.ts', "import '../../adapters/system.ts';", RESTRICTED_IMPORT],
  ['shared/channels/bad.ts', "import '../turn/engine.ts';", RESTRICTED_IMPORT],
  ['shared/config.ts', "import './core/fold.ts';", RESTRICTED_IMPORT],
  ['shared/compose/bad.ts', "import '../core/fold.ts';", RESTRICTED_IMPORT],
  ['shared/bad.ts', "import './adapters/system.ts';", RESTRICTED_IMPORT],
  ['functions/bad.ts', "import '../shared/adapters/system.ts';", RESTRICTED_IMPORT],
  ['cli/bad.ts', "import '../shared/adapters/system.ts';", RESTRICTED_IMPORT],
  ['infra/bad.ts', "import '../shared/core/fold.ts';", RESTRICTED_IMPORT],
  ['examples/bad.ts', "import '../shared/config.ts';", RESTRICTED_IMPORT],
  ['shared/core/clock.ts', 'export const a = Date.now();', 'no-restricted-properties'],
  ['shared/turn/chance.ts', 'export const a = Math.random();', 'no-restricted-properties'],
  ['shared/http/id.ts', 'export const a = crypto.randomUUID();', 'no-restricted-properties'],
  ['shared/http/global.ts', 'export const a = globalThis.process;', 'no-restricted-properties'],
  ['shared/log/environment.ts', 'export const a = process.env;', 'no-restricted-globals'],
  ['shared/wire/print.ts', "console.log('a');\nexport {};", 'no-restricted-globals'],
  ['shared/adapters/environment.ts', 'export const a = process.env;', 'no-restricted-properties'],
  ['shared/core/cycle-a.ts', "import type { B } from './cycle-b.ts';\nexport type A = B;", 'no-cycle'],
  ['shared/core/cycle-b.ts', "import type { A } from './cycle-a.ts';\nexport type B = A;", 'no-cycle'],
  ['shared/core/long.ts', 'export {};\n'.repeat(251), 'max-lines'],
  ['shared/core/wide.ts', 'export const a = (b: 1, c: 1, d: 1, e: 1, f: 1) => [b, c, d, e, f];', 'max-params'],
  ['test/bad.test.ts', "import { test } from 'vitest';\ntest.skip('a', () => {});", 'no-disabled-tests'],
  ['test/bad-only.test.ts', "import { test } from 'vitest';\ntest.only('a', () => {});", 'no-focused-tests'],
];

async function lint(directory: string): Promise<readonly string[]> {
  const oxlint = join(root, 'node_modules/.bin/oxlint');
  const run = promisify(execFile)(oxlint, ['--format=unix', '--deny-warnings', '.'], { cwd: directory });
  const { stdout } = await run.catch((failed: { stdout: string }) => failed);
  return stdout.split('\n').filter((line) => line.includes('[Error/'));
}

let findings: readonly string[] = [];

beforeAll(async () => {
  cpSync(join(root, '.oxlintrc.json'), join(copy, '.oxlintrc.json'));
  for (const [path, text] of PLANTED) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), `${text}\n`);
  }
  findings = await lint(copy);
});

afterAll(() => rmSync(copy, { recursive: true }));

test('the project keeps its boundaries', async () => {
  expect(await lint(root)).toEqual([]);
});

test.each(PLANTED)('%s is refused', (path, _text, rule) => {
  expect(findings.filter((line) => line.startsWith(`${path}:`) && line.includes(rule))).not.toEqual([]);
});

test('what a room may import passes', async () => {
  const allowed = join(copy, 'shared/turn/allowed.ts');
  writeFileSync(allowed, "import '../core/x.ts';\nimport '../log/x.ts';\nimport './x.ts';\nimport '../ports/x.ts';\n");
  expect((await lint(copy)).filter((line) => line.includes('allowed.ts'))).toEqual([]);
});
