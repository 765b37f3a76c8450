// What every sandbox driver must do: one suite, run with a factory per driver.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SnapshotDelta, Workspace } from '../../shared/ports/sandbox.ts';
import type { WorkspacePath } from '../../shared/types/ids.ts';
import type { Limits } from '../../shared/types/limits.ts';
import type { FileRef } from '../../shared/types/log.ts';
import { bytes, FRESH, never, path, type SandboxWorld, sh, textOf } from '../support/sandbox.ts';

export type SandboxFactory = (limits?: Partial<Limits>) => Promise<SandboxWorld>;

const filesOf = (delta: SnapshotDelta | null, before: ReadonlyMap<WorkspacePath, FileRef> = new Map()) => {
  const files = new Map(before);
  for (const [where, ref] of delta?.changes ?? []) {
    if (ref) files.set(where, ref);
    else files.delete(where);
  }
  return files;
};

const LINES = {
  kind: 'content',
  output: 'lines',
  ignoreCase: false,
  multiline: false,
  before: 0,
  after: 0,
} as const;

/** The suite for one driver. */
export function describeSandbox(name: string, make: SandboxFactory): void {
  describe(`sandbox driver ${name}`, () => {
    let world: SandboxWorld;
    beforeAll(async () => {
      world = await make();
    });
    afterAll(() => world.close());
    describeFiles(() => world);
    describeShell(() => world);
    describeStops(() => world);
    describeSnapshots(() => world);
    describeSearch(() => world);
  });
}

