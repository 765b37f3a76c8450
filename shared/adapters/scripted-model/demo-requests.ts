// What a request to the demo plainly asks for where no table is needed: commands to run, the list of files, or what it can do.

const ASKING = String.raw`^\W*(?:(?:please|now|then|can you|could you|would you)\W+)*`;
const BARE_COMMAND = new RegExp(
  `${ASKING}(?:run|execute)\\s+(?:the\\s+)?(?:(?:shell|bash)\\s+)?(?:command\\b\\s*:?\\s*)?(\\S.*)$`,
  'i',
);
/** Words after "run" that are meant for a shell; any other sentence is left alone. */
const COMMANDS = new Set(
  (
    'awk base64 basename bash cat cd chmod comm cp cut date diff dirname du echo env export file find grep gunzip gzip ' +
    'head hostname jq ln ls md5sum mkdir mv nl od paste printf pwd rg rm rmdir sed seq sh sha256sum sleep sort stat tac ' +
    'tail tar tee test touch tr tree true false uniq wc which whoami xargs'
  ).split(' '),
);

/** Commands in the order of the text: those in backquotes, else the one that follows "run". */
export function commandsIn(question: string): readonly string[] {
  if (!/\b(run|execute|bash|shell)\b/i.test(question)) return [];
  const quoted = [...question.matchAll(/```(?:\w*\n)?([\s\S]+?)```|`([^`\n]+)`/g)];
  if (quoted.length > 0) return quoted.map((m) => (m[1] ?? m[2] ?? '').trim());
  const rest = BARE_COMMAND.exec(question.trim())?.[1] ?? '';
  const bare = rest
    .replace(/,?\s+(?:please|for me)\W*$/i, '')
    .replace(/(?<=[\w"”'])[.!?]+$/, '')
    .replace(/^["“'](.*)["”']$/, '$1')
    .trim();
  return COMMANDS.has(bare.split(/\s/, 1)[0] ?? '') ? [bare] : [];
}

const LISTS = new RegExp(
  `${ASKING}(?:(?:which|what) (?:files|attachments|uploads) (?:(?:do|can) (?:you|i) (?:see|have|read|know)|(?:are|were) (?:there|here|attached|uploaded|available|in))\\b|(?:list|show|name)(?: me| all| the| my| your| attached| uploaded)* (?:files|uploads|attachments)\\b|(?:do you (?:see|have)|are there)(?: any| my| the| some)* (?:files|attachments|uploads)\\b)(?:(?!\\band\\b)[^,;])*$`,
  'i',
);

/** Whether the names of the files are all that is asked for. */
export const asksForFileNames = (question: string): boolean => LISTS.test(question);

/** Whether the question is about files at all, by its words. */
export const speaksOfFiles = (question: string): boolean => /\b(?:files?|attach\w*|uploads?)\b/i.test(question);

const ABILITIES =
  /^\W*(?:help|(?:so |and )?what (?:can|do|could) you do(?: for me| here)?|what are you(?: able to do| capable of)?|who are you|how (?:can you help(?: me)?|do you work|does this work)|introduce yourself)\W*$/i;

/** Whether it asks what it speaks with. */
export const asksForAbilities = (question: string): boolean => ABILITIES.test(question);
