// Images and documents: put right where that is certain, replaced by a short text where not; the oldest go when there are too many.

import type { ContentBlock } from '../../types/message.ts';
import { type Fields, isRecord } from '../facts/fields.ts';
import { readImageSize } from '../facts/image-size.ts';
import { inspectMedia, isBase64, MANY_IMAGES, MANY_IMAGES_SIDE_PIXELS_MAX } from '../facts/inspect-media.ts';
import { type Context, changeBlocks, type Draft, note, textBlock } from './sanitize-draft.ts';

/** The block, with a data URL's prefix cut off and the type corrected, or a text that says what was there. */
export function cleanMedia(block: ContentBlock): ContentBlock {
  if (!inspectMedia(block).fault) return block;
  const source = isRecord(block.source) ? block.source : {};
  const data = typeof source.data === 'string' ? source.data.replace(/^data:[^,]{0,100},/, '') : '';
  const type = isBase64(data) && block.type === 'image' ? readImageSize(data)?.mediaType : undefined;
  const mended = { ...block, source: { ...source, data, ...(type ? { media_type: type } : {}) } };
  const left = inspectMedia(mended).fault;
  return left ? missing(block, left.message) : mended;
}

const missing = (block: ContentBlock, why: string): ContentBlock =>
  textBlock(`[${block.type} left out: ${why.toWellFormed()}]`);

/** At most as many images and pages as one request takes, and citations for all documents or none. */
export function limitMedia(drafts: readonly Draft[], context: Context): readonly Draft[] {
  const { facts } = context;
  let images = 0;
  let wide = 0;
  let pages = 0;
  let isCiting = false;
  for (const block of drafts.flatMap((d) => d.blocks).flatMap(mediaIn)) {
    const media = inspectMedia(block);
    if (block.type === 'image') images += 1;
    if (media.sidePixels > MANY_IMAGES_SIDE_PIXELS_MAX) wide += 1;
    pages += media.pages;
    isCiting ||= isRecord(block.citations) && block.citations.enabled === true;
  }
  /** Oldest first: the counts are what is left behind this block. */
  const limit = (block: ContentBlock): ContentBlock => {
    const { sidePixels, pages: own } = inspectMedia(block);
    const isWide = sidePixels > MANY_IMAGES_SIDE_PIXELS_MAX;
    if (block.type === 'image' && (images > facts.mediaMax || (isWide && images > MANY_IMAGES && wide > 0))) {
      images -= 1;
      if (isWide) wide -= 1;
      return textBlock('[an older image left out: too many in one request]');
    }
    if (block.type !== 'document') return block;
    if (pages > facts.mediaMax && own > 0) {
      pages -= own;
      return textBlock('[an older document left out: too many pages in one request]');
    }
    const cites = isRecord(block.citations) && block.citations.enabled === true;
    return isCiting && !cites ? { ...block, citations: { enabled: true } } : block;
  };
  return drafts.map((draft) => {
    const changed = changeBlocks(
      draft,
      draft.blocks.map((block) => mapMedia(block, limit)),
    );
    if (changed !== draft)
      note(context, 'image.too_many', draft.source, 'media of one request brought within its limits');
    return changed;
  });
}

const isMedia = (block: Fields): boolean => block.type === 'image' || block.type === 'document';

/** The media that a block is or holds. */
export const mediaIn = (block: ContentBlock): readonly ContentBlock[] => {
  if (isMedia(block)) return [block];
  const inner = block.type === 'tool_result' && Array.isArray(block.content) ? (block.content as ContentBlock[]) : [];
  return inner.filter(isMedia);
};

/** The block with a function applied to the media that it is or holds. */
export function mapMedia(block: ContentBlock, change: (media: ContentBlock) => ContentBlock): ContentBlock {
  if (isMedia(block)) return change(block);
  if (mediaIn(block).length === 0) return block;
  const inner = block.content as readonly ContentBlock[];
  const mapped = inner.map((b) => (isMedia(b) ? change(b) : b));
  return mapped.every((b, i) => b === inner[i]) ? block : { ...block, content: mapped };
}
