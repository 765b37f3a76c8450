// Files of resources: a path has one owner, the first in the log, and goes with its last one.

import { describe, expect, it } from 'vitest';
import { fileOfResource } from '../../shared/core/fold/fold-resources.ts';
import type { WorkspacePath } from '../../shared/types/ids.ts';
import { LIMITS } from '../../shared/types/limits.ts';
import type { SessionChange } from '../../shared/types/log.ts';
import type { FileResource } from '../../shared/types/session.ts';
import { bench, event, session, T0 } from './builders.ts';

const at = (path: string) => `/mnt/session/uploads/${path}` as WorkspacePath;
const resource = (id: string, path: string): FileResource => ({
  id,
  type: 'file',
  fileId: `file_${id}` as FileResource['fileId'],
  mountPath: at(path),
  blob: `blob-${id}` as FileResource['blob'],
  sha256: id,
  sizeBytes: 1,
  filename: 'f',
  mimeType: 'text/plain',
  createdAt: T0,
  updatedAt: T0,
});

function changed(changes: readonly SessionChange[], from: readonly FileResource[] = []) {
  const { log, state } = bench(session({ resources: from }));
  for (const change of changes) {
    log({ kind: 'session_updated', inputId: event({ type: 'control.update', change }).id, change });
  }
  const { resources, files } = state();
  return { ids: resources.map((r) => r.id), files: [...files].map(([path, file]) => [path, file.sha256]) };
}

describe('resources', () => {
  it.each([
    ['the same path', 'd/x', 'd/x'],
    ['a path below it', 'd', 'd/x'],
    ['a path above it', 'd/x', 'd'],
  ])('the first has it, and another one at %s is not added', (_name, first, second) => {
    const expected = { ids: ['a'], files: [[at(first), 'a']] };
    const [a, b] = [resource('a', first), resource('b', second)];
    expect(changed([{ resourcesAdded: [a] }, { resourcesAdded: [b] }])).toEqual(expected);
    expect(changed([{ resourcesAdded: [a, b] }])).toEqual(expected);
    expect(changed([{ resourcesAdded: [b] }], [a])).toEqual(expected);
  });

  it('names that only begin alike are two places', () => {
    const both = [resource('a', 'd'), resource('b', 'd.csv')];
    expect(changed([{ resourcesAdded: both }]).ids).toEqual(['a', 'b']);
  });

  it('a path that was given back can be taken again', () => {
    const [a, b] = [resource('a', 'd'), resource('b', 'd')];
    const moves = [{ resourcesAdded: [a] }, { resourcesRemoved: ['a'], resourcesAdded: [b] }];
    expect(changed(moves)).toEqual({ ids: ['b'], files: [[at('d'), 'b']] });
  });

  it('the file stays while another resource has its path, as in logs from before this rule', () => {
    const both = [resource('a', 'd'), resource('b', 'd')];
    expect(changed([{ resourcesRemoved: ['a'] }], both)).toEqual({ ids: ['b'], files: [[at('d'), 'b']] });
    expect(changed([{ resourcesRemoved: ['a', 'b'] }], both)).toEqual({ ids: [], files: [] });
  });

  it('what would pass the maximum is not added', () => {
    const full = Array.from({ length: LIMITS.sessionFilesMax - 1 }, (_, i) => resource(`r${i}`, `f${i}`));
    const more = [resource('last', 'last'), resource('over', 'over')];
    const { ids, files } = changed([{ resourcesAdded: more }], full);
    expect(ids.slice(-2)).toEqual(['r498', 'last']);
    expect(files).toHaveLength(LIMITS.sessionFilesMax);
  });

  it('the file is as the resource describes it', () => {
    expect(fileOfResource(resource('a', 'd'))).toMatchObject({ sha256: 'a', size: 1, blob: 'blob-a', offset: 0 });
  });
});
