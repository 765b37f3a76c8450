// What an operation takes, out of the description: its parameters and the fields of its body, each with its type in words.

export interface Field {
  readonly name: string;
  readonly where: 'path' | 'query' | 'header' | 'body';
  readonly required: boolean;
  /** Words; a named schema is `#Name`. */
  readonly type: string;
  readonly description: string;
}

type Json = Readonly<Record<string, unknown>>;
const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const within = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((at, key) => objectOf(at)[key], value);

/** `document` as `readPlainYaml` gives it. Nothing for an operation that it does not have. */
export function fieldsOf(document: unknown, path: string, method: string): readonly Field[] {
  const operation = within(document, 'paths', path, method);
  return [...listOf(within(operation, 'parameters')).map(parameterOf), ...bodyFields(document, operation)];
}

function parameterOf(given: unknown): Field {
  const { name, required, description, schema, in: where } = objectOf(given);
  return {
    name: textOf(name),
    where: where === 'path' || where === 'header' ? where : 'query',
    required: required === true,
    type: typeOf(schema),
    description: textOf(description),
  };
}

function bodyFields(document: unknown, operation: unknown): readonly Field[] {
  const [content] = Object.values(objectOf(within(operation, 'requestBody', 'content')));
  const given = within(content, 'schema');
  if (given === undefined) return [];
  const name = schemaName(given);
  const schema = name === undefined ? given : within(document, 'components', 'schemas', name);
  const properties = Object.entries(objectOf(within(schema, 'properties')));
  const required = listOf(within(schema, 'required'));
  if (properties.length === 0) {
    return [{ name: 'the body', where: 'body', required: true, type: typeOf(schema), description: '' }];
  }
  return properties.map(([field, inner]) => ({
    name: field,
    where: 'body',
    required: required.includes(field),
    type: typeOf(inner),
    description: textOf(within(inner, 'description')),
  }));
}

const schemaName = (schema: unknown): string | undefined =>
  /^#\/components\/schemas\/(\w+)$/.exec(textOf(within(schema, '$ref')))?.[1];

const ENUM_SHOWN_MAX = 10;

function typeOf(given: unknown): string {
  const schema = objectOf(given);
  const name = schemaName(schema);
  if (name !== undefined) return `#${name}`;
  const choices = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  if (choices.length > 0) return choices.map(typeOf).join(' or ');
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const values = listOf(schema.enum);
  if (values.length > 0 && values.length <= ENUM_SHOWN_MAX) return values.map(String).join(' | ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}${boundOf(schema.maxItems)}`;
  if (schema.type === undefined)
    return schema.allOf === undefined ? 'any' : listOf(schema.allOf).map(typeOf).join(' and ');
  const format = schema.format === undefined ? '' : ` (${String(schema.format)})`;
  return `${String(schema.type)}${format}${boundOf(schema.maxLength)}${boundOf(schema.maximum)}`;
}

const boundOf = (max: unknown): string =>
  typeof max === 'number' && max < Number.MAX_SAFE_INTEGER ? `, at most ${max}` : '';
