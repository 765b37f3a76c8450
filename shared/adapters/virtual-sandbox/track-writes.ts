// Which paths of an in-memory file system were written to since some moment, so that changes are looked for there only.

import type { InMemoryFs } from 'just-bash';
import { normalizePath } from '../../core/workspace-path.ts';

export interface Writes {
  /** Whether the content of `path` may have changed, or the file come, moved or gone. */
  mayDiffer(path: string): boolean;
  any(): boolean;
}

/** Every method that changes something, with how many of its first arguments are paths. A test holds this to the class. */
export const MUTATORS: Readonly<Record<string, number>> = {
  writeFile: 1,
  writeFileSync: 1,
  writeFileLazy: 1,
  appendFile: 1,
  mkdir: 1,
  mkdirSync: 1,
  rm: 1,
  cp: 2,
  mv: 2,
  chmod: 1,
  utimes: 1,
  symlink: 2,
  link: 2,
};

/** Watches `fs` from now on. A link makes every path suspect: what is written through it lies elsewhere. */
export function trackWrites(fs: InMemoryFs): Writes {
  const written = new Set<string>();
  const state = { everywhere: false };
  for (const [name, paths] of Object.entries(MUTATORS)) {
    const original: unknown = Reflect.get(fs, name);
    if (typeof original !== 'function') continue;
    const watched = (...args: unknown[]): unknown => {
      if (name === 'symlink' || name === 'link') state.everywhere = true;
      for (const path of args.slice(0, paths)) {
        if (typeof path === 'string' && path.startsWith('/')) written.add(normalizePath(path, '/'));
        else state.everywhere = true;
      }
      return Reflect.apply(original, fs, args);
    };
    Reflect.set(fs, name, watched);
  }
  return {
    any: () => state.everywhere || written.size > 0,
    mayDiffer: (path) => {
      if (state.everywhere || written.has(path)) return true;
      for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
        if (written.has(path.slice(0, at))) return true;
      }
      return false;
    },
  };
}
