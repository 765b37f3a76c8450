// Blocks over the inline limit lie in the blob store; here they go out before an append and come back before a request.
// Content-addressed, so a rebuilt request has the same bytes.

import type { BlobStore } from '../ports/blob-store.ts';
import type { Hashing } from '../ports/system.ts';
import { blobKey, type SessionId, type TenantId } from '../types/ids.ts';
import { isSpilled, type SpilledBlock } from '../types/log.ts';
import type { ContentBlock, Message } from '../types/message.ts';

/** The block itself, or a spilled one where its JSON is longer than `bytesMax`. */
export async function spillBlock(
  to: { readonly blobs: BlobStore; readonly hashing: Hashing; readonly tenant: TenantId; readonly session: SessionId },
  block: ContentBlock,
  bytesMax: number,
): Promise<ContentBlock> {
  if (estimate(block) <= bytesMax) return block;
  const bytes = new TextEncoder().encode(JSON.stringify(block));
  if (bytes.length <= bytesMax) return block;
  const key = blobKey(`t/${to.tenant}/${to.session.slice('sesn_'.length)}/b/${to.hashing.sha256(bytes)}`);
  await to.blobs.put(key, bytes);
  // The result of a server tool keeps the id that pairs it with its call.
  const pair = typeof block.tool_use_id === 'string' ? { tool_use_id: block.tool_use_id } : {};
  return { type: 'reprise_spilled', blob: key, bytes: bytes.length, of: block.type, ...pair } satisfies SpilledBlock;
}

/** A cheap upper bound where it is small: most blocks are, and are not serialised just to be measured. */
function estimate(value: unknown): number {
  if (typeof value === 'string') return value.length * 6 + 2;
  if (Array.isArray(value)) return value.reduce((n: number, v) => n + estimate(v) + 1, 2);
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).reduce((n, [k, v]) => n + k.length * 6 + 4 + estimate(v), 2);
  }
  return 24;
}

/** Messages with every spilled block back in place, nested ones too; the same references where nothing was spilled. */
export async function hydrateMessages(blobs: BlobStore, messages: readonly Message[]): Promise<readonly Message[]> {
  if (!messages.some((m) => hasSpilled(m.content))) return messages;
  return Promise.all(
    messages.map(async (m) => (hasSpilled(m.content) ? { ...m, content: await hydrateBlocks(blobs, m.content) } : m)),
  );
}

/** Blocks with spilled ones back in place. A blob that is gone becomes a text that says so: a turn never bricks on it. */
export async function hydrateBlocks(
  blobs: BlobStore,
  blocks: readonly ContentBlock[],
): Promise<readonly ContentBlock[]> {
  if (!hasSpilled(blocks)) return blocks;
  return Promise.all(
    blocks.map(async (block) => {
      if (isSpilled(block)) return readSpilled(blobs, block);
      if (!hasSpilled(innerOf(block))) return block;
      return { ...block, content: await hydrateBlocks(blobs, innerOf(block)) };
    }),
  );
}

const innerOf = (block: ContentBlock): readonly ContentBlock[] =>
  Array.isArray(block.content) ? (block.content as readonly ContentBlock[]) : [];

const hasSpilled = (blocks: readonly ContentBlock[]): boolean =>
  blocks.some((b) => isSpilled(b) || (Array.isArray(b.content) && hasSpilled(innerOf(b))));

async function readSpilled(blobs: BlobStore, block: SpilledBlock): Promise<ContentBlock> {
  const bytes = await blobs.get(block.blob);
  if (!bytes) return { type: 'text', text: `[${block.of} block of ${block.bytes} bytes is no longer stored]` };
  return JSON.parse(new TextDecoder().decode(bytes)) as ContentBlock;
}
