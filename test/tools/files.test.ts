// read, write and edit under both faces: they work on the file index in the service, and no failure is more than an error result.

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
const put = (where: string, content: string | Uint8Array) =>
  workspace.write(path(where), typeof content === 'string' ? bytes(content) : content);
const get = async (where: string) => textOf(await workspace.read(path(where)));

describe('read', () => {
  it('gives text as it is to the toolset and numbered to Claude Code', async () => {
    await put('/workspace/a.txt', 'one\ntwo\nthree\n');
    expect((await wire('read', { file_path: 'a.txt' })).text).toBe('one\ntwo\nthree\n');
    expect((await wire('read', { file_path: '/workspace/a.txt', view_range: [2, 3] })).text).toBe('two\nthree');
    expect((await wire('read', { file_path: 'a.txt', view_range: [2, -1] })).text).toBe('two\nthree\n');
    expect((await code('Read', { file_path: '/workspace/a.txt' })).text).toBe(
      '     1\tone\n     2\ttwo\n     3\tthree',
    );
    const part = await code('Read', { file_path: '/workspace/a.txt', offset: 2, limit: 1 });
    expect(part.text).toBe('     2\ttwo');
    expect((await code('Read', { file_path: '/workspace/a.txt', offset: 9 })).text).toMatch(/3 lines/);
  });

  it('shows the first 2,000 lines and says how many are left', async () => {
    await put('/workspace/long', Array.from({ length: 2500 }, (_, i) => `l${i}`).join('\n'));
    const read = await code('Read', { file_path: '/workspace/long' });
    expect(read.text).toContain('  2000\tl1999\n');
    expect(read.text).toMatch(/500 more lines/);
  });

  it('refuses a large file with a hint, and gives a part of it', async () => {
    await put('/workspace/big', 'x'.repeat(99).concat('\n').repeat(3000));
    const whole = await wire('read', { file_path: 'big' });
    expect(whole).toMatchObject({ isError: true });
    expect(whole.text).toMatch(/300000 bytes.*fileReadBytesMax.*view_range/s);
    expect((await wire('read', { file_path: 'big', view_range: [1, 2] })).text.length).toBe(199);
    expect((await wire('read', { file_path: 'big', view_range: [1, 3000] })).isError).toBe(true);
  });

  it('cuts what is too long for the model, without a copy in the workspace', async () => {
    await put('/workspace/wide', 'w'.repeat(150_000));
    const read = await wire('read', { file_path: 'wide' });
    expect(read.text.length).toBeLessThan(100_300);
    expect(read.text).toMatch(/150000 characters.*view_range\]$/s);
    expect(workspace.list().length).toBe(1);
  });

  it.each([
    ['nothing there', 'nope.txt', /no such file/],
    ['a directory', '/workspace/d', /is a directory/],
    ['outside', '/etc/passwd', /^read: \/etc\/passwd: is outside/],
    ['climbing out', '../../etc/passwd', /outside/],
    ['process files', '/proc/self/environ', /outside/],
    ['a NUL', 'a\u0000.png', /control/],
    ['binary', 'blob.bin', /binary file/],
    ['not UTF-8', 'latin1.txt', /binary file/],
  ])('is an error for %s', async (_, file, words) => {
    await put('/workspace/d/x', 'x');
    await put('/workspace/blob.bin', Uint8Array.from([1, 0, 2, 0]));
    await put('/workspace/latin1.txt', Uint8Array.from([0x66, 0xfc, 0x72]));
    const read = await wire('read', { file_path: file });
    expect(read).toMatchObject({ isError: true });
    expect(read.text).toMatch(words);
    expect(read.outcome.content.every((block) => block.type === 'text')).toBe(true);
  });

  it('hints at a file of the same name elsewhere', async () => {
    await put('/workspace/src/Main.ts', 'x');
    expect((await wire('read', { file_path: 'main.ts' })).text).toContain('did you mean /workspace/src/Main.ts');
  });

  it('gives images and documents as blocks by their bytes', async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]);
    await put('/workspace/picture.txt', png);
    await put('/workspace/doc', '%PDF-1.7\n…');
    const source = { type: 'base64', media_type: 'image/png', data: Buffer.from(png).toString('base64') };
    expect((await wire('read', { file_path: 'picture.txt' })).outcome.content).toEqual([{ type: 'image', source }]);
    const doc = await code('Read', { file_path: '/workspace/doc', pages: '2-3' });
    expect(doc.outcome.content.map((block) => block.type)).toEqual(['text', 'document']);
    await put('/workspace/huge.png', Uint8Array.from([...png, ...new Array(6_000_000).fill(0)]));
    expect((await wire('read', { file_path: 'huge.png' })).isError).toBe(true);
  });

  it('says that an empty file is empty', async () => {
    await put('/workspace/e', '');
    expect(await wire('read', { file_path: 'e' })).toMatchObject({ text: '(the file is empty)', isError: false });
    expect((await code('Read', { file_path: '/workspace/e' })).text).toBe('(the file is empty)');
  });
});

describe('write', () => {
  it('makes and replaces files, with the directories above', async () => {
    expect((await wire('write', { file_path: 'd/e/f.txt', content: 'ü\n' })).text).toBe('wrote 3 bytes to d/e/f.txt');
    expect(await get('/workspace/d/e/f.txt')).toBe('ü\n');
    const made = await code('Write', { file_path: '/workspace/g', content: '' });
    expect(made).toMatchObject({ text: 'File created successfully at: /workspace/g', isError: false });
    expect((await code('Write', { file_path: '/workspace/g', content: 'x' })).text).toMatch(/updated/);
  });

  it.each([
    [{ file_path: 'd', content: 'x' }, /is a directory/],
    [{ file_path: 'd/f/g', content: 'x' }, /is a file, not a directory/],
    [{ file_path: '/etc/cron.d/x', content: 'x' }, /outside/],
    [{ file_path: `${'a/'.repeat(600)}x`, content: 'x' }, /workspacePathCharsMax/],
  ])('refuses %j', async (input, words) => {
    await put('/workspace/d/f', 'x');
    const before = workspace.list();
    expect((await wire('write', input)).text).toMatch(words);
    expect(workspace.list()).toEqual(before);
  });
});

