// Files for a session's workspace: each resource is the session's own copy of an upload, under a new id, at a checked path.

import { isPathError, pathInTheWay, UPLOADS_DIRECTORY, workspacePath } from '../../core/workspace-path.ts';
import { files } from '../../log/resources.ts';
import { ServiceError } from '../../types/errors.ts';
import { blobKey, fileId, ID_PREFIX, type SessionId, type WorkspacePath } from '../../types/ids.ts';
import { LIMITS } from '../../types/limits.ts';
import type { FileResource, StoredFile } from '../../types/session.ts';
import { limitIn, tooMany } from '../../wire/limits.ts';
import type { FileResourceInput } from '../../wire/resources.ts';
import { type Asker, findFile } from '../find.ts';
import { logDeps } from '../service.ts';

export interface Mount {
  readonly upload: StoredFile;
  readonly path: WorkspacePath;
}

const wrong = (field: string, message: string): ServiceError =>
  new ServiceError('invalid_request', `${field}: ${message}`, { field, ...limitIn(message) });

const isTaken = (field: string, path: WorkspacePath): ServiceError => wrong(field, `${path} is taken by another file`);

/** Throws the 400 of a full session. */
export function checkRoom(resources: readonly FileResource[]): void {
  if (resources.length >= LIMITS.sessionFilesMax) throw tooMany('resources', 'sessionFilesMax', 'files');
}

/** Throws the 400 of an addition that the log refused, `resources` being there after it: another one came first. */
export function checkAdded(resources: readonly FileResource[], added: FileResource): void {
  if (resources.some((r) => r.id === added.id)) return;
  const taken = resources.map((r) => r.mountPath);
  const clash = pathInTheWay(taken, added.mountPath);
  if (clash === undefined) checkRoom(resources);
  throw isTaken('mount_path', clash ?? added.mountPath);
}

/** The uploads and where they go; nothing is stored yet. Throws 400 naming the field, 404 for an unknown file. */
export async function checkMounts(
  asker: Asker,
  inputs: readonly { readonly input: FileResourceInput; readonly field: string }[],
  taken: readonly WorkspacePath[],
): Promise<readonly Mount[]> {
  const paths = new Set(taken);
  const mounts: Mount[] = [];
  for (const { input, field } of inputs) {
    const prefix = field === '' ? '' : `${field}.`;
    const upload = await findFile(asker, input.file_id).catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error;
      const at = `${prefix}file_id`;
      throw new ServiceError(error.code, `${at}: ${error.message}`, { ...error.details, field: at });
    });
    const path = mountPath(input.mount_path || upload.id, `${prefix}mount_path`);
    const clash = pathInTheWay(paths, path);
    if (clash !== undefined) throw isTaken(`${prefix}mount_path`, clash);
    paths.add(path);
    mounts.push({ upload, path });
  }
  return mounts;
}

/** Rooted in the uploads directory, whether it was given with that directory or without. */
function mountPath(given: string, field: string): WorkspacePath {
  const rooted = given.startsWith(`${UPLOADS_DIRECTORY}/`) ? given : `${UPLOADS_DIRECTORY}/${given}`;
  const path = workspacePath(rooted, UPLOADS_DIRECTORY);
  if (isPathError(path)) throw wrong(field, path.error);
  if (!path.startsWith(`${UPLOADS_DIRECTORY}/`)) throw wrong(field, `must stay within ${UPLOADS_DIRECTORY}`);
  if (given.endsWith('/')) throw wrong(field, 'names a directory, not a file');
  return path;
}

/** Stores the session's copies: bytes first, then the record that names them. */
export async function copyMounts(
  { service, caller }: Asker,
  session: SessionId,
  mounts: readonly Mount[],
): Promise<readonly FileResource[]> {
  const deps = logDeps(service, caller.tenant);
  const { blobs } = service.ports;
  const resources: FileResource[] = [];
  for (const { upload, path } of mounts) {
    const bytes = await blobs.get(upload.blob);
    if (!bytes) throw new Error(`the blob of ${upload.id} is missing`);
    const ulid = deps.ids.ulid();
    const blob = blobKey(`t/${caller.tenant}/${session.slice(ID_PREFIX.session.length)}/f/${ulid}`);
    await blobs.put(blob, bytes);
    const now = deps.clock.now();
    const copy: StoredFile = {
      ...upload,
      id: fileId(ID_PREFIX.file + ulid),
      blob,
      createdAt: now,
      expiresAt: null,
      sessionId: session,
    };
    await files.create(deps, copy);
    resources.push({
      id: ID_PREFIX.resource + deps.ids.ulid(),
      type: 'file',
      fileId: copy.id,
      mountPath: path,
      blob,
      sha256: copy.sha256,
      sizeBytes: copy.sizeBytes,
      filename: copy.filename,
      mimeType: copy.mimeType,
      createdAt: now,
      updatedAt: now,
    });
  }
  return resources;
}

/** Removes the copies' records and bytes; for resources that are gone from the session, or never came to be. */
export async function removeCopies({ service, caller }: Asker, resources: readonly FileResource[]): Promise<void> {
  const { store } = logDeps(service, caller.tenant);
  for (const { fileId: id, blob } of resources) {
    await files.remove(store, id);
    await service.ports.blobs.delete(blob);
  }
}
