// What the `api` bundle holds: no interpreter, archive or page code beside the keys, and little enough to start quickly.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';
import { buildProject, PROJECT } from '../support/build.ts';

const BYTES_MAX = 900_000;
let meta: Metafile;

beforeAll(async () => {
  await buildProject();
  meta = JSON.parse(readFileSync(join(PROJECT, 'dist/api.meta.json'), 'utf8'));
});

/** The files that are loaded at the start: the entry and what it imports statically. */
function filesAtStart(): readonly string[] {
  const entry = Object.keys(meta.outputs).find((path) => meta.outputs[path]?.entryPoint === 'functions/api.ts');
  const seen = new Set(entry ? [entry] : []);
  for (const path of seen) {
    for (const { path: next, kind, external } of meta.outputs[path]?.imports ?? []) {
      if (!external && kind === 'import-statement') seen.add(next);
    }
  }
  return [...seen];
}

test(`what is loaded at the start is at most ${BYTES_MAX} bytes`, () => {
  const files = filesAtStart();
  expect(files.length).toBeGreaterThan(0);
  expect(files.reduce((bytes, path) => bytes + (meta.outputs[path]?.bytes ?? 0), 0)).toBeLessThan(BYTES_MAX);
});

test('no shell, sandbox, archive, command line or scripted model is inside', () => {
  const inside = Object.keys(meta.inputs);
  expect(inside).toContain('functions/api.ts');
  expect(
    inside.filter((path) =>
      /just-bash|virtual-sandbox|scripted-model|commander|agent-toolset\/(skills|memories|fs-util)|\b(tar|zip|pdf)\b/.test(
        path,
      ),
    ),
  ).toEqual([]);
});

test('no process can be started from it', () => {
  const imported = Object.values(meta.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  expect(imported).toContain('node:sqlite');
  expect(imported.filter((path) => /child_process|worker_threads|^(node:)?vm$/.test(path))).toEqual([]);
});

test('messages of schemas come in English only', () => {
  const locales = Object.keys(meta.inputs).filter((path) => path.includes('zod/v4/locales/'));
  expect(locales.map((path) => path.split('/').at(-1)).sort()).toEqual(['en.js', 'index.js']);
});
