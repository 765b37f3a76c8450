// The keywords of JSON Schema 2020-12 and what each one's value must look like. Pure; the walk is json-schema.ts's.

export interface SchemaFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}
export interface SchemaPart {
  readonly path: readonly PropertyKey[];
  readonly value: unknown;
}

export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const TYPES: readonly unknown[] = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const isType = (value: unknown): boolean =>
  TYPES.includes(value) ||
  (Array.isArray(value) && value.length > 0 && isSet(value) && value.every((t) => TYPES.includes(t)));
const isSet = (values: readonly unknown[]): boolean => new Set(values).size === values.length;
const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every((n) => typeof n === 'string') && isSet(value);
const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';

type Rule = readonly [fits: (value: unknown) => boolean, words: string];
const rules = (names: string, ...rule: Rule): [string, Rule][] => names.split(' ').map((name) => [name, rule]);

const VALUES: ReadonlyMap<string, Rule> = new Map([
  ...rules('type', isType, `must be one of ${TYPES.join(', ')}, or a list of them`),
  ...rules('required', isNames, 'must be a list of names, each once'),
  ...rules('enum examples', Array.isArray, 'must be a list'),
  ...rules('multipleOf', (v) => typeof v === 'number' && v > 0, 'must be a number above 0'),
  ...rules('minimum maximum exclusiveMinimum exclusiveMaximum', isNumber, 'must be a number'),
  ...rules('minLength maxLength minItems maxItems', isCount, 'must be a whole number from 0 on'),
  ...rules('minProperties maxProperties minContains maxContains', isCount, 'must be a whole number from 0 on'),
  ...rules('title description pattern format $comment $id $schema $anchor', isText, 'must be a text'),
  ...rules('contentEncoding contentMediaType', isText, 'must be a text'),
  ...rules('uniqueItems deprecated readOnly writeOnly', isFlag, 'must be true or false'),
]);

const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const SCHEMAS = new Set([
  ...['items', 'contains', 'unevaluatedItems', 'additionalProperties', 'propertyNames', 'unevaluatedProperties'],
  ...['not', 'if', 'then', 'else', 'contentSchema'],
]);

/** What is wrong with a keyword's value, or the schemas that stand in it. */
export function keywordFault(
  keyword: string,
  part: SchemaPart,
): SchemaFault | { readonly schemas: readonly SchemaPart[] } {
  const { path, value } = part;
  if (MAPS.has(keyword)) {
    if (!isJsonObject(value)) return { path, message: 'must be an object of schemas' };
    return { schemas: Object.entries(value).map(([name, inner]) => ({ path: [...path, name], value: inner })) };
  }
  if (LISTS.has(keyword)) {
    if (!Array.isArray(value) || value.length === 0) return { path, message: 'must be a list of schemas, not empty' };
    return { schemas: value.map((inner: unknown, i) => ({ path: [...path, i], value: inner })) };
  }
  if (SCHEMAS.has(keyword)) return { schemas: [part] };
  const rule = VALUES.get(keyword);
  return rule && !rule[0](value) ? { path, message: rule[1] } : { schemas: [] };
}
