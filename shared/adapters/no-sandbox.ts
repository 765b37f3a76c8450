// Where there are no hands: files of the session can be read, nothing can be written or run, and each refusal says why.

import type { BlobStore } from '../ports/blob-store.ts';
import type { OpenWorkspace, Sandbox, Workspace } from '../ports/sandbox.ts';

export interface NoSandboxOptions {
  readonly blobs: BlobStore;
  /** Shown to the model: `compose refuses virtual on Lambda`. */
  readonly reason: string;
}

/** A sandbox whose `exec` and `write` are values that give the reason. */
export function createNoSandbox({ blobs, reason }: NoSandboxOptions): Sandbox {
  return { driver: 'lambda', open: (what) => openReadOnly(what, blobs, reason), close: async () => {} };
}

function openReadOnly({ files, shell }: OpenWorkspace, blobs: BlobStore, reason: string): Workspace {
  const paths = [...files.keys()];
  return {
    stat(path) {
      const file = files.get(path);
      return file && { path, size: file.size, mode: file.mode, mtimeMs: file.mtimeMs };
    },
    isDirectory: (path) => paths.some((file) => file.startsWith(path === '/' ? path : `${path}/`)),
    list: () => [...files].map(([path, { size, mode, mtimeMs }]) => ({ path, size, mode, mtimeMs })),
    async read(path) {
      const file = files.get(path);
      return file && (await blobs.get(file.blob, { offset: file.offset, length: file.size }));
    },
    write: async () => ({ ok: false, reason }),
    search: async () => ({ ok: false, reason }),
    exec: async () => ({ stdout: '', stderr: `${reason}\n`, exitCode: 126, killed: null, notes: [] }),
    shell,
    restartShell() {},
    snapshot: async () => null,
    close: async () => {},
  };
}
