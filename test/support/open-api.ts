// Finds an answer's schema in openapi.yaml by method, path and status, and validates against it.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { parse } from 'yaml';

interface MediaType {
  readonly schema?: unknown;
}
interface Answer {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, MediaType>>;
}
interface Operation {
  readonly responses?: Readonly<Record<string, Answer>>;
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface AnswerMeta {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Without parameters: `application/json`. */
  readonly contentType: string;
}

export interface OpenApiValidator {
  /** Words on what is wrong with one JSON body (or the JSON of one SSE frame); empty where all is well. */
  validate(meta: AnswerMeta, body: unknown): readonly string[];
  /** Words on an undocumented path, status or content type; empty where documented. */
  documented(meta: AnswerMeta): readonly string[];
}

const pointer = (part: string): string => part.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('%', '%25');

/** Keeps `oneOf`/`anyOf` readable: the deepest complaints say what is wrong. */
export function wordsOf(validate: ValidateFunction): readonly string[] {
  const errors = [...(validate.errors ?? [])];
  errors.sort((a, b) => b.instancePath.length - a.instancePath.length);
  return errors.slice(0, 6).map((e) => `${e.instancePath || '/'} ${e.message} ${JSON.stringify(e.params)}`);
}

function templateMatcher(template: string): RegExp {
  const source = template
    .split('/')
    .map((part) => (/^\{.+\}$/.test(part) ? '[^/]+' : part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')))
    .join('/');
  return new RegExp(`^${source}$`);
}

const FILE = fileURLToPath(new URL('../../openapi.yaml', import.meta.url));

export function createOpenApiValidator(file: string = FILE): OpenApiValidator {
  const document = parse(readFileSync(file, 'utf8')) as OpenApi;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema(document as unknown as Record<string, unknown>, 'openapi');
  // Literal paths win over templates: /v1/files/uploads before /v1/files/{file_id}.
  const templates = Object.keys(document.paths)
    .sort((a, b) => a.split('{').length - b.split('{').length)
    .map((template) => ({ template, matcher: templateMatcher(template) }));
  const compiled = new Map<string, ValidateFunction>();

  const find = (meta: AnswerMeta): { words: string; ref?: string; content?: Answer['content'] } => {
    const found = templates.filter(({ matcher }) => matcher.test(meta.path));
    const match = found.find(({ template }) => document.paths[template]?.[meta.method.toLowerCase()]);
    if (!match) return { words: `no ${meta.method} ${meta.path} in openapi.yaml` };
    const { template } = match;
    const method = meta.method.toLowerCase();
    const responses = document.paths[template]?.[method]?.responses ?? {};
    const key = [String(meta.status), `${Math.floor(meta.status / 100)}XX`, 'default'].find((k) => responses[k]);
    if (!key) return { words: `${meta.method} ${template} does not document status ${meta.status}` };
    const base = `#/paths/${pointer(template)}/${method}/responses/${key}`;
    const answer = responses[key];
    if (answer?.$ref) {
      const target = answer.$ref
        .split('/')
        .slice(1)
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], document) as Answer;
      return { words: '', ref: answer.$ref, content: target.content };
    }
    return { words: '', ref: base, content: answer?.content };
  };

  const documented = (meta: AnswerMeta): readonly string[] => {
    const { words, content } = find(meta);
    if (words) return [words];
    if (!content || content[meta.contentType] || content['*/*']) return [];
    return [`${meta.method} ${meta.path} ${meta.status} does not document ${meta.contentType}`];
  };

  return {
    documented,
    validate(meta, body) {
      const missing = documented(meta);
      if (missing.length > 0) return missing;
      const { ref, content } = find(meta);
      if (!content?.[meta.contentType]?.schema)
        return [`no schema for ${meta.method} ${meta.path} ${meta.contentType}`];
      const schemaRef = `openapi${ref}/content/${pointer(meta.contentType)}/schema`;
      const validate = compiled.get(schemaRef) ?? ajv.compile({ $ref: schemaRef });
      compiled.set(schemaRef, validate);
      return validate(body) ? [] : wordsOf(validate);
    },
  };
}
