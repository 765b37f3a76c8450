// dist/ as `npm start` would build it; does nothing where it is up to date.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const PROJECT = join(import.meta.dirname, '../..');

export async function buildProject(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(PROJECT, 'scripts/build.ts')], { cwd: PROJECT });
}
