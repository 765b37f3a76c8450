// Media by URL that the model's API could not load: an address that fails once would fail every later request of the session.

import type { ContentBlock, Message } from '../types/message.ts';

/** Words of a refusal that is about media; one about anything else must not cost the history its links. */
const ABOUT_MEDIA = /\b(url|link|download|fetch|image|document|pdf|media|source)/i;

/** Whether a refused request may have been refused for what lies behind a link. */
export const isAboutMedia = (refusal: string): boolean => ABOUT_MEDIA.test(refusal);

/**
 * From which message on links are to be taken out after a refused request: behind the last answer, where there are any (what
 * was before it has been taken), else from the start. Undefined where the history holds no links.
 */
export function linksFrom(messages: readonly Message[]): number | undefined {
  const behindAnswer = messages.findLastIndex((m) => m.role === 'assistant') + 1;
  if (messages.slice(behindAnswer).some(hasLink)) return behindAnswer;
  return messages.some(hasLink) ? 0 : undefined;
}

/** The messages with a short text in the place of each image or document by URL from index `from` on. */
export const unlinkMedia = (messages: readonly Message[], from: number): readonly Message[] =>
  messages.map((m, i) => (i >= from && hasLink(m) ? { ...m, content: m.content.map(unlink) } : m));

const hasLink = (message: Message): boolean => message.content.some(isOrHoldsLink);

const isOrHoldsLink = (block: ContentBlock): boolean => isLink(block) || innerOf(block).some(isOrHoldsLink);

const innerOf = (block: ContentBlock): readonly ContentBlock[] =>
  Array.isArray(block.content) ? (block.content as readonly ContentBlock[]) : [];

function isLink(block: ContentBlock): boolean {
  const source = block.source as { readonly type?: unknown } | null | undefined;
  return (block.type === 'image' || block.type === 'document') && source?.type === 'url';
}

function unlink(block: ContentBlock): ContentBlock {
  if (isLink(block)) return { type: 'text', text: `[${block.type} by URL: it could not be loaded]` };
  return innerOf(block).some(isOrHoldsLink) ? { ...block, content: innerOf(block).map(unlink) } : block;
}
