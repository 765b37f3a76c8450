// The `reprise` command. `dev` never arrives here: bin/reprise.mjs becomes the service itself.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { listTools } from '../shared/compose/cli.ts';
import type { ToolFace } from '../shared/types/session.ts';
import { runDoctor } from './doctor.ts';
import { addKeysCommand } from './keys.ts';

const FACES: readonly ToolFace[] = ['agent_toolset', 'claude_code'];
const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;
const program = new Command('reprise').description('Durable agent sessions in your own account.');

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

const face = () =>
  new Option('--face <face>', 'names and schemas of which toolset').choices(FACES).default('agent_toolset');
const tools = program.command('tools').description('the built-in tools');

tools
  .command('list')
  .description('print name and first line of each')
  .addOption(face())
  .action((options: { face: ToolFace }) => {
    for (const { name, description } of listTools(options.face))
      console.log(`${name}\t${description.split('\n', 1)[0]}`);
  });

tools
  .command('schema')
  .description('print the input schema of one tool, or of all, as JSON')
  .argument('[name]')
  .addOption(face())
  .action((name: string | undefined, options: { face: ToolFace }) => {
    const all = listTools(options.face);
    const named = all.find((tool) => tool.name === name);
    if (name !== undefined && named === undefined) {
      program.error(`no tool ${name}; there are ${all.map((tool) => tool.name).join(', ')}`);
    }
    const schemas = Object.fromEntries(all.map((tool) => [tool.name, tool.inputSchema]));
    console.log(JSON.stringify(named ? named.inputSchema : schemas, null, 2));
  });

addKeysCommand(program);

await program
  .parseAsync()
  .catch((error: unknown) => program.error(error instanceof Error ? error.message : String(error)));
