// The type and size of an image, read from the first bytes of its base64 text.

export interface ImageSize {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** Pixels; 0 where the header does not say. */
  readonly width: number;
  readonly height: number;
}

/** Sizes stand in the first bytes, but for JPEG, where they come after metadata that may be long. */
const HEADER_CHARS = 64;
const JPEG_CHARS = 1024 * 1024;

/** undefined where the bytes are none of the four types. `data` is base64. */
export function readImageSize(data: string): ImageSize | undefined {
  const head = atob(data.slice(0, HEADER_CHARS));
  if (head.startsWith('\x89PNG\r\n\x1a\n')) {
    return { mediaType: 'image/png', width: bigEndian(head, 16, 4), height: bigEndian(head, 20, 4) };
  }
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) {
    return { mediaType: 'image/gif', width: littleEndian(head, 6, 2), height: littleEndian(head, 8, 2) };
  }
  if (head.startsWith('\xff\xd8\xff')) return { mediaType: 'image/jpeg', ...jpegSize(atob(data.slice(0, JPEG_CHARS))) };
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return { mediaType: 'image/webp', ...webpSize(head) };
  return undefined;
}

/** Walks the segments to the frame header. */
function jpegSize(bytes: string): { width: number; height: number } {
  let at = 2;
  while (at + 9 < bytes.length && bytes.charCodeAt(at) === 0xff) {
    const marker = bytes.charCodeAt(at + 1);
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      return { height: bigEndian(bytes, at + 5, 2), width: bigEndian(bytes, at + 7, 2) };
    }
    at += marker === 0xff ? 1 : 2 + Math.max(2, bigEndian(bytes, at + 2, 2));
  }
  return { width: 0, height: 0 };
}

function webpSize(bytes: string): { width: number; height: number } {
  switch (bytes.slice(12, 16)) {
    case 'VP8X':
      return { width: littleEndian(bytes, 24, 3) + 1, height: littleEndian(bytes, 27, 3) + 1 };
    case 'VP8 ':
      return { width: littleEndian(bytes, 26, 2) & 0x3fff, height: littleEndian(bytes, 28, 2) & 0x3fff };
    case 'VP8L': {
      const bits = littleEndian(bytes, 21, 4);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    default:
      return { width: 0, height: 0 };
  }
}

function bigEndian(bytes: string, at: number, length: number): number {
  let value = 0;
  for (let i = 0; i < length; i++) value = value * 256 + (bytes.charCodeAt(at + i) || 0);
  return value;
}

function littleEndian(bytes: string, at: number, length: number): number {
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + (bytes.charCodeAt(at + i) || 0);
  return value;
}
