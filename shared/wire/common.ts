// What every resource of the wire shares: times, metadata, pages, and words for a request that does not fit its schema.

import { z } from 'zod';
import { LIMITS } from '../types/limits.ts';
import { most } from './limits.ts';

/** RFC 3339 in UTC, with milliseconds. */
export const timestampOf = (ms: number): string => new Date(ms).toISOString();

export const Timestamp = z.iso.datetime().describe('RFC 3339, UTC');
export const NullableTimestamp = z.union([Timestamp, z.null()]);

/** `schema` or null; unlike `.nullable()` right in the generated document for named schemas too. */
export const orNull = <T extends z.ZodType>(schema: T) => z.union([schema, z.null()]);

const METADATA_WORDS = `at most ${LIMITS.metadataPairsMax} pairs, keys of 1 to ${LIMITS.metadataKeyCharsMax} and values of at most ${LIMITS.metadataValueCharsMax} characters`;
const metadataKey = z
  .string()
  .min(1)
  .max(...most('metadataKeyCharsMax', 'characters'));
const metadataValue = z.string().max(...most('metadataValueCharsMax', 'characters'));
const [pairsMax, tooManyPairs] = most('metadataPairsMax', 'pairs');

export const MetadataInput = z
  .record(metadataKey, metadataValue)
  .refine((m) => Object.keys(m).length <= pairsMax, tooManyPairs)
  .describe(METADATA_WORDS);

/** Merged by key; null deletes. */
export const MetadataPatch = z
  .record(metadataKey, z.union([metadataValue, z.null()]))
  .describe('Merged by key; null deletes a key');

export const MetadataOutput = z.record(z.string(), z.string());

/** Whether two JSON values are the same, whatever the order of their keys. */
export const sameJson = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

/** JSON with sorted keys. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, v: unknown) =>
    typeof v === 'object' && v !== null && !Array.isArray(v)
      ? Object.fromEntries(Object.entries(v).sort(([a], [b]) => (a < b ? -1 : 1)))
      : v,
  ) ?? 'undefined';

/** A page of `item` under the given component name. */
export const pageOf = <T extends z.ZodType>(item: T, id: string) =>
  z
    .object({
      data: z.array(item),
      next_page: z.union([z.string(), z.null()]).describe('Pass as `page` to go on; null at the end'),
    })
    .meta({ id });

const QueryBoolean = z.enum(['true', 'false']).transform((v) => v === 'true');
const QueryTime = z.iso.datetime({ offset: true }).transform((v) => Date.parse(v));

export const PAGE_QUERY = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(...most('pageSizeMax'))
    .optional(),
  page: z
    .string()
    .max(...most('pageCursorCharsMax', 'characters'))
    .optional()
    .describe('The cursor of a page, from `next_page`'),
} as const;
export const INCLUDE_ARCHIVED = { include_archived: QueryBoolean.optional() } as const;
export const ORDER = { order: z.enum(['asc', 'desc']).optional() } as const;
export const CREATED_RANGE = {
  'created_at[gte]': QueryTime.optional(),
  'created_at[lte]': QueryTime.optional(),
} as const;
export const CREATED_RANGE_ALL = {
  ...CREATED_RANGE,
  'created_at[gt]': QueryTime.optional(),
  'created_at[lt]': QueryTime.optional(),
} as const;

export interface CreatedRange {
  readonly 'created_at[gt]'?: number | undefined;
  readonly 'created_at[gte]'?: number | undefined;
  readonly 'created_at[lt]'?: number | undefined;
  readonly 'created_at[lte]'?: number | undefined;
}

/** Whether a time (ms) lies within the range of a list request. */
export function isInRange(at: number, range: CreatedRange): boolean {
  const gt = range['created_at[gt]'];
  const gte = range['created_at[gte]'];
  const lt = range['created_at[lt]'];
  const lte = range['created_at[lte]'];
  if (gt !== undefined && at <= gt) return false;
  if (gte !== undefined && at < gte) return false;
  if (lt !== undefined && at >= lt) return false;
  return lte === undefined || at <= lte;
}

export const hasRange = (range: CreatedRange): boolean =>
  range['created_at[gt]'] !== undefined ||
  range['created_at[gte]'] !== undefined ||
  range['created_at[lt]'] !== undefined ||
  range['created_at[lte]'] !== undefined;
