// The files of a session's resources: a path belongs to one of them, the first in the log. What comes later and conflicts, or
// would pass the maximum, is not added: only here are additions that were accepted at one time in an order.

import { LIMITS } from '../../types/limits.ts';
import type { FileRef } from '../../types/log.ts';
import type { FileResource } from '../../types/session.ts';
import { pathInTheWay } from '../workspace-path.ts';
import { ownFiles, type Work } from './fold-work.ts';

/** A resource's file as the workspace's index holds it. */
export const fileOfResource = (r: FileResource): FileRef => ({
  sha256: r.sha256,
  size: r.sizeBytes,
  mode: 0o644,
  mtimeMs: r.createdAt as number,
  blob: r.blob,
  offset: 0,
});

export function addResources(work: Work, added: readonly FileResource[]): void {
  const resources = [...work.draft.resources];
  for (const resource of added) {
    const taken = resources.map((r) => r.mountPath);
    if (resources.length >= LIMITS.sessionFilesMax || pathInTheWay(taken, resource.mountPath) !== undefined) continue;
    resources.push(resource);
    ownFiles(work).set(resource.mountPath, fileOfResource(resource));
  }
  work.draft.resources = resources;
}

export function removeResources(work: Work, ids: readonly string[]): void {
  const gone = new Set(ids);
  const before = work.draft.resources;
  const left = before.filter((r) => !gone.has(r.id));
  const kept = new Set(left.map((r) => r.mountPath));
  for (const r of before) if (gone.has(r.id) && !kept.has(r.mountPath)) ownFiles(work).delete(r.mountPath);
  work.draft.resources = left;
}
