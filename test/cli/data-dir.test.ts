// The data directory holds conversations and keys' hashes: a new one is for its owner alone.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { composeLocal } from '../../shared/compose/local.ts';
import { readConfig } from '../../shared/config.ts';
import { PROJECT } from '../support/build.ts';

test('a data directory that is made now is closed to others', async () => {
  const above = mkdtempSync(join(tmpdir(), 'reprise-mode-'));
  const directory = join(above, 'data');
  const childPath = join(PROJECT, 'dist', 'sandbox-child.mjs');
  const parts = await composeLocal(readConfig({ REPRISE_DATA_DIR: directory }), childPath);
  try {
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  } finally {
    await parts.close();
    rmSync(above, { recursive: true });
  }
});
