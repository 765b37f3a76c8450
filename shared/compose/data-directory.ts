// The directory for everything that is kept on this machine: there after this, or an error that says what to set.

import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** Made with those above it, closed to others. One by one: Node's own recursive way never returns where a file system lies, as /proc does. */
export function ensureDataDirectory(dataDir: string): void {
  const path = resolve(dataDir);
  const missing: string[] = [];
  try {
    for (let at = path; !isDirectory(at); at = dirname(at)) missing.unshift(at);
    for (const directory of missing) makeDirectory(directory);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The data directory ${path} cannot be made: ${reason}. Set REPRISE_DATA_DIR to another one.`);
  }
}

const isDirectory = (path: string): boolean => {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isDirectory()) throw new Error(`${path} is a file`);
  return stat !== undefined;
};

/** Another process may make it at the same moment. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!isDirectory(path)) throw error;
  }
}
