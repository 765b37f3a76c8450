// Content blocks that clients send and events carry: text, images, documents, search results.

import { z } from 'zod';
import { most } from '../limits.ts';

const url = z
  .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
  .max(...most('urlCharsMax', 'characters'));
const data = z.base64({ error: 'must be base64' }).min(1);
export const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'] as const;

const FileSource = z.object({ type: z.literal('file'), file_id: z.string() }).meta({ id: 'FileSource' });
const UrlSource = z.object({ type: z.literal('url'), url }).meta({ id: 'UrlSource' });

const Base64ImageSource = z
  .object({ type: z.literal('base64'), media_type: z.enum(IMAGE_TYPES), data })
  .meta({ id: 'Base64ImageSource' });
const Base64DocumentSource = z
  .object({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data })
  .meta({ id: 'Base64DocumentSource' });
const PlainTextSource = z
  .object({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string().min(1) })
  .meta({ id: 'PlainTextSource' });

export const TextBlock = z
  .object({ type: z.literal('text'), text: z.string().min(1, 'must not be empty') })
  .meta({ id: 'TextBlock' });
export const ImageBlock = z
  .object({
    type: z.literal('image'),
    source: z.discriminatedUnion('type', [Base64ImageSource, UrlSource, FileSource]),
  })
  .meta({ id: 'ImageBlock' });
export const DocumentBlock = z
  .object({
    type: z.literal('document'),
    source: z.discriminatedUnion('type', [Base64DocumentSource, PlainTextSource, UrlSource, FileSource]),
    title: z.union([z.string(), z.null()]).optional(),
    context: z.union([z.string(), z.null()]).optional(),
  })
  .meta({ id: 'DocumentBlock' });
export const SearchResultBlock = z
  .object({
    type: z.literal('search_result'),
    source: z.string(),
    title: z.string(),
    content: z.array(z.object({ type: z.literal('text'), text: z.string().min(1) })).min(1),
    citations: z.object({ enabled: z.boolean() }),
  })
  .meta({ id: 'SearchResultBlock' });

const blocks = <T extends z.ZodType>(item: T) => z.array(item).max(...most('contentBlocksPerEventMax', 'blocks'));

/** What a user message holds; never empty. */
export const MessageContent = blocks(z.discriminatedUnion('type', [TextBlock, ImageBlock, DocumentBlock])).min(
  1,
  'must not be empty',
);
/** What a tool's result holds. An empty text is left out rather than refused: clients pass a tool's output through. */
export const ResultContent = blocks(
  z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }).meta({ id: 'ResultTextBlock' }),
    ImageBlock,
    DocumentBlock,
    SearchResultBlock,
  ]),
);
export const SystemContent = z
  .array(TextBlock)
  .min(1, 'must not be empty')
  .max(...most('systemMessageItemsMax', 'blocks'));

/** Blocks as events show them; looser than what is accepted, so that old or imported content stays readable. */
const ShownText = z.object({ type: z.literal('text'), text: z.string() }).meta({ id: 'ShownTextBlock' });
const ShownImage = z
  .object({ type: z.literal('image'), source: z.looseObject({ type: z.string() }) })
  .meta({ id: 'ShownImageBlock' });
const ShownDocument = z
  .object({ type: z.literal('document'), source: z.looseObject({ type: z.string() }) })
  .meta({ id: 'ShownDocumentBlock' });
const ShownSearchResult = z
  .object({ type: z.literal('search_result'), source: z.string(), title: z.string() })
  .meta({ id: 'ShownSearchResultBlock' });

export const ShownTexts = z.array(ShownText);
export const ShownContent = z.array(
  z.discriminatedUnion('type', [ShownText, ShownImage, ShownDocument, ShownSearchResult]),
);
