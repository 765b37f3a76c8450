// What the mock model is asked to do, as words in the user's message, so that raw and Reprise send the same text.

export interface Script {
  /** Text deltas of the final answer. */
  readonly deltas: number;
  /** Time between deltas; 0 = as fast as the connection takes them. */
  readonly delayMs: number;
  /** Deltas that leave in one write. */
  readonly perWrite: number;
  /** Tool rounds before the final answer; each reads `path`. */
  readonly rounds: number;
  readonly path: string;
}

const DEFAULTS: Script = { deltas: 10, delayMs: 0, perWrite: 1, rounds: 0, path: '' };

/** The user's text that makes the mock play `script`. */
export function promptOf(script: Partial<Script>): string {
  const words = Object.entries({ ...DEFAULTS, ...script }).map(([name, value]) => `${name}=${value}`);
  return `Please do this. [[bench ${words.join(' ')}]]`;
}

/** The script in a user's text, or undefined where it has none. */
export function scriptOf(text: string): Script | undefined {
  const words = /\[\[bench ([^\]]*)\]\]/.exec(text)?.[1];
  if (words === undefined) return undefined;
  const given = new Map(words.split(' ').map((word) => word.split('=', 2) as [string, string]));
  const number = (name: keyof Script): number => Number(given.get(name) ?? DEFAULTS[name]);
  return {
    deltas: number('deltas'),
    delayMs: number('delayMs'),
    perWrite: number('perWrite'),
    rounds: number('rounds'),
    path: given.get('path') ?? '',
  };
}

/** The text of delta `index`, about as long as a token or two. */
export const deltaText = (index: number): string => `word ${index % 1000} `;

/** Characters in the whole answer of `deltas` deltas. */
export function answerChars(deltas: number): number {
  let chars = 0;
  for (let i = 0; i < deltas; i++) chars += deltaText(i).length;
  return chars;
}
