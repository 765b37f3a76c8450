// Files of a workspace whatever the store's timing and whatever a command calls them: each keeps its own content, and what cannot be
// kept is named instead of taking the command with it.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFrameReader, encodeFrame, type Frame } from '../../shared/adapters/virtual-sandbox/frames.ts';
import { launchChild } from '../../shared/adapters/virtual-sandbox/launch.ts';
import { Need, Ready, type ToChild } from '../../shared/adapters/virtual-sandbox/protocol.ts';
import type { BlobStore } from '../../shared/ports/blob-store.ts';
import type { WorkspacePath } from '../../shared/types/ids.ts';
import { LIMITS } from '../../shared/types/limits.ts';
import type { FileRef } from '../../shared/types/log.ts';
import { bytes, CHILD, createSandboxWorld, path, type SandboxWorld, sh, textOf } from '../support/sandbox.ts';

let world: SandboxWorld;
beforeAll(async () => {
  world = await createSandboxWorld();
});
afterAll(() => world.close());

/** The same blobs, but of reads that are open together the later ones finish first. */
function latestFirst(blobs: BlobStore): BlobStore {
  let reads = 0;
  return {
    ...blobs,
    get: async (key, range) => {
      const delayMs = Math.max(0, 250 - 10 * reads++);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
      return blobs.get(key, range);
    },
  };
}

describe('a store that answers out of order', () => {
  const names = Array.from({ length: 24 }, (_, i) => `f${i + 10}`);
  // Larger than what travels with the command, each in a size of its own, so that the child asks for every one.
  const textFor = (name: string, i: number) => `${name}\n${'x'.repeat(20_000 + 1000 * i)}`;
  let files: ReadonlyMap<WorkspacePath, FileRef>;
  beforeAll(async () => {
    const workspace = world.open();
    for (const [i, name] of names.entries()) {
      await workspace.write(path(`/workspace/${name}`), bytes(textFor(name, i)));
    }
    // One content under two names: both wait for the same bytes.
    await workspace.write(path('/workspace/same'), bytes(textFor('f10', 0)));
    const changes = (await workspace.snapshot())?.changes ?? [];
    files = new Map(changes.flatMap(([where, ref]) => (ref ? [[where, ref] as const] : [])));
  });

  it('gives each file its own content to a command, and keeps it so', async () => {
    const late = await createSandboxWorld({}, CHILD, latestFirst(world.blobs));
    const workspace = late.open(files);
    const listed = await sh(
      workspace,
      'ls -la > /dev/null; for f in *; do echo "$f $(head -n 1 $f)"; echo END >> $f; done',
    );
    expect(listed.stdout.trim().split('\n')).toEqual([...names.map((name) => `${name} ${name}`), 'same f10']);
    for (const [i, name] of names.entries()) {
      const kept = textOf(await workspace.read(path(`/workspace/${name}`)));
      expect(kept === `${textFor(name, i)}END\n`).toBe(true);
    }
    await late.close();
  });
});

it('a child takes an answer for the file it names, asks once for all who wait, and minds no answer that nobody asked for', async () => {
  const child = await launchChild({ childPath: CHILD, heapMb: LIMITS.sandboxHeapMb });
  const say = (header: ToChild, body: string) => {
    for (const chunk of encodeFrame(header, [bytes(body)])) child.stdin?.write(chunk);
  };
  const [one, two, other] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [string, string, string];
  const needs: string[] = [];
  const reply = await new Promise<Frame>((resolve) => {
    const onFrame = (frame: Frame) => {
      const need = Need.safeParse(frame.header);
      if (need.success) needs.push(need.data.sha256);
      else if (!Ready.safeParse(frame.header).success) resolve(frame);
      if (!need.success || needs.length < 2) return;
      say({ kind: 'file', sha256: other, found: true }, 'other');
      say({ kind: 'file', sha256: two, found: true }, 'two');
      say({ kind: 'file', sha256: two, found: false }, '');
      say({ kind: 'file', sha256: one, found: true }, 'one');
    };
    child.stdout?.on(
      'data',
      createFrameReader(1_000_000, onFrame, () => resolve({ header: 'no frame', body: bytes('') })),
    );
    const files = { a: one, b: two, c: one };
    const rows = Object.entries(files).map(([name, hash]) => [`/workspace/${name}`, 3, 0o644, 0, hash, -1] as const);
    const limits = { bytesMax: 1_000_000, outputBytesMax: 1000, timeoutMs: 10_000 };
    const shell = { stdin: '', cwd: '/workspace', exports: {}, emptyDirectories: [] };
    say({ kind: 'exec', command: 'ls -l > /dev/null; head a b c', files: rows, ...shell, ...limits }, '');
  });
  child.kill('SIGKILL');
  expect(needs.sort()).toEqual([one, two]);
  expect(textOf(reply.body)).toBe('==> a <==\none\n==> b <==\ntwo\n==> c <==\none');
});

