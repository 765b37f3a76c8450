// One uploaded file of a multipart request: its bytes, a name that is only a name, and a media type.

import { ServiceError } from '../../types/errors.ts';
import { mimeTypeOf } from '../../wire/files.ts';
import { readBytes } from '../read-body.ts';

const NAME_CHARS_MAX = 255;
const MIME_TYPE = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/;

export interface Upload {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly filename: string;
  readonly mimeType: string;
  /** The text fields beside the file. */
  readonly fields: Readonly<Record<string, string>>;
}

/** Throws 400 (naming the part), 413 or 415. */
export async function readUpload(raw: Request, bytesMax: number): Promise<Upload> {
  const type = raw.headers.get('content-type') ?? '';
  if (!/^multipart\/form-data\s*(;|$)/i.test(type)) {
    const details = { field: 'content-type' };
    throw new ServiceError('unsupported_media_type', 'content-type: must be multipart/form-data', details);
  }
  const body = await readBytes(raw, bytesMax);
  const form = await new Response(body, { headers: { 'content-type': type } }).formData().catch(() => {
    throw new ServiceError('invalid_request', 'the body is not valid multipart/form-data');
  });
  const file = form.get('file');
  if (!(file instanceof Blob)) {
    throw new ServiceError('invalid_request', 'file: is required, as a part with a file name', { field: 'file' });
  }
  const filename = nameOf(file instanceof File ? file.name : '');
  const given = file.type.split(';')[0]?.trim().toLowerCase() ?? '';
  const fields: Record<string, string> = Object.create(null);
  for (const [name, value] of form) if (typeof value === 'string') fields[name] = value;
  return {
    bytes: new Uint8Array(await file.arrayBuffer()),
    filename,
    mimeType: MIME_TYPE.test(given) && given !== 'application/octet-stream' ? given : mimeTypeOf(filename),
    fields,
  };
}

/** The last part of a path, without control characters. */
function nameOf(given: string): string {
  const name =
    given
      .split(/[/\\]/)
      .at(-1)
      ?.replace(/\p{Cc}/gu, '') ?? '';
  return name.slice(0, NAME_CHARS_MAX) || 'file';
}
