// bash, glob and grep under both faces, on the real sandbox.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Workspace } from '../../shared/ports/sandbox.ts';
import { LIMITS } from '../../shared/types/limits.ts';
import { bytes, createSandboxWorld, path, type SandboxWorld, textOf } from '../support/sandbox.ts';
import { type Call, caller } from './helpers.ts';

let world: SandboxWorld;
let workspace: Workspace;
let wire: Call;
let code: Call;

beforeAll(async () => {
  world = await createSandboxWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  workspace = world.open();
  wire = caller('agent_toolset', workspace);
  code = caller('claude_code', workspace);
});

describe('bash', () => {
  it('gives output, and says when there is none', async () => {
    expect(await wire('bash', { command: 'echo hi; echo err >&2' })).toMatchObject({ text: 'hi\nerr', isError: false });
    expect((await code('Bash', { command: 'true', description: 'Do nothing' })).text).toBe('(no output)');
    expect((await wire('bash', { command: 'printf "\\033[31mred\\033[0m\\n"' })).text).toBe('red');
  });

  it('reports the exit code', async () => {
    expect(await wire('bash', { command: 'echo out; exit 3' })).toMatchObject({
      text: 'Exit code 3\nout',
      isError: true,
    });
    expect(await wire('bash', { command: 'no-such-program' })).toMatchObject({ isError: true });
  });

  it('keeps directory and variables until it is restarted', async () => {
    await wire('bash', { command: 'mkdir d && cd d && export A=1' });
    expect((await wire('bash', { command: 'pwd; echo $A' })).text).toBe('/workspace/d\n1');
    expect((await wire('bash', { restart: true })).text).toBe('bash session restarted');
    expect((await wire('bash', { command: 'pwd; echo "[$A]"' })).text).toBe('/workspace\n[]');
    expect(await wire('bash', {})).toMatchObject({ text: 'bash: command is required', isError: true });
    await wire('bash', { command: 'cd d' });
    expect((await wire('bash', { restart: true, command: 'pwd' })).text).toBe('/workspace');
  });

  it('says that it was stopped, by time and by interrupt', async () => {
    const late = await wire('bash', { command: 'echo x > f; while true; do :; done', timeout_ms: 500 });
    expect(late.isError).toBe(true);
    expect(late.text).toMatch(/timed out after 500 ms.*as they were/);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    const stopped = await code('Bash', { command: 'while true; do :; done' }, { signal: abort.signal });
    expect(stopped.text).toMatch(/interrupted/);
    expect(workspace.list()).toEqual([]);
  });

  it('cuts long output and keeps all of it in a file', async () => {
    const limits = { ...LIMITS, toolOutputCharsMax: 1000 };
    const call = caller('agent_toolset', workspace, limits);
    const ran = await call('bash', { command: 'seq 1 2000' }, { id: 'toolu_../x' });
    expect(ran.text.length).toBeLessThan(1300);
    expect(ran.text).toContain('full text is in /mnt/session/tool_outputs/toolu____x.txt');
    const kept = textOf(await workspace.read(path('/mnt/session/tool_outputs/toolu____x.txt')));
    expect(kept?.startsWith('1\n2\n')).toBe(true);
    expect(kept?.endsWith('\n2000')).toBe(true);
    expect((await call('bash', { command: 'tail -1 /mnt/session/tool_outputs/toolu____x.txt' })).text).toBe('2000');
  });
});