describe('what the file index cannot hold', () => {
  it.each([
    ['a tab in a name', "echo lost > $'q\\tb'", 'control characters'],
    ['a newline in a name', "echo lost > $'q\\nb'", 'control characters'],
    ['half a character in a name', "echo lost > $'q\\ud800'", 'not valid Unicode'],
    ['an over-long name', "echo lost > $(printf 'a%.0s' $(seq 1 300))", '255 bytes'],
    [
      'an over-long path',
      "p=$(printf 'abcdefghi/%.0s' $(seq 1 120)); mkdir -p /tmp/$p; echo lost > /tmp/$p/f",
      'workspacePathCharsMax',
    ],
    ['a directory with such a name', "mkdir $'d\\nx'", 'control characters'],
    ['what lies in one', "mkdir $'d\\nx'; cd $'d\\nx'; echo lost > f; cd ..", 'control characters'],
  ])('%s is named in a note, and the rest of the command is kept', async (_, command, why) => {
    const workspace = world.open();
    const result = await sh(workspace, `echo kept > before; ${command}; echo kept > /workspace/after; export K=v`);
    expect(result).toMatchObject({ exitCode: 0, killed: null, notes: [expect.stringContaining(why)] });
    expect(result.notes[0]).toMatch(/^not kept: [^\p{C}]+$/u);
    expect(workspace.list().map((file) => file.path)).toEqual(['/workspace/before', '/workspace/after']);
    expect(workspace.shell).toMatchObject({ cwd: '/workspace', exports: { K: 'v' } });
    expect(JSON.stringify(workspace.shell.emptyDirectories ?? [])).not.toContain('\\n');
    expect(await sh(workspace, 'ls')).toMatchObject({ stdout: 'after\nbefore\n', notes: [] });
  });

  it('many of them take few notes', async () => {
    const result = await sh(world.open(), "for i in $(seq 1 50); do echo x > $'\\t'$i; done");
    expect(result.notes).toHaveLength(4);
    expect(result.notes[3]).toBe('not kept: 47 more');
  });

  it('does not stay in a directory that is not kept', async () => {
    const workspace = world.open();
    const result = await sh(workspace, "mkdir -p a $'d\\nx'; cd $'d\\nx'; export K=v");
    expect(workspace.shell).toEqual({ cwd: '/workspace', exports: { K: 'v' }, emptyDirectories: ['/workspace/a'] });
    expect(result.notes.join()).toContain('the shell is in /workspace again');
    expect(await sh(workspace, 'pwd; ls; echo x > f')).toMatchObject({ stdout: '/workspace\na\n', notes: [] });
  });

  it('keeps a time before 1970 as 1970', async () => {
    const workspace = world.open();
    const touched = await sh(workspace, 'touch -d 1900-01-01 old; echo new > new');
    expect(touched).toMatchObject({ exitCode: 0, killed: null, notes: [] });
    expect(workspace.stat(path('/workspace/old'))?.mtimeMs).toBe(0);
    expect(workspace.stat(path('/workspace/new'))?.size).toBe(4);
  });

  it('says how many empty directories are beyond what is kept', async () => {
    const workspace = world.open();
    const result = await sh(workspace, 'for i in $(seq 1 620); do mkdir d$i; done');
    expect(result).toMatchObject({ killed: null, notes: ['not kept: 120 of 620 empty directories, at most 500 are'] });
    expect(await sh(workspace, 'ls | wc -l; touch f')).toMatchObject({
      stdout: expect.stringMatching(/^\s*500\n/),
      notes: [],
    });
  });
});

it.each([
  ['its directory', 'mkdir d; cd d; rmdir ../d; echo text > ../d', '/workspace'],
  ['its directory and the home', 'rm -r /workspace; echo text > /workspace', '/'],
])('a file in place of %s does not stop the shell for ever', async (_, command, where) => {
  const workspace = world.open();
  await sh(workspace, command);
  const next = await sh(workspace, 'pwd');
  expect(next).toMatchObject({ stdout: `${where}\n`, exitCode: 0, killed: null });
  expect(next.notes).toEqual([expect.stringContaining(`the command ran in ${where}`)]);
  expect(await sh(workspace, 'pwd')).toMatchObject({ stdout: `${where}\n` });
  expect(workspace.list().map((file) => file.size)).toEqual([5]);
});
