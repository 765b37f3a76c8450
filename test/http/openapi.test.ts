// `openapi.yaml` is what the code says, is sound by the linter's rules, and can be read as a page.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openApiText } from '../../scripts/openapi-document.ts';
import { fieldsOf } from '../../shared/http/docs-fields.ts';
import { docsPage, operationsOf } from '../../shared/http/docs-page.ts';
import { readPlainYaml } from '../../shared/http/plain-yaml.ts';
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
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page.length).toBeLessThan(2 * text.length);
  });

  test('the page reads it as every other reader does', () => {
    expect(readPlainYaml(text)).toEqual(document);
  });

  test('the page says what each operation takes', () => {
    const takes = (path: string, method: string) => fieldsOf(readPlainYaml(text), path, method);
    const create = takes('/v1/agents', 'post');
    expect(create.find((f) => f.name === 'name')).toMatchObject({ where: 'body', required: true });
    expect(create.find((f) => f.name === 'model')).toMatchObject({ required: true, type: '#ModelInput' });
    expect(create.find((f) => f.name === 'system')?.type).toBe('string, at most 100000 or null');
    expect(takes('/v1/sessions/{session_id}/events', 'get').map((f) => `${f.where} ${f.name}`)).toEqual(
      expect.arrayContaining(['path session_id', 'query limit', 'query types[]']),
    );
    expect(takes('/v1/files', 'post').map((f) => f.name)).toEqual(['file', 'expires_in_seconds']);
    for (const { spec } of ROUTES) {
      const taken = takes(spec.path, spec.method);
      expect(taken.some((f) => f.where === 'body')).toBe(spec.body !== undefined || spec.multipart !== undefined);
      for (const f of taken) expect([spec.path, f.name, f.type]).not.toContain('');
    }
    expect(docsPage(text, '1.0.0')).toContain('<td><code>initial_events</code>');
  });
});
