// Bundles the sandbox child into one file without any module that reaches outside: those are empty here, so that no reference to
// them exists in the child at all. Bundling is skipped where the output is newer than everything it was made from.

import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const SOURCE = fileURLToPath(new URL('../shared/adapters/virtual-sandbox/', import.meta.url));
const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** Modules that the child must not hold. `worker_threads` and `dns` are named by the shell's optional commands only. */
const FORBIDDEN =
  /^(?:node:)?(?:net|tls|https?|http2|dgram|dns|child_process|cluster|inspector|sqlite|vm|worker_threads|repl|wasi|trace_events|fs|os)(?:\/.*)?$/;
/** Parts of the shell that are off: network, SQLite, Python, JavaScript. */
const LEFT_OUT = /\/(?:undici|curl|sqlite3|js-exec|python3|html-to-markdown|worker)-[A-Z0-9]+\.js$/;

/**
 * Only the prelude may hold the loader. The shell gets one that refuses; its own guard, which wants to patch a loader before each
 * command, patches this one.
 */
const REFUSING_MODULE = `
const refuse = (id) => { throw new Error(id + ': not available in the sandbox'); };
function Module() {}
Object.assign(Module, { Module, default: Module, builtinModules: [], createRequire: () => refuse, _load: refuse, _resolveFilename: refuse });
module.exports = Module;
`;

const withoutOutside: Plugin = {
  name: 'without-outside',
  setup(setup) {
    setup.onResolve({ filter: FORBIDDEN }, ({ path }) => ({ path, namespace: 'nothing' }));
    setup.onResolve({ filter: LEFT_OUT }, ({ path }) => ({ path, namespace: 'nothing' }));
    setup.onResolve({ filter: /^(?:node:)?module$/ }, ({ path, importer }) =>
      importer.includes('node_modules')
        ? { path, namespace: 'refusing-module' }
        : { path: 'node:module', external: true },
    );
    setup.onLoad({ filter: /.*/, namespace: 'refusing-module' }, () => ({ contents: REFUSING_MODULE, loader: 'js' }));
    setup.onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
  },
};

/**
 * Writes the bundle of `entry` (the child itself unless told) to `outfile`; tells whether it had to.
 * Two callers at once are harmless: both write the same bytes.
 */
export async function bundleSandboxChild(outfile: string, entry = join(SOURCE, 'child.ts')): Promise<boolean> {
  const alone = ['shared/core/workspace-path.ts', 'shared/types/limits.ts', 'package-lock.json'].map((file) =>
    join(ROOT, file),
  );
  const newest = await newestChange([SOURCE, dirname(entry), ...alone, fileURLToPath(import.meta.url)]);
  const made = await stat(outfile).catch(() => undefined);
  if (made && made.mtimeMs > newest) return false;
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minify: true,
    legalComments: 'none',
    write: false,
    logLevel: 'error',
    plugins: [withoutOutside],
  });
  await mkdir(dirname(outfile), { recursive: true });
  const half = `${outfile}.${process.pid}`;
  await writeFile(half, result.outputFiles[0]?.contents ?? new Uint8Array());
  await rename(half, outfile);
  return true;
}

async function newestChange(paths: readonly string[]): Promise<number> {
  const times = await Promise.all(
    paths.map(async (path) => {
      const found = await stat(path);
      if (!found.isDirectory()) return found.mtimeMs;
      const files = (await readdir(path)).filter((name) => name.endsWith('.ts'));
      const each = await Promise.all(files.map(async (name) => (await stat(join(path, name))).mtimeMs));
      return Math.max(0, ...each);
    }),
  );
  return Math.max(...times);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const outfile = process.argv[2] ?? join(ROOT, 'dist/sandbox-child.mjs');
  await bundleSandboxChild(outfile);
  console.log(`${outfile}: ${(await readFile(outfile)).length} bytes`);
}
