// The BlobStore contract for files, and what only files have: paths that must not leave the directory, crashes while writing.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFileBlobs } from '../../shared/adapters/file-blobs.ts';
import { type BlobKey, blobKey } from '../../shared/types/ids.ts';
import { blobsContract } from './blobs.ts';

describe('files', () => {
  blobsContract(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'reprise-blobs-'));
    return {
      open: async () => createFileBlobs({ directory: join(directory, 'blobs') }),
      remove: async () => rmSync(directory, { recursive: true }),
    };
  });
});

describe('blob files on disk', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'reprise-blobs-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test('hostile keys are refused and touch nothing outside', async () => {
    const blobs = createFileBlobs({ directory: join(directory, 'inner') });
    writeFileSync(join(directory, 'secret='), 'outside');
    const hostile = [
      '../secret',
      'a/../../secret',
      '/etc/passwd',
      'a//b',
      'a/./b',
      'a/',
      './a',
      '',
      '.aside/x',
      'A',
      'a\\..\\b',
    ];
    for (const key of [...hostile, 'a\u0000b', 'a b', 'x'.repeat(201), 'é']) {
      await expect(blobs.put(key as BlobKey, new Uint8Array(1))).rejects.toThrow(TypeError);
      await expect(blobs.get(key as BlobKey)).rejects.toThrow(TypeError);
      await expect(blobs.delete(key as BlobKey)).rejects.toThrow(TypeError);
    }
    expect(readdirSync(directory)).toEqual(['secret=']);
  });

  test('what a crash left unfinished is never seen, and goes after a day', async () => {
    const aside = join(directory, '.aside');
    mkdirSync(aside);
    writeFileSync(join(aside, 'old'), 'half');
    writeFileSync(join(aside, 'new'), 'half');
    const yesterday = new Date(Date.now() - 25 * 3600 * 1000);
    utimesSync(join(aside, 'old'), yesterday, yesterday);
    const blobs = createFileBlobs({ directory });
    expect(await blobs.list('', { limit: 10 })).toEqual([]);
    await blobs.put(blobKey('k'), new Uint8Array([1]));
    expect(readdirSync(aside)).toEqual(['new']);
  });

  test('a write that fails leaves nothing behind', async () => {
    const blobs = createFileBlobs({ directory });
    await blobs.put(blobKey('a'), new Uint8Array([1]));
    mkdirSync(join(directory, 'b='));
    await expect(blobs.put(blobKey('b'), new Uint8Array([2]))).rejects.toThrow();
    expect(readdirSync(join(directory, '.aside'))).toEqual([]);
    expect(existsSync(join(directory, 'a='))).toBe(true);
  });
});
