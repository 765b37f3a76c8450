// What a file is by its first bytes, and its text with the encoding kept, so that an edit gives back the same kind of file.

import type { ContentBlock } from '../types/message.ts';

/** Most bytes of an image or a document that may go into a request. */
export const IMAGE_BYTES_MAX = 5 * 1024 * 1024;
export const DOCUMENT_BYTES_MAX = 20 * 1024 * 1024;

export type MediaType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'application/pdf';

/** The media type by magic bytes, whatever the name says; null for anything that is read as text. */
export function mediaTypeOf(bytes: Uint8Array): MediaType | null {
  const starts = (at: number, ...expected: readonly number[]) => expected.every((byte, i) => bytes[at + i] === byte);
  if (starts(0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png';
  if (starts(0, 0xff, 0xd8, 0xff)) return 'image/jpeg';
  if (starts(0, 0x47, 0x49, 0x46, 0x38)) return 'image/gif';
  if (starts(0, 0x52, 0x49, 0x46, 0x46) && starts(8, 0x57, 0x45, 0x42, 0x50)) return 'image/webp';
  if (starts(0, 0x25, 0x50, 0x44, 0x46, 0x2d)) return 'application/pdf';
  return null;
}

/** An image or document block of the Messages API. */
export const mediaBlock = (mediaType: MediaType, bytes: Uint8Array): ContentBlock => ({
  type: mediaType === 'application/pdf' ? 'document' : 'image',
  source: {
    type: 'base64',
    media_type: mediaType,
    data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  },
});

export interface DecodedText {
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  readonly bom: boolean;
}

/** The text of a file without its byte-order mark, or null where it is not text. */
export function decodeText(bytes: Uint8Array): DecodedText | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return decodeAs(bytes.subarray(2), 'utf-16le', true);
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return decodeAs(bytes.subarray(2), 'utf-16be', true);
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const body = bom ? bytes.subarray(3) : bytes;
  return body.includes(0) ? null : decodeAs(body, 'utf-8', bom);
}

function decodeAs(bytes: Uint8Array, encoding: DecodedText['encoding'], bom: boolean): DecodedText | null {
  try {
    return { text: new TextDecoder(encoding, { fatal: true, ignoreBOM: true }).decode(bytes), encoding, bom };
  } catch {
    return null;
  }
}

/** The bytes of `text` in the encoding of `like`. */
export function encodeText(text: string, like: Omit<DecodedText, 'text'>): Uint8Array {
  const marked = like.bom ? `\uFEFF${text}` : text;
  if (like.encoding === 'utf-8') return new TextEncoder().encode(marked);
  const bytes = new Uint8Array(marked.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < marked.length; i++) view.setUint16(i * 2, marked.charCodeAt(i), like.encoding === 'utf-16le');
  return bytes;
}
