// One text that changes whenever a source file does: names, sizes and times, no contents, so that asking costs milliseconds.

import { createHash } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['bin', 'cli', 'functions', 'scripts', 'shared', 'package-lock.json'];

/** The stamp of a checkout, or null where there are no sources (an installed package). */
export function sourceStamp(root) {
  const hash = createHash('sha256');
  try {
    for (const source of SOURCES) addPath(hash, join(root, source));
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
  return hash.digest('hex');
}

function addPath(hash, path) {
  const stat = statSync(path);
  if (!stat.isDirectory()) return void hash.update(`${path} ${stat.size} ${stat.mtimeMs}\n`);
  for (const name of readdirSync(path).sort()) addPath(hash, join(path, name));
}
