// Images and documents, inside results too.

import { type Fields, isRecord } from '../facts/fields.ts';
import { inspectMedia, MANY_IMAGES, MANY_IMAGES_SIDE_PIXELS_MAX } from '../facts/inspect-media.ts';
import type { Checked } from './check-report.ts';
import type { TurnBlock } from './check-turns.ts';

/** Rules `image.*` and `document.*`. */
export function checkMedia({ blocks, facts, report }: Checked): void {
  const all = collectMedia(blocks);
  if (all.length === 0) return;
  const images = all.filter(({ block }) => block.type === 'image');
  const documents = all.filter(({ block }) => block.type === 'document');
  let pages = 0;
  for (const { block, path } of all) {
    const { fault, sidePixels, pages: own } = inspectMedia(block);
    pages += own;
    if (fault) report(fault.rule, path, fault.message);
    if (images.length > MANY_IMAGES && sidePixels > MANY_IMAGES_SIDE_PIXELS_MAX) {
      report('image.many_dimensions', path, 'a side above 2000 pixels in a request of more than 20 images');
    }
  }
  if (images.length > facts.mediaMax) report('image.too_many', 'messages', `more than ${facts.mediaMax} images`);
  if (pages > facts.mediaMax) report('document.too_many_pages', 'messages', `more than ${facts.mediaMax} PDF pages`);
  const citing = documents.filter(({ block }) => isRecord(block.citations) && block.citations.enabled === true);
  if (citing.length > 0 && citing.length < documents.length) {
    report('document.citations_mixed', 'messages', 'citations must be enabled on all documents or on none');
  }
}

/** The images and documents among the blocks and inside results. */
function collectMedia(blocks: readonly TurnBlock[]): readonly TurnBlock[] {
  const found: TurnBlock[] = [];
  for (const at of blocks) {
    if (isMedia(at.block)) found.push(at);
    const inner = at.block.type === 'tool_result' && Array.isArray(at.block.content) ? at.block.content : [];
    inner.forEach((block: unknown, i) => {
      if (isRecord(block) && isMedia(block)) found.push({ block, path: `${at.path}.content.${i}` });
    });
  }
  return found;
}

const isMedia = (block: Fields): boolean => block.type === 'image' || block.type === 'document';