describe('glob and grep', () => {
  beforeEach(async () => {
    for (const [where, text] of [
      ['/workspace/old.ts', 'needle one\n'],
      ['/workspace/src/a.ts', 'x\nneedle two\ny\n'],
      ['/workspace/src/b.js', 'nothing\n'],
      ['/mnt/session/uploads/data.csv', 'needle,3\n'],
    ] as const) {
      await workspace.write(path(where), bytes(text));
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
  });

  it('glob lists the newest first', async () => {
    expect((await wire('glob', { pattern: '**/*.ts' })).text).toBe('/workspace/src/a.ts\n/workspace/old.ts');
    expect((await wire('glob', { pattern: '*', path: '/mnt/session/uploads' })).text).toBe(
      '/mnt/session/uploads/data.csv',
    );
    expect((await wire('glob', { pattern: '*.py' })).text).toBe('no matches');
    expect((await code('Glob', { pattern: 'src/*.{ts,js}' })).text).toBe('/workspace/src/b.js\n/workspace/src/a.ts');
  });

  it('grep prints lines with path and number', async () => {
    expect((await wire('grep', { pattern: 'needle \\w+' })).text).toBe(
      '/workspace/old.ts:1:needle one\n/workspace/src/a.ts:2:needle two',
    );
    expect((await wire('grep', { pattern: 'needle', path: 'src/a.ts' })).text).toBe('/workspace/src/a.ts:2:needle two');
    expect((await wire('grep', { pattern: 'nowhere' })).text).toBe('no matches');
  });

  it('Grep has its modes', async () => {
    expect((await code('Grep', { pattern: 'needle' })).text).toBe(
      'Found 2 files\n/workspace/src/a.ts\n/workspace/old.ts',
    );
    const content = { pattern: 'NEEDLE', '-i': true, output_mode: 'content', path: 'src' };
    expect((await code('Grep', { ...content, '-C': 1 })).text).toBe(
      '/workspace/src/a.ts-1-x\n/workspace/src/a.ts:2:needle two\n/workspace/src/a.ts-3-y',
    );
    expect((await code('Grep', { ...content, '-n': false })).text).toBe('/workspace/src/a.ts:needle two');
    expect((await code('Grep', { pattern: 'needle', output_mode: 'count' })).text).toBe(
      '/workspace/old.ts:1\n/workspace/src/a.ts:1',
    );
    expect((await code('Grep', { pattern: 'e', output_mode: 'content', head_limit: 1 })).text).toMatch(
      /there are more/,
    );
    expect((await code('Grep', { pattern: 'x.needle', multiline: true, glob: '*.ts' })).text).toMatch(/src\/a\.ts/);
  });

  it.each([
    ['glob', { pattern: '../**/*' }, /"\.\."/],
    ['glob', { pattern: '{a,..}/x' }, /"\.\."/],
    ['glob', { pattern: '/etc/*' }, /absolute pattern/],
    ['glob', { pattern: '*', path: '/etc' }, /outside/],
    ['glob', { pattern: '*', path: 'nope' }, /no such file/],
    ['glob', { pattern: '*', path: 'old.ts' }, /is a file/],
    ['glob', { pattern: `${'{a,b}'.repeat(20)}` }, /alternatives/],
    ['glob', { pattern: 'x'.repeat(1001) }, /searchPatternCharsMax/],
    ['grep', { pattern: '(' }, /regex/],
    ['grep', { pattern: '(?=a)b' }, /regex/],
    ['grep', { pattern: 'x', path: '/proc' }, /outside/],
  ])('%s refuses %j', async (name, input, words) => {
    const ran = await wire(name, input);
    expect(ran.isError).toBe(true);
    expect(ran.text).toMatch(words);
  });

  it('takes patterns as patterns, never as shell text', async () => {
    for (const pattern of ['$(touch pwned)', '; touch pwned', '`touch pwned`', "'; touch pwned; '", '-rf', '--help']) {
      await wire('grep', { pattern });
      await wire('glob', { pattern });
    }
    expect(workspace.list().some((file) => file.path.includes('pwned'))).toBe(false);
    expect(workspace.list().length).toBe(4);
  });

  it('answers a catastrophic pattern at once', async () => {
    await workspace.write(path('/workspace/evil'), bytes(`${'a'.repeat(50_000)}!`));
    const startedAt = performance.now();
    await wire('grep', { pattern: '(a+)+$', path: 'evil' });
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });
});
