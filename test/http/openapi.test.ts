// `openapi.yaml` is what the code says, is sound by the linter's rules, and can be read as a page.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openApiText } from '../../scripts/openapi-document.ts';
import { docsPage, operationsOf } from '../../shared/http/docs-page.ts';
import { ROUTES } from '../../shared/http/routes.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const text = readFileSync(`${PROJECT}/openapi.yaml`, 'utf8');

interface Document {
  readonly paths: Record<string, Record<string, { operationId: string; tags: string[]; security: unknown[] }>>;
  readonly tags: { name: string }[];
}
const document = parse(text) as Document;

describe('openapi.yaml', () => {
  test('agrees with the routes: otherwise run `npm run openapi`', () => {
    expect(text === openApiText()).toBe(true);
    expect(text.startsWith('openapi: ')).toBe(true);
  });

  test('has every route and no other, each with its own name', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method} ${path}`),
    );
    expect(described.toSorted()).toEqual(ROUTES.map(({ spec }) => `${spec.method} ${spec.path}`).toSorted());
    expect(new Set(ROUTES.map(({ spec }) => spec.operationId)).size).toBe(ROUTES.length);
    const tags = document.tags.map((t) => t.name);
    for (const { spec } of ROUTES) expect(tags).toContain(spec.tag);
  });

  test('only what is public needs no key', () => {
    const open = ROUTES.filter(({ spec }) => spec.access === 'public').map(({ spec }) => spec.path);
    expect(open).toEqual(['/healthz', '/openapi.yaml', '/docs']);
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const operation of Object.values(methods)) {
        expect(operation.security.length === 0).toBe(open.includes(path as `/${string}`));
      }
    }
  });

  test('is clean by the linter', () => {
    const lint = ['node_modules/.bin/redocly', 'lint', 'openapi.yaml', '--format=json'];
    const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
    const output = execFileSync(process.execPath, lint, { cwd: PROJECT, env, encoding: 'utf8', stdio: 'pipe' });
    expect(JSON.parse(output.slice(output.indexOf('{')))).toMatchObject({ totals: { errors: 0, warnings: 0 } });
  });

  test('is a page with every operation', () => {
    const operations = operationsOf(text);
    expect(operations.map((o) => `${o.method} ${o.path}`).toSorted()).toEqual(
      ROUTES.map(({ spec }) => `${spec.method} ${spec.path}`).toSorted(),
    );
    expect(operations.every((o) => o.summary !== '' && o.tag !== '')).toBe(true);
    const page = docsPage(text, '1.0.0');
    for (const { line } of operations) expect(page).toContain(`id="L${line}"`);
    expect(page).not.toContain('<script');
  });
});
