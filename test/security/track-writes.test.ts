// Changes are looked for where a method that changes something was called: no such method of the file system may be forgotten.

import { InMemoryFs } from 'just-bash';
import { expect, it } from 'vitest';
import { MUTATORS, trackWrites } from '../../shared/adapters/virtual-sandbox/track-writes.ts';

const READERS = [
  ...['readFile', 'readFileBytes', 'readFileBuffer', 'exists', 'stat', 'lstat', 'readdir', 'readdirWithFileTypes'],
  ...['getAllPaths', 'resolvePath', 'readlink', 'realpath'],
];
/** Called by the methods above only. */
const INNER = [
  ...['materializedContent', 'storedByteLength', 'wouldReleaseBytes', 'assertCanAllocate', 'setEntry', 'deleteEntry'],
  ...['contentByteLength', 'identityFor', 'ensureParentDirs', 'materializeLazy', 'resolveIntermediateSymlinks'],
  'resolvePathWithSymlinks',
];

it('knows every method of the file system', () => {
  const methods = Object.getOwnPropertyNames(InMemoryFs.prototype).filter((name) => name !== 'constructor');
  expect(methods.sort()).toEqual([...Object.keys(MUTATORS), ...READERS, ...INNER].sort());
});

it('tells what may differ: the path written to and what lies under it, everything once there is a link', async () => {
  const fs = new InMemoryFs({ '/w/a': 'a', '/w/d/b': 'b' });
  const writes = trackWrites(fs);
  await fs.readFile('/w/a');
  await fs.lstat('/w/d');
  expect(writes.any()).toBe(false);
  await fs.rm('/w/d/', { recursive: true });
  expect([writes.any(), writes.mayDiffer('/w/d/b'), writes.mayDiffer('/w/a'), writes.mayDiffer('/w/dd')]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  await fs.mv('/w/a', '/w/x/../c');
  expect([writes.mayDiffer('/w/a'), writes.mayDiffer('/w/c')]).toEqual([true, true]);
  await fs.symlink('/w', '/w/link');
  expect(writes.mayDiffer('/anything')).toBe(true);
});
