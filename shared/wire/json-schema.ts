// Whether a custom tool's `input_schema` is a JSON Schema at all: what the Messages API would refuse at the first turn is
// refused here, by its path. Keywords that are not known pass; what a sound schema means is the model's affair.

import { most } from './limits.ts';
import { isJsonObject, keywordFault, type SchemaFault, type SchemaPart } from './schema-keywords.ts';

const AT_TOP_NEVER = ['oneOf', 'anyOf', 'allOf'] as const;

/** The first fault, or null. The schema's depth was checked before. */
export function inputSchemaFault(schema: unknown): SchemaFault | null {
  const at = (path: readonly PropertyKey[], message: string): SchemaFault => ({ path, message });
  if (!isJsonObject(schema) || schema.type !== 'object') return at([], 'must have type object');
  const mixed = AT_TOP_NEVER.find((k) => k in schema);
  if (mixed !== undefined) return at([], `must not have ${mixed} at its top`);
  const text = JSON.stringify(schema);
  const [bytesMax, tooLarge] = most('toolSchemaBytesMax', 'bytes');
  if (new TextEncoder().encode(text).length > bytesMax) return at([], tooLarge);
  if (/"\$ref":/.test(text)) return at([], 'must not use $ref');
  const { properties, required, ...rest } = schema; // null stands for none at the top
  const top = { ...rest, ...(properties === null ? {} : { properties }), ...(required === null ? {} : { required }) };
  return schemaFault({ path: [], value: top });
}

function schemaFault(part: SchemaPart): SchemaFault | null {
  const { path, value } = part;
  if (typeof value === 'boolean') return null;
  if (!isJsonObject(value)) return { path, message: 'must be a schema (an object or a boolean)' };
  for (const [keyword, given] of Object.entries(value)) {
    if (given === undefined) continue;
    const found = keywordFault(keyword, { path: [...path, keyword], value: given });
    if ('message' in found) return found;
    for (const inner of found.schemas) {
      const fault = schemaFault(inner);
      if (fault) return fault;
    }
  }
  return null;
}
