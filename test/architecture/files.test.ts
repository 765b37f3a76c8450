// What the linters cannot see: opening comments, names, barrels, clocks in disguise, import forms, and a clean README.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { measureFunctions } from './function-lines.ts';

const root = join(import.meta.dirname, '../..');
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
const files = listed
  .toString()
  .split('\n')
  .filter((path) => /\.(ts|mjs|mts)$/.test(path));
const textOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const source = files.filter((path) => /^(shared|functions|cli|infra|bench|scripts|bin)\//.test(path));

/** Those of `paths` whose text has a line that matches. */
function matching(paths: readonly string[], pattern: RegExp): readonly string[] {
  return paths.filter((path) =>
    textOf(path)
      .split('\n')
      .some((line) => pattern.test(line)),
  );
}

test('the list of files is not empty', () => {
  expect(source.length).toBeGreaterThan(50);
});

describe('every source file', () => {
  test('has at most 250 lines', () => {
    expect(source.filter((path) => textOf(path).trimEnd().split('\n').length > 250)).toEqual([]);
  });

  test('opens with a comment of one to three lines', () => {
    const opening = /^(#!.*\n)?(\/\/ .*\n){1,3}(?!\/\/)/;
    expect(source.filter((path) => !opening.test(textOf(path)))).toEqual([]);
  });

  test('has functions of at most 60 lines of their own', () => {
    const long = source
      .filter((path) => path.endsWith('.ts'))
      .flatMap((path) => measureFunctions(path, textOf(path)).map((found) => ({ path, ...found })))
      .filter(({ lines }) => lines > 60);
    expect(long.map(({ path, name, lines }) => `${path} ${name}: ${lines}`)).toEqual([]);
  });

  test('has a kebab-case name', () => {
    const kebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|d|(full\.)?config))?\.(ts|mjs|mts)$/;
    expect(files.filter((path) => !kebab.test(basename(path)))).toEqual([]);
  });

  test('imports by the shortest path, so that the boundaries are what they seem', () => {
    expect(matching(files, /from '(\.\/\.|(\.\.\/)*[^.'][^']*\/\.)/)).toEqual([]);
  });
});

test('no file only re-exports', () => {
  const code = (path: string) =>
    textOf(path)
      .replace(/^\/\/.*$/gm, '')
      .trim();
  expect(source.filter((path) => /^(export (type )?(\*|\{[^}]*\}) from '[^']*';\s*)+$/.test(code(path)))).toEqual([]);
});

test('rooms without a clock do not ask the date', () => {
  const pure = source.filter((path) => path.startsWith('shared/') && !path.startsWith('shared/adapters/'));
  expect(matching(pure, /new Date\(\)/)).toEqual([]);
});

test('no default exports, enums, decorators or unfinished notes', () => {
  const note = new RegExp(`\\b(${['TO', 'FIX'].map((word) => `${word}${word === 'TO' ? 'DO' : 'ME'}`).join('|')})\\b`);
  expect(matching(source, /^export default /)).toEqual([]);
  expect(matching(source, /^(export )?(const )?enum /)).toEqual([]);
  expect(matching(files, note)).toEqual([]);
  expect(matching(files, /\bas any\b|@ts-(ignore|nocheck)/).filter((path) => !path.includes('architecture'))).toEqual(
    [],
  );
});

test('only ServiceError is a class', () => {
  expect(matching(source, /^(export )?class /).filter((path) => !path.startsWith('infra/'))).toEqual([
    'shared/types/errors.ts',
  ]);
});

test('a function is measured without the functions inside it', () => {
  const lines = (count: number) => '  work();\n'.repeat(count);
  const measured = measureFunctions('a.ts', `function a() {\n${lines(3)}  const b = () => {\n${lines(70)}  };\n}\n`);
  expect(measured).toEqual([
    { name: 'b', line: 5, lines: 72 },
    { name: 'a', line: 1, lines: 6 },
  ]);
});
