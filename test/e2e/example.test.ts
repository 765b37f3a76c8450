// The example runs as a newcomer runs it: as a program of its own, against a service with the demo model.

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { useHarness } from '../support/harness.ts';
import { countByColumn, readFixture } from '../support/main-job.ts';

const harness = useHarness();
const output = await mkdtemp(join(tmpdir(), 'reprise-example-'));
afterAll(() => rm(output, { recursive: true, force: true }));

test('examples/main-job.ts streams the right answer and saves the report', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [fileURLToPath(new URL('../../examples/main-job.ts', import.meta.url))],
    {
      env: {
        PATH: process.env.PATH ?? '',
        REPRISE_URL: harness.service.url,
        REPRISE_API_KEY: harness.service.apiKey,
        OUTPUT_DIR: output,
      },
    },
  );
  const [top] = countByColumn(await readFixture('time-zones.csv'), 'code');
  expect(stdout).toContain('idle: end_turn');
  expect(stdout.match(/^→ /gm)?.length ?? 0).toBeGreaterThan(2);
  expect(stdout).toContain(String(top?.[0]));
  expect(stdout).toContain(String(top?.[1]));
  const saved = await readdir(output);
  expect(saved).toContain('report.csv');
  expect(await readFile(join(output, 'report.csv'), 'utf8')).toContain(`${top?.[0]},${top?.[1]}`);
});
