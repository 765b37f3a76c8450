// A model for chaos: what it answers follows from the request alone, so that it survives every death of its caller. A task is a
// user text `task <name> rounds=<n>`: n answers with tool calls, then the text `Answered <name>.`.

import type { Answer, AnswerBlock, Block, RequestBody } from '../../shared/adapters/scripted-model/script.ts';
import type { Random } from './random.ts';

const COUNT_FILE = '/workspace/count';
const FAULT_SHARE = 0.04;

interface Task {
  readonly name: string;
  readonly rounds: number;
}

const blocksOf = (content: string | readonly Block[]): readonly Block[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** The last task asked for, and how many answers with calls it has had. */
function readTask(request: RequestBody): { readonly task: Task; readonly done: number } {
  let task: Task = { name: 'none', rounds: 0 };
  let done = 0;
  for (const { role, content } of request.messages) {
    for (const block of blocksOf(content)) {
      const asked = role === 'user' ? /^task (\S+) rounds=(\d+)$/.exec(String(block.text ?? '')) : null;
      if (asked) {
        task = { name: asked[1] ?? '', rounds: Number(asked[2]) };
        done = 0;
      }
    }
    if (role === 'assistant' && blocksOf(content).some((b) => b.type === 'tool_use')) done++;
  }
  return { task, done };
}

/** Every call that appends has a token of its own, also where an answer is asked for again. */
export function createChaosModel(random: Random): (request: RequestBody, index: number) => Answer {
  return (request, index) => {
    const { task, done } = readTask(request);
    const pace = { delayMs: random.int(0, 12), firstDelayMs: random.int(0, 60), deltaChars: random.int(4, 24) };
    if (done >= task.rounds) return { ...pace, blocks: [`Answered ${task.name}.`], ...faultOf(random) };
    const calls = Array.from({ length: random.int(1, 3) }, (_, i): AnswerBlock => {
      if (task.name === 'report') return { type: 'tool_use', name: 'bash', input: { command: `cat ${COUNT_FILE}` } };
      if (random.share(0.3)) return { type: 'tool_use', name: 'read', input: { file_path: COUNT_FILE } };
      const sleep = random.share(0.5) ? ` && sleep 0.${random.int(1, 6)}` : '';
      return { type: 'tool_use', name: 'bash', input: { command: `echo x-${index}-${i} >> ${COUNT_FILE}${sleep}` } };
    });
    const used = task.name === 'report' ? calls.slice(0, 1) : calls;
    const blocks = random.share(0.5) ? [`Step ${done} of ${task.name}, with some words before it.`, ...used] : used;
    return { ...pace, blocks, ...faultOf(random) };
  };
}

function faultOf(random: Random): Pick<Answer, 'fault'> {
  if (!random.share(FAULT_SHARE)) return {};
  if (random.share(0.5)) return { fault: { kind: 'http', status: 529, headers: { 'retry-after': '0' } } };
  return { fault: { kind: 'cut', afterEvents: random.int(1, 6) } };
}
