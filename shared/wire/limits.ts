// Limits in the words of a refusal: `at most 256 characters (nameCharsMax)`. Schemas take their bounds from here, so that a
// refusal always names the limit and its value, and its details can be read off its words.

import { type ErrorDetails, ServiceError } from '../types/errors.ts';
import { LIMITS, type LimitName } from '../types/limits.ts';

const said = (bound: string, limit: LimitName, unit: string): [number, string] => [
  LIMITS[limit],
  `${bound} ${LIMITS[limit]}${unit === '' ? '' : ` ${unit}`} (${limit})`,
];

/** For `.max(...)` of a schema: the bound and its words. `unit` in the plural: `characters`; none for plain numbers. */
export const most = (limit: LimitName, unit = ''): [number, string] => said('at most', limit, unit);

/** For `.min(...)` of a schema. */
export const least = (limit: LimitName, unit = ''): [number, string] => said('at least', limit, unit);

/** The limit that a message names at its end, for the error's details; nothing where it names none. */
export function limitIn(message: string): ErrorDetails {
  const name = /\((\w+)\)$/.exec(message)?.[1];
  return name !== undefined && isLimit(name) ? { limit: name, limit_value: LIMITS[name] } : {};
}

const isLimit = (name: string): name is LimitName => Object.hasOwn(LIMITS, name);

/** A refusal of `field` by a limit that no schema can judge; a 400. `code`: the stable code of the wire, where there is one. */
export function tooMany(field: string, limit: LimitName, unit: string, code?: string): ServiceError {
  const [value, words] = most(limit, unit);
  const details = { field, limit, limit_value: value, ...(code === undefined ? {} : { error_code: code }) };
  return new ServiceError('invalid_request', `${field}: ${words}`, details);
}
