// What a `session_updated` changes, and where the files of a session's resources lie.

import type { FileRef, SessionChange } from '../../types/log.ts';
import type { FileResource } from '../../types/session.ts';
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

export function applyChange(work: Work, change: SessionChange): void {
  const d = work.draft;
  if (change.title !== undefined) d.title = change.title;
  if (change.metadata !== undefined) d.metadata = change.metadata;
  if (change.agent !== undefined) d.agent = change.agent;
  if (change.budget !== undefined) d.budget = change.budget;
  if (change.resourcesRemoved) {
    const gone = new Set(change.resourcesRemoved);
    for (const r of d.resources) if (gone.has(r.id)) ownFiles(work).delete(r.mountPath);
    d.resources = d.resources.filter((r) => !gone.has(r.id));
  }
  if (change.resourcesAdded) {
    d.resources = [...d.resources, ...change.resourcesAdded];
    for (const r of change.resourcesAdded) ownFiles(work).set(r.mountPath, fileOfResource(r));
  }
}
