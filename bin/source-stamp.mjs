// One text that changes whenever a source file does: names, sizes and times, no contents, so that asking costs milliseconds.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const SOURCES = ['bin', 'cli', 'functions', 'scripts', 'shared', 'openapi.yaml', 'package-lock.json', 'package.json'];

/** The stamp of a checkout, or null where there are no sources (an installed package). */
export function sourceStamp(root) {
  if (!existsSync(join(root, 'scripts/build.ts'))) return null;
  const hash = createHash('sha256');
  for (const source of SOURCES) addPath(hash, join(root, source));
  return hash.digest('hex');
}

function addPath(hash, path) {
  const stat = statSync(path, { throwIfNoEntry: false }); // an editor may have just replaced it
  if (!stat) return void hash.update(`${path} is missing\n`);
  if (!stat.isDirectory()) return void hash.update(`${path} ${stat.size} ${stat.mtimeMs}\n`);
  for (const name of readdirSync(path).sort()) addPath(hash, join(path, name));
}
