// The scripted model of a test file: answers are queued by each test and must be used up by its end; requests can be looked at.

import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import type { Answer, AnswerBlock, RequestBody } from '../../shared/adapters/scripted-model/script.ts';
import { createScriptedModel, type ScriptedModel } from '../../shared/adapters/scripted-model/server.ts';
import { checkRequest } from '../../shared/core/check-request.ts';

interface Block {
  readonly type: string;
  readonly tool_use_id?: string;
  readonly is_error?: boolean;
  readonly [field: string]: unknown;
}

/** A request as the tests read it: content is always a list. */
export interface SeenRequest {
  readonly body: {
    readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
    readonly system?: unknown;
    readonly tools?: readonly { readonly name: string }[];
    readonly [field: string]: unknown;
  };
}

export interface AnswerOptions {
  readonly stopReason?: string;
  readonly usage?: Readonly<Record<string, number>>;
  /** Before the answer begins. */
  readonly delayMs?: number;
  /** Before each event. */
  readonly paceMs?: number;
  /** Characters per delta. */
  readonly chunkChars?: number;
  /** Ends the stream after the first delta, without `message_stop`. */
  readonly cut?: boolean;
}

export const answer = (blocks: readonly AnswerBlock[], options: AnswerOptions = {}): Answer => ({
  blocks,
  ...(options.stopReason === undefined ? {} : { stopReason: options.stopReason }),
  ...(options.usage === undefined ? {} : { usage: options.usage }),
  ...(options.delayMs === undefined ? {} : { firstDelayMs: options.delayMs }),
  ...(options.paceMs === undefined ? {} : { delayMs: options.paceMs }),
  ...(options.chunkChars === undefined ? {} : { deltaChars: options.chunkChars }),
  ...(options.cut ? { fault: { kind: 'cut', afterEvents: 3 } } : {}),
});
export const text = (words: string, options?: AnswerOptions): Answer => answer([words], options);
export const thinking = (words: string, signature: string): AnswerBlock => ({
  type: 'thinking',
  thinking: words,
  signature,
});
export const redactedThinking = (data: string): AnswerBlock => ({ type: 'redacted_thinking', data });
export const call = (name: string, input: Readonly<Record<string, unknown>>, id?: string): AnswerBlock => ({
  type: 'tool_use',
  name,
  input,
  ...(id === undefined ? {} : { id }),
});
export const httpError = (status: number, apiType: string): Answer => ({ fault: { kind: 'http', status, apiType } });

export interface TestModel {
  readonly url: string;
  /** Queues answers; they are given in this order to whoever asks. */
  script(...answers: readonly Answer[]): void;
  /** Forgets answers that nobody asked for. */
  dropScript(): void;
  /** Requests of this test that were not taken yet. */
  takeRequests(): readonly SeenRequest[];
  /** Requests of this test, taken or not. */
  seen(): number;
}

function seenRequest(body: RequestBody): SeenRequest {
  const messages = body.messages.map(({ role, content }) => ({
    role,
    content: typeof content === 'string' ? [{ type: 'text', text: content }] : (content as readonly Block[]),
  }));
  return { body: { ...body, messages } as unknown as SeenRequest['body'] };
}

/** Starts the model before the file's tests; each test must use up its script and send only histories that the API takes. */
export function useModel(): TestModel {
  const queue: Answer[] = [];
  const requests: SeenRequest[] = [];
  const unexpected: string[] = [];
  let taken = 0;
  let refusalsBefore = 0;
  let url = '';
  const server: ScriptedModel = createScriptedModel({
    check: checkRequest,
    script: (body) => {
      requests.push(seenRequest(body));
      const next = queue.shift();
      if (next) return next;
      unexpected.push(JSON.stringify(body.messages.at(-1)).slice(0, 300));
      return httpError(400, 'invalid_request_error');
    },
  });
  beforeAll(async () => {
    url = (await server.listen()).url;
  });
  afterAll(() => server.close());
  beforeEach(() => {
    queue.splice(0);
    requests.splice(0);
    unexpected.splice(0);
    taken = 0;
    refusalsBefore = server.refusals.length;
  });
  afterEach(() => {
    expect(server.refusals.slice(refusalsBefore), 'histories that the API would refuse').toEqual([]);
    expect(unexpected, 'requests that no answer was scripted for').toEqual([]);
    expect(queue, 'answers that nobody asked for').toEqual([]);
  });
  return {
    get url() {
      return url;
    },
    script: (...answers) => void queue.push(...answers),
    dropScript: () => void queue.splice(0),
    takeRequests() {
      const fresh = requests.slice(taken);
      taken = requests.length;
      return fresh;
    },
    seen: () => requests.length,
  };
}
