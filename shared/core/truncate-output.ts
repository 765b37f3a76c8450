// Tool output within a limit of characters: the beginning and the end stay, a note in the middle says what is missing.

/**
 * `text` itself where it has at most `charsMax` UTF-16 units, else at most `charsMax` of them. No surrogate pair is cut.
 * The beginning gets two thirds: that is where most output says what it is.
 */
export function truncateOutput(text: string, charsMax: number): { readonly text: string; readonly truncated: boolean } {
  if (text.length <= charsMax) return { text, truncated: false };
  const note = noteOf(text.length, charsMax);
  const room = charsMax - note.length;
  if (room <= 0) return { text: text.slice(0, pairEnd(text, Math.max(0, charsMax))), truncated: true };
  const head = pairEnd(text, Math.ceil((room * 2) / 3));
  const tail = pairStart(text, text.length - (room - Math.ceil((room * 2) / 3)));
  return { text: text.slice(0, head) + note + text.slice(tail), truncated: true };
}

const noteOf = (chars: number, charsMax: number): string =>
  `\n\n[… output of ${chars} characters shortened to ${charsMax}; the middle is missing …]\n\n`;

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
const splitsPair = (text: string, at: number): boolean =>
  at > 0 && at < text.length && isHigh(text.charCodeAt(at - 1)) && isLow(text.charCodeAt(at));

/** The cut at or just before `at`, and at or just after it, that splits no pair. */
const pairEnd = (text: string, at: number): number => (splitsPair(text, at) ? at - 1 : at);
const pairStart = (text: string, at: number): number => (splitsPair(text, at) ? at + 1 : at);