function describeFiles(world: () => SandboxWorld): void {
  it('shares files between the service and the shell, both ways', async () => {
    const workspace = world().open();
    expect(await workspace.write(path('/workspace/a.txt'), bytes('one\n'))).toEqual({ ok: true, created: true });
    const result = await sh(
      workspace,
      'cat a.txt; echo two >> a.txt; echo new > sub.txt; mkdir d; mv sub.txt d/moved.txt',
    );
    expect(result).toMatchObject({ stdout: 'one\n', exitCode: 0, killed: null, notes: [] });
    expect(textOf(await workspace.read(path('/workspace/a.txt')))).toBe('one\ntwo\n');
    expect(textOf(await workspace.read(path('/workspace/d/moved.txt')))).toBe('new\n');
    expect(workspace.stat(path('/workspace/sub.txt'))).toBeUndefined();
    expect(workspace.isDirectory(path('/workspace/d'))).toBe(true);
  });

  it('keeps bytes, modes and times that a command did not touch', async () => {
    const workspace = world().open();
    const binary = Uint8Array.from({ length: 40_000 }, (_, i) => (i * 7919) % 256);
    await workspace.write(path('/workspace/b.bin'), binary);
    await workspace.write(path('/workspace/small.bin'), binary.slice(0, 300));
    const before = workspace.stat(path('/workspace/b.bin'));
    await sh(workspace, 'wc -c b.bin small.bin; cp b.bin c.bin; chmod +x small.bin');
    expect(await workspace.read(path('/workspace/b.bin'))).toEqual(binary);
    expect(await workspace.read(path('/workspace/c.bin'))).toEqual(binary);
    expect(workspace.stat(path('/workspace/b.bin'))).toEqual(before);
    expect((workspace.stat(path('/workspace/small.bin'))?.mode ?? 0) & 0o111).not.toBe(0);
  });

  it('sees a change that keeps the size of a file', async () => {
    const workspace = world().open();
    await workspace.write(path('/workspace/big'), bytes('a'.repeat(20_000)));
    await sh(workspace, "sed -i 's/a/b/' big; touch -d '2020-01-01' big");
    expect((await workspace.read(path('/workspace/big')))?.[0]).toBe('b'.charCodeAt(0));
  });

  it('finds changes wherever they were made', async () => {
    const workspace = world().open();
    for (const where of ['a/1', 'a/2', 'b/1', 'c']) await workspace.write(path(`/workspace/${where}`), bytes(where));
    await workspace.write(path('/workspace/large'), bytes('L'.repeat(50_000)));
    const commands =
      'mv a moved; rm -r b; ln -s c way; cat way; rm way; echo new > c; cp -r moved again; cat large >> c';
    await sh(workspace, `${commands}; cd /tmp; tee t < /workspace/moved/1 > /dev/null; chmod 600 /workspace/large`);
    const paths = workspace.list().map((file) => file.path);
    expect([...paths].sort()).toEqual([
      ...['/tmp/t', '/workspace/again/1', '/workspace/again/2', '/workspace/c', '/workspace/large'],
      ...['/workspace/moved/1', '/workspace/moved/2'],
    ]);
    const grown = textOf(await workspace.read(path('/workspace/c')));
    expect([grown?.slice(0, 5), grown?.length]).toEqual(['new\nL', 50_004]);
    expect(textOf(await workspace.read(path('/tmp/t')))).toBe('a/1');
    expect(workspace.stat(path('/workspace/large'))).toMatchObject({ mode: 0o600, size: 50_000 });
  });

  it('keeps apart a large file that was never read and what changed beside it', async () => {
    const workspace = world().open();
    await workspace.write(path('/workspace/large'), bytes('L'.repeat(50_000)));
    // A link makes every file suspect, the unread one too.
    await sh(workspace, 'ln -s q link; rm link; echo small > beside; mkdir d; cp beside d/copy');
    expect(textOf(await workspace.read(path('/workspace/beside')))).toBe('small\n');
    expect(textOf(await workspace.read(path('/workspace/d/copy')))).toBe('small\n');
    expect((await workspace.read(path('/workspace/large')))?.length).toBe(50_000);
  });

  it('refuses a file where a directory is, and below a file', async () => {
    const workspace = world().open();
    await workspace.write(path('/workspace/d/f'), bytes('x'));
    expect(await workspace.write(path('/workspace/d'), bytes('x'))).toMatchObject({ ok: false });
    expect(await workspace.write(path('/workspace/d/f/g'), bytes('x'))).toMatchObject({ ok: false });
  });

  it('keeps directories without files, and those above them', async () => {
    const workspace = world().open();
    await sh(workspace, 'mkdir -p a/b/c; touch a/x; rm a/x');
    for (const where of ['a', 'a/b', 'a/b/c']) expect(workspace.isDirectory(path(`/workspace/${where}`))).toBe(true);
    expect((await sh(workspace, 'rmdir a/b/c; ls a; ls a/b')).stdout).toBe('b\n');
    expect(workspace.isDirectory(path('/workspace/a/b/c'))).toBe(false);
  });

  it('has the places of a session from the start, empty, and reports none of them as a change', async () => {
    const workspace = world().open();
    const places = ['/workspace', '/mnt/session/uploads', '/mnt/session/outputs'];
    for (const where of places) {
      expect(workspace.isDirectory(path(where))).toBe(true);
      expect(await sh(workspace, `cd ${where} && pwd && ls -A`)).toMatchObject({ stdout: `${where}\n`, exitCode: 0 });
      for (const search of [
        { kind: 'files' as const, pattern: '**/*' },
        { ...LINES, pattern: 'x' },
      ]) {
        const found = await workspace.search({ ...search, root: path(where) }, 20_000, never());
        expect(found).toMatchObject({ ok: true, lines: [] });
      }
    }
    expect((await sh(workspace, 'ls /mnt/session; cd /workspace')).stdout).toBe('outputs\nuploads\n');
    await sh(workspace, 'touch /mnt/session/outputs/f /mnt/session/uploads/g; rm /mnt/session/*/?');
    expect(await workspace.snapshot()).toBeNull();
  });

  it('survives a file where such a place was', async () => {
    const workspace = world().open();
    await sh(workspace, 'rmdir /mnt/session/outputs && echo x > /mnt/session/outputs');
    expect(await sh(workspace, 'cat /mnt/session/outputs')).toMatchObject({ stdout: 'x\n', exitCode: 0, killed: null });
    expect((await sh(workspace, 'rm /mnt/session/outputs; ls /mnt/session')).stdout).toBe('uploads\n');
    expect((await sh(workspace, 'ls /mnt/session')).stdout).toBe('outputs\nuploads\n');
  });

  it('does not keep links nor files outside the workspace, and says so', async () => {
    const workspace = world().open();
    const result = await sh(workspace, 'ln -s /etc/passwd link; echo x > /etc/made; cat link');
    expect(result.notes.join()).toMatch(/link/);
    expect(workspace.list()).toEqual([]);
  });
}

