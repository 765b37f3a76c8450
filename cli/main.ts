// The `reprise` command. `dev` never arrives here: bin/reprise.mjs becomes the service itself.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { runDoctor } from './doctor.ts';
import { addKeysCommand } from './keys.ts';
import { addToolsCommand } from './tools.ts';

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  version: string;
};
const program = new Command('reprise').description('Durable agent sessions in your own account.').version(version);

program
  .command('dev')
  .description('start the service on loopback, with embedded store and sandbox (configured by the environment)')
  .action(() => program.error('dev takes no arguments'));

program
  .command('bench')
  .description('measure the service beside a raw SDK loop; needs a checkout')
  .allowUnknownOption()
  .helpOption(false)
  .argument('[options...]', 'see bench/main.ts')
  .action((options: readonly string[]) => {
    const entry = join(import.meta.dirname, '../bench/main.ts');
    if (!existsSync(entry)) program.error('bench is part of a checkout, and this is none');
    process.exitCode = spawnSync(process.execPath, [entry, ...options], { stdio: 'inherit' }).status ?? 1;
  });

program
  .command('doctor')
  .description('check what the service needs on this machine; exit code 1 if it would not run')
  .option('--json', 'print findings as JSON')
  .action(async ({ json }: { json?: boolean }) => {
    const findings = await runDoctor(process.env);
    if (json) console.log(JSON.stringify({ ok: findings.every(({ level }) => level !== 'fail'), findings }, null, 2));
    else for (const { level, check, detail } of findings) console.log(`${MARKS[level]} ${check}: ${detail}`);
    process.exitCode = findings.some(({ level }) => level === 'fail') ? 1 : 0;
  });

addToolsCommand(program);
addKeysCommand(program);

await program
  .parseAsync()
  .catch((error: unknown) => program.error(error instanceof Error ? error.message : String(error)));
