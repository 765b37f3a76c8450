// Content on its way in: files of the Files API become base64 or text, and blocks over the inline limit go to the blob store.

import { spillBlock } from '../../turn/hydrate.ts';
import { ServiceError } from '../../types/errors.ts';
import type { SessionId } from '../../types/ids.ts';
import type { ContentBlock } from '../../types/message.ts';
import { IMAGE_TYPES } from '../../wire/events/content.ts';
import { type Asker, findFile } from '../find.ts';

export interface Target extends Asker {
  readonly session: SessionId;
}

export interface Prepared {
  /** As the event is stored: large blocks are pointers. */
  readonly stored: readonly ContentBlock[];
  /** As the event is shown. */
  readonly shown: readonly ContentBlock[];
}

const NOTHING: Prepared = { stored: [], shown: [] };

/** `field` is where the blocks stand in the request. Blobs are durable on return. */
export async function prepareBlocks(target: Target, blocks: readonly ContentBlock[], field: string): Promise<Prepared> {
  if (blocks.length === 0) return NOTHING;
  const shown = await Promise.all(blocks.map((block, i) => resolveFile(target, block, `${field}[${i}]`)));
  const { ports } = target.service;
  const to = { blobs: ports.blobs, hashing: ports.hashing, tenant: target.caller.tenant, session: target.session };
  const stored = await Promise.all(shown.map((b) => spillBlock(to, b, ports.limits.blockInlineBytesMax)));
  return { stored, shown };
}

/** Spills more, where the events of one request would together be over the limit of one write. */
export async function shrinkBlocks(target: Target, blocks: readonly ContentBlock[]): Promise<readonly ContentBlock[]> {
  const { ports } = target.service;
  const to = { blobs: ports.blobs, hashing: ports.hashing, tenant: target.caller.tenant, session: target.session };
  return Promise.all(blocks.map((b) => spillBlock(to, b, SMALL_BLOCK_BYTES)));
}

const SMALL_BLOCK_BYTES = 1024;

interface FileSource {
  readonly type: 'file';
  readonly file_id: string;
}

const isFileSource = (source: unknown): source is FileSource =>
  typeof source === 'object' && source !== null && (source as { type?: unknown }).type === 'file';

async function resolveFile(target: Target, block: ContentBlock, field: string): Promise<ContentBlock> {
  const { source } = block;
  if (!isFileSource(source)) return block;
  const at = `${field}.source.file_id`;
  const refuse = (message: string) => new ServiceError('invalid_request', `${at}: ${message}`, { field: at });
  const file = await findFile(target, source.file_id).catch((error: unknown) => {
    throw error instanceof ServiceError ? refuse(error.message) : error;
  });
  const bytes = await target.service.ports.blobs.get(file.blob);
  if (!bytes) throw new Error(`the blob of ${file.id} is missing`);
  const mime = file.mimeType.split(';')[0] ?? '';
  if (block.type === 'image') {
    if (!IMAGE_TYPES.some((t) => t === mime)) throw refuse(`is ${mime}; an image is one of ${IMAGE_TYPES.join(', ')}`);
    return { ...block, source: { type: 'base64', media_type: mime, data: Buffer.from(bytes).toString('base64') } };
  }
  const titled = { title: file.filename, ...block };
  if (mime === 'application/pdf') {
    return { ...titled, source: { type: 'base64', media_type: mime, data: Buffer.from(bytes).toString('base64') } };
  }
  const text = textOf(bytes);
  if (text === null) throw refuse(`is ${mime}; a document is a PDF or text`);
  if (text === '') throw refuse('is empty');
  return { ...titled, source: { type: 'text', media_type: 'text/plain', data: text } };
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
