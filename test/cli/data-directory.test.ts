// The data directory is made with all above it, or the start ends at once and says what to set.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ensureDataDirectory } from '../../shared/compose/data-directory.ts';
import { PROJECT } from '../support/build.ts';

const directory = mkdtempSync(join(tmpdir(), 'data-'));
afterAll(() => rmSync(directory, { recursive: true }));

test('it is made as deep as it is asked for, closed to others, and again without complaint', () => {
  const deep = join(directory, 'a/b/c');
  ensureDataDirectory(deep);
  ensureDataDirectory(deep);
  expect(statSync(deep).mode & 0o777).toBe(0o700);
});

test('a file in its way is named', () => {
  writeFileSync(join(directory, 'file'), '');
  for (const path of ['file', 'file/data']) {
    expect(() => ensureDataDirectory(join(directory, path))).toThrow(
      /^The data directory .* cannot be made: .*\. Set REPRISE_DATA_DIR to another one\.$/,
    );
  }
});

test.runIf(existsSync('/proc/self'))('the service ends with that message where none can ever be', () => {
  const env = { PATH: process.env.PATH, PORT: '0', REPRISE_DATA_DIR: '/proc/none/data' };
  const options = { env, encoding: 'utf8', timeout: 20_000 } as const;
  const { status, stderr } = spawnSync(process.execPath, [join(PROJECT, 'bin/reprise.mjs'), 'dev'], options);
  expect(status).toBe(1);
  expect(stderr).toMatch(/The data directory \/proc\/none\/data cannot be made: .* Set REPRISE_DATA_DIR/);
});
