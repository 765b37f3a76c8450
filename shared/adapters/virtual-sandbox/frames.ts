// The line between service and child: length-prefixed frames of a JSON header and raw bytes. The reader refuses a frame over its
// limit before it is in memory, so that a hostile child cannot fill the service; JSON keeps it from handing over anything but data.

export interface Frame {
  readonly header: unknown;
  readonly body: Uint8Array;
}

const PREFIX_BYTES = 8;
/** Parsing is synchronous: a header is never larger than what the largest index needs. */
const HEADER_BYTES_MAX = 8 * 1024 * 1024;

/** The chunks of one frame, to be written in order. */
export function encodeFrame(header: unknown, body: readonly Uint8Array[] = []): readonly Uint8Array[] {
  const json = Buffer.from(JSON.stringify(header));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(json.length, 0);
  prefix.writeUInt32BE(
    body.reduce((sum, part) => sum + part.length, 0),
    4,
  );
  return [prefix, json, ...body];
}

/** Feeds on chunks and calls `onFrame` for each whole frame; `onError` once for what is no frame or is over `bytesMax`. */
export function createFrameReader(
  bytesMax: number,
  onFrame: (frame: Frame) => void,
  onError: (reason: 'oversize' | 'malformed') => void,
): (chunk: Uint8Array) => void {
  let chunks: Uint8Array[] = [];
  let held = 0;
  let wanted = PREFIX_BYTES;
  let failed = false;
  const fail = (reason: 'oversize' | 'malformed') => {
    failed = true;
    chunks = [];
    onError(reason);
  };
  return (chunk) => {
    if (failed) return;
    chunks.push(chunk);
    held += chunk.length;
    while (!failed && held >= wanted) {
      const all = chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
      chunks = [all];
      const size = frameBytes(all);
      if (size > bytesMax || headerBytes(all) > HEADER_BYTES_MAX) return fail('oversize');
      if (held < size) {
        wanted = size;
        return;
      }
      const frame = parseFrame(all.subarray(0, size));
      if (!frame) return fail('malformed');
      chunks = [all.subarray(size)];
      held -= size;
      wanted = PREFIX_BYTES;
      onFrame(frame);
    }
  };
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.length);

const headerBytes = (bytes: Uint8Array): number => viewOf(bytes).getUint32(0);
const frameBytes = (bytes: Uint8Array): number => PREFIX_BYTES + headerBytes(bytes) + viewOf(bytes).getUint32(4);

function parseFrame(bytes: Uint8Array): Frame | undefined {
  const headerEnd = PREFIX_BYTES + headerBytes(bytes);
  try {
    const header: unknown = JSON.parse(Buffer.from(bytes.subarray(PREFIX_BYTES, headerEnd)).toString('utf8'));
    return { header, body: bytes.subarray(headerEnd) };
  } catch {
    return undefined;
  }
}
