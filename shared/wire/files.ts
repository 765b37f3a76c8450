// Files: uploads, a session's own copies of them, and what an agent wrote to its outputs directory.

import { z } from 'zod';
import { ID_PREFIX, type SessionId } from '../types/ids.ts';
import type { FileRef } from '../types/log.ts';
import type { StoredFile } from '../types/session.ts';
import { NullableTimestamp, PAGE_QUERY, pageOf, Timestamp, timestampOf } from './common.ts';
import { least, most } from './limits.ts';

export const ListFilesQuery = z.object({
  ...PAGE_QUERY,
  scope_id: z
    .string()
    .max(...most('idCharsMax', 'characters'))
    .optional()
    .describe("A session's id: its outputs and its own copies of uploads"),
  'ids[]': z
    .array(z.string().max(...most('idCharsMax', 'characters')))
    .max(...most('filterValuesMax', 'values'))
    .optional(),
});

export const UploadFile = z
  .object({
    file: z.any().meta({ type: 'string', format: 'binary', description: 'The bytes, with a file name' }),
    expires_in_seconds: z.coerce
      .number()
      .int()
      .min(...least('fileExpirySecondsMin'))
      .max(...most('fileExpirySecondsMax'))
      .optional(),
  })
  .meta({ id: 'UploadFile' });

export const FileView = z
  .object({
    id: z.string(),
    type: z.literal('file'),
    filename: z.string(),
    mime_type: z.string(),
    size_bytes: z.number().int(),
    created_at: Timestamp,
    downloadable: z.boolean(),
    expires_at: NullableTimestamp,
    scope: z.union([z.object({ type: z.literal('session'), id: z.string() }), z.null()]),
  })
  .meta({ id: 'File' });
export type FileView = z.infer<typeof FileView>;
export const FilePage = pageOf(FileView, 'FilePage');
export const FileDeleted = z.object({ id: z.string(), type: z.literal('file_deleted') }).meta({ id: 'FileDeleted' });

export const fileView = (f: StoredFile): FileView => ({
  id: f.id,
  type: 'file',
  filename: f.filename,
  mime_type: f.mimeType,
  size_bytes: f.sizeBytes,
  created_at: timestampOf(f.createdAt),
  downloadable: false,
  expires_at: f.expiresAt === null ? null : timestampOf(f.expiresAt),
  scope: f.sessionId === null ? null : { type: 'session', id: f.sessionId },
});

/** A file that the agent wrote; `id` comes from `outputFileId`. */
export const outputView = (session: SessionId, id: string, filename: string, ref: FileRef): FileView => ({
  id,
  type: 'file',
  filename,
  mime_type: mimeTypeOf(filename),
  size_bytes: ref.size,
  created_at: timestampOf(ref.mtimeMs),
  downloadable: true,
  expires_at: null,
  scope: { type: 'session', id: session },
});

const HASH_CHARS = 16;

/** The id of an output: the session's ulid and the beginning of the hash of its path. */
export const outputFileId = (session: SessionId, pathHash: string): string =>
  ID_PREFIX.file + session.slice(ID_PREFIX.session.length) + pathHash.slice(0, HASH_CHARS);

/** The session that an output's id names, or undefined for the id of a stored file. */
export function sessionOfOutput(id: string): SessionId | undefined {
  const match = /^file_([0-9a-hjkmnp-tv-z]{26})[0-9a-f]{16}$/.exec(id);
  return match ? (`${ID_PREFIX.session}${match[1]}` as SessionId) : undefined;
}

const MIME_TYPES: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  gif: 'image/gif',
  gz: 'application/gzip',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/jsonl',
  log: 'text/plain',
  md: 'text/markdown',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  svg: 'image/svg+xml',
  ts: 'text/plain',
  tsv: 'text/tab-separated-values',
  txt: 'text/plain',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

/** The media type by the file name's ending. */
export function mimeTypeOf(filename: string): string {
  const ending = /\.([A-Za-z0-9]+)$/.exec(filename)?.[1]?.toLowerCase();
  return (
    (ending !== undefined && Object.hasOwn(MIME_TYPES, ending) && MIME_TYPES[ending]) || 'application/octet-stream'
  );
}
