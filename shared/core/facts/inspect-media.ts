// What is wrong with an image or a document, as far as its first bytes and its structure tell. Looked at once per block.

import { type Fields, isRecord } from './fields.ts';
import { readImageSize } from './image-size.ts';

export interface MediaFault {
  readonly rule: string;
  readonly message: string;
}

export interface MediaFacts {
  readonly fault: MediaFault | null;
  /** The longer side of an image, where it could be read. */
  readonly sidePixels: number;
  readonly pages: number;
}

const MIB = 1024 * 1024;
const IMAGE_CHARS_MAX = 10 * MIB;
const SIDE_PIXELS_MAX = 8000;
export const MANY_IMAGES = 20;
export const MANY_IMAGES_SIDE_PIXELS_MAX = 2000;

const IMAGE_TYPES: readonly unknown[] = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];
const NO_FAULT: MediaFacts = { fault: null, sidePixels: 0, pages: 0 };

const memo = new WeakMap<object, MediaFacts>();

/** Facts of an `image` or `document` block; other blocks have none. Sources by URL, file or text are taken as they are. */
export function inspectMedia(block: Fields): MediaFacts {
  const known = memo.get(block);
  if (known) return known;
  const facts = inspect(block);
  memo.set(block, facts);
  return facts;
}

const faulty = (rule: string, message: string): MediaFacts => ({ ...NO_FAULT, fault: { rule, message } });

function inspect(block: Fields): MediaFacts {
  const { source } = block;
  if (block.type === 'image') return isRecord(source) ? inspectImage(source) : faulty('image.data', 'no source');
  if (block.type !== 'document') return NO_FAULT;
  if (!isRecord(source)) return faulty('document.invalid', 'no source');
  return source.type === 'base64' ? inspectPdf(source) : NO_FAULT;
}

function inspectImage(source: Fields): MediaFacts {
  if (source.type === 'url') return typeof source.url === 'string' ? NO_FAULT : faulty('image.data', 'no url');
  if (source.type === 'file') return typeof source.file_id === 'string' ? NO_FAULT : faulty('image.data', 'no file_id');
  const { data, media_type: declared } = source;
  if (source.type !== 'base64' || typeof data !== 'string' || data === '') {
    return faulty('image.data', 'the image is empty');
  }
  if (!IMAGE_TYPES.includes(declared)) return faulty('image.media_type', 'not one of jpeg, png, gif and webp');
  if (!isBase64(data)) return faulty('image.data', 'not base64');
  if (data.length > IMAGE_CHARS_MAX) return faulty('image.too_large', `more than ${IMAGE_CHARS_MAX} characters`);
  const size = readImageSize(data);
  if (!size) return faulty('image.unprocessable', 'the bytes are no image');
  if (size.mediaType !== declared)
    return faulty('image.mismatch', `declared ${declared}, appears to be ${size.mediaType}`);
  const sidePixels = Math.max(size.width, size.height);
  if (sidePixels > SIDE_PIXELS_MAX) return faulty('image.dimensions', `a side of more than ${SIDE_PIXELS_MAX} pixels`);
  return { fault: null, sidePixels, pages: 0 };
}

function inspectPdf(source: Fields): MediaFacts {
  const { data } = source;
  if (typeof data !== 'string' || !isBase64(data)) return faulty('document.invalid', 'not base64');
  const text = atob(data);
  if (!text.slice(0, 1024).includes('%PDF-')) return faulty('document.invalid', 'not a PDF');
  if (/\/Encrypt\b/.test(text)) return faulty('document.invalid', 'the PDF is protected by a password');
  return { fault: null, sidePixels: 0, pages: text.match(/\/Type\s*\/Page(?![a-zA-Z])/g)?.length ?? 0 };
}

/** Not empty, of the plain alphabet, padded, without line breaks. */
export function isBase64(data: string): boolean {
  return data.length > 0 && data.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
}
