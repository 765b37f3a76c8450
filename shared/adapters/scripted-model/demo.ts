// The demo model's rules (the scripted model without a script): what to say or which tools to call next, from the conversation.

import type { Answer, RequestBody } from './script.ts';

export function answerByRules(_request: RequestBody): Answer {
  return { blocks: ['…'] };
}