function describeShell(world: () => SandboxWorld): void {
  it.each([
    ['the end', 'mkdir -p a; cd a; export K=v', 0],
    ['a failing end', 'mkdir -p a; cd a; export K=v; false', 1],
    ['exit', 'mkdir -p a; cd a; export K=v; exit 3', 3],
    ['exit in a function', 'f() { cd a; export K=v; exit 4; }; mkdir -p a; f', 4],
    ['exit in a loop', 'mkdir -p a; for i in 1 2; do cd a; export K=v; exit 5; done', 5],
    ['exit after a subshell that ends too', 'mkdir -p a; (cd /; export K=w; exit 9); cd a; export K=v; exit', 0],
    ['set -e', 'set -e; mkdir -p a; cd a; export K=v; false; echo never', 1],
  ])('keeps directory and exported variables after %s', async (_, command, exitCode) => {
    const workspace = world().open();
    expect(await sh(workspace, command)).toMatchObject({ exitCode, killed: null });
    expect(workspace.shell).toMatchObject({ cwd: '/workspace/a', exports: { K: 'v' } });
    expect((await sh(workspace, 'pwd; echo $K')).stdout).toBe('/workspace/a\nv\n');
  });

  it('never carries functions, aliases, plain variables, nor what changes how a command is run', async () => {
    const workspace = world().open();
    const names = ['PATH', 'IFS', 'ENV', 'BASH_ENV', 'PS4', 'LD_PRELOAD', 'GIT_DIR'];
    const set = names.map((name) => `export ${name}=/tmp/evil`).join('; ');
    const result = await sh(workspace, `f() { echo f; }; alias ls=rm; plain=1; ${set}`);
    expect(Object.keys(workspace.shell.exports)).toEqual([]);
    for (const name of names) expect(result.notes.join()).toContain(name);
    const after = await sh(workspace, 'echo "$plain"; f; type ls; echo $PATH');
    expect(after.stdout).toMatch(/^\n/);
    expect(after.stderr).toContain('f: command not found');
    expect(after.stdout).not.toContain('evil');
  });

  it('leaves the shell alone for a command that is not stateful, and forgets it on restart', async () => {
    const workspace = world().open();
    await workspace.exec('mkdir x; cd x; export A=1', { timeoutMs: 20_000, stateful: false }, never());
    expect(workspace.shell).toMatchObject({ cwd: '/workspace', exports: {} });
    await sh(workspace, 'cd x; export A=1');
    workspace.restartShell();
    expect(workspace.shell).toMatchObject({ cwd: '/workspace', exports: {} });
  });

  it('gives input and tells output, errors and the code apart', async () => {
    const workspace = world().open();
    const options = { timeoutMs: 20_000, stateful: false, stdin: 'grüße\n' };
    const result = await workspace.exec('cat; echo oops >&2; exit 7', options, never());
    expect(result).toMatchObject({ stdout: 'grüße\n', stderr: 'oops\n', exitCode: 7, killed: null });
    expect(await sh(workspace, 'echo "')).toMatchObject({ exitCode: 2, notes: [] });
  });

  it('runs calls one after the other', async () => {
    const workspace = world().open();
    const results = await Promise.all([1, 2, 3].map((n) => sh(workspace, `echo ${n} >> log; cat log | wc -l`)));
    expect(results.map((result) => result.stdout.trim())).toEqual(['1', '2', '3']);
  });
}

