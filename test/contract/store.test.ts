// The Store contract for the embedded adapter, and what only SQLite has: processes that share a file, locks, the broom.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSqliteStore } from '../../shared/adapters/sqlite-store.ts';
import { epochMs, tenantId } from '../../shared/types/ids.ts';
import { storeContract } from './store.ts';

const TENANT = tenantId('default');

describe('sqlite', () => {
  storeContract(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'reprise-store-'));
    return {
      open: async () => createSqliteStore({ path: join(directory, 'store.db') }),
      remove: async () => rmSync(directory, { recursive: true }),
    };
  });
});

describe('sqlite files', () => {
  let directory: string;
  let path: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'reprise-store-'));
    path = join(directory, 'store.db');
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('is for its own user only, and every commit is synced', async () => {
    const storage = createSqliteStore({ path });
    await storage.system.put({ partition: 'p', sort: 's' }, { rev: '1', data: 1 }, 'any');
    for (const suffix of ['', '-wal', '-shm']) expect(statSync(path + suffix).mode & 0o077).toBe(0);
    await storage.close();
    const db = new DatabaseSync(path);
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    db.close();
  });

  test('two processes race for the same keys: each key has one winner', async () => {
    const keys = 150;
    const script = join(directory, 'racer.mjs');
    const adapter = pathToFileURL(join(import.meta.dirname, '../../shared/adapters/sqlite-store.ts')).href;
    writeFileSync(
      script,
      `import { createSqliteStore } from ${JSON.stringify(adapter)};
      const store = createSqliteStore({ path: process.argv[2] }).forTenant('default');
      const won = [];
      for (let i = 0; i < ${keys}; i++) {
        const put = await store.put({ partition: 'race', sort: 'k' + i }, { rev: process.argv[3], data: i }, 'absent');
        if (put.ok) won.push(i);
      }
      process.stdout.write(JSON.stringify(won));`,
    );
    const race = (name: string) =>
      new Promise<number[]>((resolve, reject) => {
        const child = spawn(process.execPath, [script, path, name], { stdio: ['ignore', 'pipe', 'inherit'] });
        let out = '';
        child.stdout.on('data', (chunk: Buffer) => {
          out += chunk.toString();
        });
        child.on('close', (code) => (code === 0 ? resolve(JSON.parse(out)) : reject(new Error(`exit ${code}`))));
      });
    const [a, b] = await Promise.all([race('a'), race('b')]);
    expect([...a, ...b].sort((x, y) => x - y)).toEqual(Array.from({ length: keys }, (_, i) => i));
    const storage = createSqliteStore({ path });
    const rows = await storage.forTenant(TENANT).list('race', { limit: 1000 });
    expect(rows.filter((r) => r.rev === 'a').map((r) => r.data)).toEqual(expect.arrayContaining(a));
    expect(rows.filter((r) => r.rev === 'a')).toHaveLength(a.length);
    await storage.close();
  });

  test('waits for another process that holds the lock, without blocking this one', async () => {
    const storage = createSqliteStore({ path });
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE');
    let done = false;
    const put = storage.system.put({ partition: 'p', sort: 's' }, { rev: '1', data: 1 }, 'absent').finally(() => {
      done = true;
    });
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 10);
    await new Promise((resolve) => setTimeout(resolve, 300));
    clearInterval(ticking);
    expect(done).toBe(false);
    expect(ticks).toBeGreaterThan(8);
    expect(await storage.system.get({ partition: 'p', sort: 's' })).toBeUndefined();
    other.exec('COMMIT');
    other.close();
    expect(await put).toEqual({ ok: true });
    await storage.close();
  });

  test('a write that cannot be stored spoils no other of its tick', async () => {
    const storage = createSqliteStore({ path });
    const put = (sort: string, rev: unknown) =>
      storage.system.put({ partition: 'p', sort }, { rev: rev as string, data: 1 }, 'absent');
    const results = await Promise.allSettled([put('a', '1'), put('b', Symbol('no text')), put('c', '1')]);
    expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect((await storage.system.list('p', { limit: 9 })).map((r) => r.key.sort)).toEqual(['a', 'c']);
    await storage.close();
  });

  test('the broom removes what has expired, and nothing else', async () => {
    let now = 1_000_000;
    const storage = createSqliteStore({ path, clock: { now: () => epochMs(now) } });
    const put = (sort: string, expiresAtMs?: number) =>
      storage.system.put(
        { partition: 'p', sort },
        { rev: '1', data: 1, ...(expiresAtMs ? { expiresAtMs } : {}) },
        'any',
      );
    await put('old', now + 10);
    await put('later', now + 10_000_000);
    await put('never');
    now += 3_600_000;
    await put('beat');
    expect((await storage.system.list('p', { limit: 9 })).map((r) => r.key.sort)).toEqual(['beat', 'later', 'never']);
    await storage.close();
  });

  test('what was asked before close is done; after it, writes fail', async () => {
    const storage = createSqliteStore({ path });
    const put = storage.system.put({ partition: 'p', sort: 's' }, { rev: '1', data: 1 }, 'absent');
    await storage.close();
    expect(await put).toEqual({ ok: true });
    await expect(storage.system.put({ partition: 'p', sort: 't' }, { rev: '1', data: 1 }, 'any')).rejects.toThrow(
      'closed',
    );
    await storage.close();
  });

  test('lives in memory where asked', async () => {
    const storage = createSqliteStore({ path: ':memory:' });
    await storage.system.put({ partition: 'p', sort: 's' }, { rev: '1', data: 1 }, 'absent');
    expect(await storage.system.get({ partition: 'p', sort: 's' })).toEqual({ rev: '1', data: 1 });
    await storage.close();
  });
});