describe('edit', () => {
  it('replaces text that is there once, or all of it', async () => {
    await put('/workspace/a', 'x = 1\ny = 1\n');
    expect((await wire('edit', { file_path: 'a', old_string: 'x = 1', new_string: 'x = $&' })).text).toMatch(
      /1 replacement/,
    );
    expect(await get('/workspace/a')).toBe('x = $&\ny = 1\n');
    await put('/workspace/a', '1 1 1');
    const twice = await wire('edit', { file_path: 'a', old_string: '1', new_string: '2' });
    expect(twice).toMatchObject({ isError: true });
    expect(twice.text).toMatch(/appears 3 times/);
    await code('Edit', { file_path: '/workspace/a', old_string: '1', new_string: '2', replace_all: true });
    expect(await get('/workspace/a')).toBe('2 2 2');
  });

  it('keeps CRLF lines, byte-order marks and encodings', async () => {
    await put('/workspace/crlf', '\uFEFFone\r\ntwo\r\nthree\r\n');
    await wire('edit', { file_path: 'crlf', old_string: 'one\ntwo', new_string: '1\n2' });
    expect(await workspace.read(path('/workspace/crlf'))).toEqual(bytes('\uFEFF1\r\n2\r\nthree\r\n'));
    await put('/workspace/u16', new Uint8Array(Buffer.from('\uFEFFgrün\r\n', 'utf16le')));
    await wire('edit', { file_path: 'u16', old_string: 'grün', new_string: 'blau' });
    expect(Buffer.from((await workspace.read(path('/workspace/u16'))) ?? []).toString('utf16le')).toBe(
      '\uFEFFblau\r\n',
    );
    await put('/workspace/mixed', 'a\r\nb\nc');
    await wire('edit', { file_path: 'mixed', old_string: 'b\nc', new_string: 'B\nC' });
    expect(await get('/workspace/mixed')).toBe('a\r\nB\nC');
  });

  it.each([
    [{ file_path: 'a', old_string: 'zzz', new_string: 'y' }, /not found/],
    [{ file_path: 'a', old_string: 'x', new_string: 'x' }, /the same/],
    [{ file_path: 'a', old_string: '', new_string: 'x' }, /required/],
    [{ file_path: 'nope', old_string: 'a', new_string: 'x' }, /no such file/],
    [{ file_path: 'bin', old_string: 'a', new_string: 'x' }, /binary/],
  ])('refuses %j', async (input, words) => {
    await put('/workspace/a', 'x');
    await put('/workspace/bin', Uint8Array.from([97, 0]));
    const edited = await wire('edit', input);
    expect(edited.isError).toBe(true);
    expect(edited.text).toMatch(words);
    expect(await get('/workspace/a')).toBe('x');
  });

  it('makes a file from an empty old_string under Claude Code’s face only', async () => {
    await code('Edit', { file_path: '/workspace/n', old_string: '', new_string: 'new' });
    expect(await get('/workspace/n')).toBe('new');
  });
});

describe('the faces', () => {
  it.each([
    ['Read', { file_path: 'a.txt' }],
    ['Write', { file_path: 'a.txt', content: 'x' }],
    ['Edit', { file_path: './a.txt', old_string: 'x', new_string: 'y' }],
  ])('Claude Code’s %s takes absolute paths only', async (name, input) => {
    await put('/workspace/a.txt', 'x');
    const ran = await code(name, input);
    expect(ran.isError).toBe(true);
    expect(ran.text).toMatch(/absolute path/);
  });

  it('a limit of the workspace is an error that names it', async () => {
    const small = await createSandboxWorld({ virtualWorkspaceBytesMax: 1000, workspaceFilesMax: 2 });
    const call = caller('agent_toolset', small.open(), LIMITS);
    expect((await call('write', { file_path: 'a', content: 'x'.repeat(1001) })).text).toMatch(
      /virtualWorkspaceBytesMax/,
    );
    await call('write', { file_path: 'a', content: 'x' });
    await call('write', { file_path: 'b', content: 'x' });
    expect((await call('write', { file_path: 'c', content: 'x' })).text).toMatch(/workspaceFilesMax/);
    expect((await call('write', { file_path: 'b', content: 'yy' })).isError).toBe(false);
    await small.close();
  });
});

describe('a failure', () => {
  it.each([
    ['Read', { file_path: 'a.txt' }],
    ['Write', { file_path: 'a.txt', content: '' }],
    ['Edit', { file_path: '/workspace/none', old_string: 'a', new_string: 'b' }],
    ['Glob', { pattern: '*', path: '/workspace/none' }],
    ['Grep', { pattern: 'x', path: '/workspace/none' }],
  ])('of %s says the name that the model called, in both faces', async (name, input) => {
    const theirs = await code(name, input);
    expect(theirs).toMatchObject({ isError: true, text: expect.stringMatching(new RegExp(`^${name}: `)) });
    if (name === 'Write') return; // a relative path is no failure there
    const own = await wire(name.toLowerCase(), input);
    expect(own).toMatchObject({ isError: true, text: expect.stringMatching(new RegExp(`^${name.toLowerCase()}: `)) });
  });
});