function describeStops(world: () => SandboxWorld): void {
  const spin = 'echo changed > keep.txt; export X=1; while true; do :; done';
  const prepared = async (): Promise<Workspace> => {
    const workspace = world().open();
    await workspace.write(path('/workspace/keep.txt'), bytes('before'));
    return workspace;
  };
  const expectUnchanged = async (workspace: Workspace) => {
    expect(textOf(await workspace.read(path('/workspace/keep.txt')))).toBe('before');
    expect(workspace.shell).toEqual(FRESH);
    expect((await sh(workspace, 'cat keep.txt')).stdout).toBe('before');
  };

  it('kills at the deadline and leaves everything as it was', async () => {
    const workspace = await prepared();
    const startedAt = performance.now();
    expect(await sh(workspace, spin, 1000)).toMatchObject({ killed: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(5000);
    await expectUnchanged(workspace);
  });

  it('kills when aborted and leaves everything as it was', async () => {
    const workspace = await prepared();
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 300);
    expect(await sh(workspace, spin, 20_000, controller.signal)).toMatchObject({ killed: 'aborted' });
    await expectUnchanged(workspace);
    expect(await sh(workspace, 'echo hi', 1000, controller.signal)).toMatchObject({ killed: 'aborted' });
  });
}

function describeSnapshots(world: () => SandboxWorld): void {
  it('stores what changed, once, and opens again as it was', async () => {
    const workspace = world().open();
    expect(await workspace.snapshot()).toBeNull();
    await workspace.write(path('/workspace/empty'), new Uint8Array());
    await workspace.write(path('/workspace/large'), bytes('L'.repeat(300_000)));
    await sh(workspace, 'mkdir -p d/hollow; cd d; export Q=1; for i in 1 2 3 4 5; do echo $i > f$i; done; cp f1 same');
    const first = await workspace.snapshot();
    expect(first?.changes.length).toBe(8);
    expect(new Set(first?.changes.map(([, ref]) => ref?.blob)).size).toBe(2);
    expect(await workspace.snapshot()).toBeNull();
    const files = filesOf(first);
    const again = world().open(files, first?.shell);
    expect((await sh(again, 'pwd; echo $Q; cat f3 same; ls -d hollow; wc -c < ../large')).stdout).toBe(
      '/workspace/d\n1\n3\n1\nhollow\n300000\n',
    );
    expect(await again.snapshot()).toBeNull();
    await sh(again, 'rm f1; echo x > f2; mv ../large ../moved');
    const second = await again.snapshot();
    const changed = new Map(second?.changes);
    expect(changed.get(path('/workspace/d/f1'))).toBeNull();
    expect(changed.get(path('/workspace/moved'))?.blob).toBe(files.get(path('/workspace/large'))?.blob);
    const third = world().open(filesOf(second, files), second?.shell);
    expect((await third.read(path('/workspace/moved')))?.length).toBe(300_000);
    expect(third.list().length).toBe(7);
  });

  it('stores bytes before it tells of them, and refuses damaged ones', async () => {
    const workspace = world().open();
    await workspace.write(path('/workspace/a'), bytes('precious'));
    const files = filesOf(await workspace.snapshot());
    const ref = files.get(path('/workspace/a'));
    if (!ref) throw new Error('nothing stored');
    expect(textOf(await world().blobs.get(ref.blob))).toBe('precious');
    const wrong = { ...ref, sha256: '0'.repeat(64) };
    const damaged = world().open(new Map([[path('/workspace/a'), wrong]]));
    expect(await damaged.read(path('/workspace/a'))).toBeUndefined();
    expect(await sh(damaged, 'cat a')).toMatchObject({ killed: null, stdout: '' });
  });
}

function describeSearch(world: () => SandboxWorld): void {
  const filled = async (): Promise<Workspace> => {
    const workspace = world().open();
    const texts = {
      '/workspace/a.ts': 'hello\nfoo bar\nend\n',
      '/workspace/src/b.ts': 'foo\n',
      '/workspace/src/deep/c.tsx': 'FOO\n',
      '/workspace/-odd name.txt': '-foo $(touch pwned)\n',
      '/workspace/node_modules/x/i.ts': 'foo\n',
    };
    for (const [where, text] of Object.entries(texts)) await workspace.write(path(where), bytes(text));
    return workspace;
  };
  const root = path('/workspace');

  it.each([
    ['*.ts', ['a.ts', 'src/b.ts']],
    ['**/*.ts', ['a.ts', 'src/b.ts']],
    ['src/**', ['src/b.ts', 'src/deep/c.tsx']],
    ['src/*.ts', ['src/b.ts']],
    ['**/*.{ts,tsx}', ['a.ts', 'src/b.ts', 'src/deep/c.tsx']],
    ['[!a].ts', ['src/b.ts']],
    ['?odd*', ['-odd name.txt']],
    ['{1..1000000000}', []],
    ['*(*(*(a|b)))', []],
    ['none', []],
  ])('finds names by %s', async (pattern, expected) => {
    const workspace = await filled();
    const found = await workspace.search({ kind: 'files', root, pattern }, 20_000, never());
    if (!found.ok) throw new Error(found.reason);
    expect(found.lines.map((line) => line.slice(root.length + 1)).sort()).toEqual([...expected].sort());
  });

  it('finds contents, with every part of the search as it was given', async () => {
    const workspace = await filled();
    const lines = async (more: object) => {
      const found = await workspace.search({ ...LINES, root, pattern: 'foo', ...more }, 20_000, never());
      return found.ok ? found.lines : found.reason;
    };
    expect(await lines({ glob: '*.ts', root: path('/workspace/src') })).toEqual(['/workspace/src/b.ts:1:foo']);
    expect(await lines({ pattern: '-foo \\$\\(touch' })).toEqual(['/workspace/-odd name.txt:1:-foo $(touch pwned)']);
    expect(await lines({ pattern: '(?i)foo', output: 'files', glob: 'src/**' })).toEqual([
      '/workspace/src/b.ts',
      '/workspace/src/deep/c.tsx',
    ]);
    expect(await lines({ pattern: 'hello.*end', multiline: true, output: 'counts' })).toHaveLength(1);
    expect(await lines({ pattern: 'bar', before: 1, after: 1 })).toEqual([
      '/workspace/a.ts-1-hello',
      '/workspace/a.ts:2:foo bar',
      '/workspace/a.ts-3-end',
    ]);
    expect(await lines({ pattern: 'nowhere' })).toEqual([]);
    expect(await lines({ pattern: '(' })).toMatch(/regex/);
    expect(workspace.list().length).toBe(5);
  });
}
