// Derives JSON Schemas from the official SDK's own type declarations, so that a test can hold our answers to what the SDK says it gets.
// `npx node scripts/sdk-schemas.ts` writes test/support/sdk-schemas.generated.json; a test regenerates it and compares.
// Properties that the SDK does not name are allowed (`reprise: {…}`); wrong types, missing fields and unknown enum values are not.

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript6';
import { rootsSource, SDK_ROOTS } from './sdk-schema-roots.ts';

type Schema = Record<string, unknown>;

export interface SdkSchemas {
  readonly $schema: string;
  readonly $id: string;
  readonly $comment: string;
  readonly $defs: Readonly<Record<string, Schema>>;
}

const PROJECT = join(dirname(fileURLToPath(import.meta.url)), '..');
const ROOTS_FILE = join(PROJECT, 'scripts', '__sdk-roots.ts');
export const SCHEMAS_FILE = join(PROJECT, 'test', 'support', 'sdk-schemas.generated.json');

interface Context {
  readonly checker: ts.TypeChecker;
  readonly defs: Map<string, Schema>;
  readonly names: Map<ts.Type, string>;
}

/** A program whose only own file is the virtual one that names the roots. */
function createProgram(source: string): ts.Program {
  const options: ts.CompilerOptions = {
    strict: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = (name) => name === ROOTS_FILE || fileExists.call(host, name);
  host.readFile = (name) => (name === ROOTS_FILE ? source : readFile.call(host, name));
  host.getSourceFile = (name, languageVersion, onError) =>
    name === ROOTS_FILE
      ? ts.createSourceFile(name, source, languageVersion, true)
      : getSourceFile.call(host, name, languageVersion, onError);
  return ts.createProgram([ROOTS_FILE], options, host);
}

const has = (type: ts.Type, flag: ts.TypeFlags): boolean => (type.flags & flag) !== 0;

/** The declared name of an object type of the SDK, or undefined for an anonymous one. */
function declaredName(type: ts.Type): string | undefined {
  const symbol = type.aliasSymbol ?? type.getSymbol();
  const name = symbol?.getName();
  if (!name || name.startsWith('__')) return undefined;
  const args =
    type.aliasTypeArguments ?? ('typeArguments' in type ? (type as ts.TypeReference).typeArguments : undefined);
  return args && args.length > 0 ? undefined : name;
}

function literalValue(type: ts.Type): string | number | undefined {
  if (type.isStringLiteral() || type.isNumberLiteral()) return type.value;
  return undefined;
}

function primitiveSchema(type: ts.Type): Schema | undefined {
  const literal = literalValue(type);
  if (literal !== undefined) return { const: literal };
  if (has(type, ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
  if (has(type, ts.TypeFlags.String)) return { type: 'string' };
  if (has(type, ts.TypeFlags.Number)) return { type: 'number' };
  if (has(type, ts.TypeFlags.Boolean)) return { type: 'boolean' };
  if (has(type, ts.TypeFlags.BooleanLiteral)) return { type: 'boolean' };
  if (has(type, ts.TypeFlags.Null)) return { type: 'null' };
  return undefined;
}

/** The one value of an object type's `type` property, by which a union of such objects is told apart. */
function tagOf(context: Context, type: ts.Type): string | undefined {
  const property = type.getProperty('type');
  if (!property || (property.flags & ts.SymbolFlags.Optional) !== 0) return undefined;
  const value = literalValue(context.checker.getTypeOfSymbol(property));
  return typeof value === 'string' ? value : undefined;
}

function unionSchema(context: Context, type: ts.UnionType): Schema {
  const members = type.types.filter((t) => !has(t, ts.TypeFlags.Undefined));
  const nullable = members.some((t) => has(t, ts.TypeFlags.Null));
  const rest = members.filter((t) => !has(t, ts.TypeFlags.Null));
  const choices = alternatives(context, rest);
  return nullable ? { anyOf: [choices, { type: 'null' }] } : choices;
}

function alternatives(context: Context, members: readonly ts.Type[]): Schema {
  const schemas = members.map((member) => schemaOf(context, member));
  const [first] = schemas;
  if (schemas.length === 1 && first) return first;
  // `'a' | 'b' | (string & {})`: any string will do.
  const plain = schemas.find((s) => s.type === 'string');
  if (plain && schemas.every((s) => s.type === 'string' || typeof s.const === 'string')) return { type: 'string' };
  if (schemas.every((s) => 'const' in s)) return { enum: schemas.map((s) => s.const) };
  if (schemas.every((s) => s.type === 'boolean')) return { type: 'boolean' };
  const tags = members.map((member) => tagOf(context, member));
  const tagged = tags.every((tag) => tag !== undefined) && new Set(tags).size === tags.length;
  if (tagged) return { type: 'object', discriminator: { propertyName: 'type' }, required: ['type'], oneOf: schemas };
  return { anyOf: schemas };
}

/** What the declaration says in words about a string: RFC 3339 times become `format: date-time`. */
function refine(context: Context, property: ts.Symbol, schema: Schema): Schema {
  const words = ts.displayPartsToString(property.getDocumentationComment(context.checker));
  const isTime = /RFC\s*3339/.test(words) || /_at$/.test(property.getName());
  if (!isTime) return schema;
  if (schema.type === 'string') return { ...schema, format: 'date-time' };
  if (Array.isArray(schema.anyOf)) {
    return { anyOf: schema.anyOf.map((s: Schema) => (s.type === 'string' ? { ...s, format: 'date-time' } : s)) };
  }
  return schema;
}

function objectSchema(context: Context, type: ts.Type): Schema {
  const { checker } = context;
  const properties: Record<string, Schema> = {};
  const required: string[] = [];
  for (const property of type.getProperties()) {
    const optional = (property.flags & ts.SymbolFlags.Optional) !== 0;
    properties[property.getName()] = refine(context, property, schemaOf(context, checker.getTypeOfSymbol(property)));
    if (!optional) required.push(property.getName());
  }
  const index = checker.getIndexInfoOfType(type, ts.IndexKind.String);
  const more = index ? schemaOf(context, index.type) : undefined;
  return {
    type: 'object',
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
    ...(required.length > 0 ? { required: required.sort() } : {}),
    ...(more && Object.keys(more).length > 0 ? { additionalProperties: more } : {}),
  };
}

function namedObject(context: Context, type: ts.Type): Schema {
  const name = context.names.get(type) ?? declaredName(type);
  if (!name) return objectSchema(context, type);
  if (!context.names.has(type)) {
    if (context.defs.has(name)) throw new Error(`two declarations are called ${name}`);
    context.names.set(type, name);
    context.defs.set(name, {});
    context.defs.set(name, objectSchema(context, type));
  }
  return { $ref: `#/$defs/${name}` };
}

function schemaOf(context: Context, type: ts.Type): Schema {
  const primitive = primitiveSchema(type);
  if (primitive) return primitive;
  if (type.isUnion()) return unionSchema(context, type);
  if (type.isIntersection()) {
    const known = type.types.filter((t) => !has(t, ts.TypeFlags.Object) || t.getProperties().length > 0);
    const [only] = known;
    if (known.length === 1 && only) return schemaOf(context, only);
    return { allOf: known.map((member) => schemaOf(context, member)) };
  }
  if (context.checker.isArrayType(type)) {
    const [element] = context.checker.getTypeArguments(type as ts.TypeReference);
    if (!element) throw new Error('an array without an element type');
    return { type: 'array', items: schemaOf(context, element) };
  }
  if (has(type, ts.TypeFlags.Object)) return namedObject(context, type);
  throw new Error(`no schema for ${context.checker.typeToString(type)}`);
}

/** All schemas, roots under their names in `SDK_ROOTS`; the same for the same SDK version. */
export function generateSdkSchemas(): SdkSchemas {
  const program = createProgram(rootsSource());
  const file = program.getSourceFile(ROOTS_FILE);
  if (!file) throw new Error('the virtual file of roots was not read');
  const problems = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
  if (problems.length > 0) {
    throw new Error(problems.map((p) => ts.flattenDiagnosticMessageText(p.messageText, '\n')).join('\n'));
  }
  const context: Context = { checker: program.getTypeChecker(), defs: new Map(), names: new Map() };
  const declared = file.statements.filter(ts.isTypeAliasDeclaration);
  const roots = declared.map((alias): [string, Schema] => [
    alias.name.text,
    schemaOf(context, context.checker.getTypeAtLocation(alias.name)),
  ]);
  if (roots.length !== Object.keys(SDK_ROOTS).length) throw new Error('a root is missing');
  const all = [...roots, ...context.defs].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'sdk-schemas',
    $comment: 'Generated by scripts/sdk-schemas.ts from the declarations of @anthropic-ai/sdk. Do not edit.',
    $defs: Object.fromEntries(all),
  };
}

export const renderSdkSchemas = (schemas: SdkSchemas): string => `${JSON.stringify(schemas, null, 1)}\n`;

if (import.meta.main) {
  const schemas = generateSdkSchemas();
  writeFileSync(SCHEMAS_FILE, renderSdkSchemas(schemas));
  console.log(`${Object.keys(schemas.$defs).length} definitions written to ${SCHEMAS_FILE}`);
}
