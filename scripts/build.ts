// Bundles into dist/: the service (local.mjs), the Lambda entry (api/), the sandbox's child, the CLI. Does nothing when no
// source changed. Files appear whole (written aside, then renamed), so that builds at the same time do no harm.

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import { sourceStamp } from '../bin/source-stamp.mjs';
import { bundleSandboxChild } from './bundle-sandbox-child.ts';

const root = join(import.meta.dirname, '..');
const REQUIRE_BANNER =
  "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);";

/** The service starts through this file, so that the compile cache is on before the bundle is read. */
const LAUNCHER = `import { enableCompileCache, flushCompileCache } from 'node:module';
enableCompileCache({ directory: import.meta.dirname + '/.cache', portable: true });
if (process.channel) {
  process.channel.unref();
  process.once('disconnect', () => process.exit(1)); // our parent was killed
}
await import('./service.mjs');
setTimeout(flushCompileCache, 1000).unref(); // a killed process would leave no cache for the next start
`;

/** Zod exports its 50 locales as one value that no bundler can drop; messages are English only. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      loader: 'js',
    }));
  },
};

/** One SDK can run tools by itself, another a command that prints keys. Beside credentials nothing may start a process. */
const withoutHands: Plugin = {
  name: 'without-hands',
  setup({ onLoad, onResolve }) {
    onLoad({ filter: /[\\/]sdk[\\/]tools[\\/]agent-toolset[\\/]node\.mjs$/ }, () => ({
      contents: "throw new Error('this entry runs no tools');",
      loader: 'js',
    }));
    onLoad({ filter: /[\\/]credential-provider-process[\\/]dist-es[\\/]index\.js$/ }, () => ({
      contents: "export const fromProcess = () => { throw new Error('this entry starts no processes'); };",
      loader: 'js',
    }));
    onResolve({ filter: /^node:(child_process|worker_threads)$/ }, ({ path }) => ({ path, namespace: 'absent' }));
    onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: 'export {};', loader: 'js' }));
  },
};

const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  mainFields: ['module', 'main'],
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  write: false,
  banner: { js: REQUIRE_BANNER },
  plugins: [englishOnly],
};

/** Bundles and moves the result into place; the metafile goes beside it as `<name>.meta.json`. */
async function bundle(name: string, outdir: string, options: BuildOptions): Promise<Metafile> {
  const { outputFiles = [], metafile } = await build({ ...shared, outdir, ...options });
  if (metafile === undefined) throw new Error(`${name}: no metafile`);
  for (const { path, contents } of outputFiles) writeWhole(path, contents);
  writeWhole(join(root, 'dist', `${name}.meta.json`), JSON.stringify(metafile));
  return metafile;
}

function writeWhole(path: string, contents: string | Uint8Array): void {
  mkdirSync(join(path, '..'), { recursive: true });
  const aside = `${path}.${process.pid}`;
  writeFileSync(aside, contents);
  renameSync(aside, path);
}

/** Chunks of earlier builds, whose names nothing leads to any more. */
function removeOthers(directory: string, current: readonly string[]): void {
  const names = new Set(current.map((path) => basename(path)));
  for (const name of readdirSync(directory)) if (!names.has(name)) rmSync(join(directory, name), { force: true });
}

function kilobytes(metafile: Metafile): number {
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
  return Math.round(bytes / 1000);
}

async function buildAll(dist: string): Promise<string> {
  const [service, api, cli] = await Promise.all([
    bundle('service', dist, {
      entryPoints: { service: 'functions/local.ts' },
      outExtension: { '.js': '.mjs' },
      minifyWhitespace: true, // read sooner; names stay, for stack traces
      minifySyntax: true,
      splitting: true, // what only another store needs is not read with the embedded one
      chunkNames: 'service-chunks/[name]-[hash]',
    }),
    bundle('api', join(dist, 'api'), {
      entryPoints: { index: 'functions/api.ts' },
      outExtension: { '.js': '.mjs' },
      minify: true,
      splitting: true,
      chunkNames: 'chunk-[hash]',
      plugins: [englishOnly, withoutHands],
    }),
    bundle('cli', dist, { entryPoints: { cli: 'cli/main.ts' }, outExtension: { '.js': '.mjs' } }),
    bundleSandboxChild(join(dist, 'sandbox-child.mjs')),
  ]);
  writeWhole(join(dist, 'local.mjs'), LAUNCHER);
  writeWhole(join(dist, 'api/openapi.yaml'), readFileSync(join(root, 'openapi.yaml')));
  removeOthers(join(dist, 'api'), [...Object.keys(api.outputs), 'openapi.yaml']);
  removeOthers(join(dist, 'service-chunks'), Object.keys(service.outputs));
  return `service ${kilobytes(service)} kB, api ${kilobytes(api)} kB, cli ${kilobytes(cli)} kB`;
}

const { values } = parseArgs({ options: { force: { type: 'boolean', default: false } } });
const dist = join(root, 'dist');
const stampFile = join(dist, '.stamp');
const stamp = sourceStamp(root);
if (!values.force && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) {
  console.log('dist/ is up to date');
} else {
  const startedAt = performance.now();
  const sizes = await buildAll(dist);
  writeWhole(stampFile, stamp ?? '');
  console.log(`built dist/ in ${Math.round(performance.now() - startedAt)} ms: ${sizes}`);
}
