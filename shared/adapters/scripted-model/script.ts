// What a scripted model answers: blocks, their pace, and how the answer fails. A script is played once, in order; a call it
// does not expect and a step that is left over are faults of the test.

/** The body of a Messages request as it came; loose, because a strict reader stands before it. */
export interface RequestBody {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: readonly { readonly role: string; readonly content: string | readonly Block[] }[];
  readonly system?: string | readonly Block[];
  readonly tools?: readonly Block[];
  readonly stream?: boolean;
  readonly thinking?: { readonly type: string };
  readonly [field: string]: unknown;
}

/** A content block, a tool or a system block of the API. */
export interface Block {
  readonly type?: string;
  readonly [field: string]: unknown;
}

export type AnswerBlock =
  | string
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature?: string }
  | {
      readonly type: 'tool_use';
      readonly name: string;
      readonly input?: Readonly<Record<string, unknown>>;
      readonly id?: string;
      /** Sent as the input's JSON instead of `input`, broken or not. */
      readonly json?: string;
    }
  /** Any other type is sent whole in its `content_block_start`. */
  | { readonly type: string; readonly [field: string]: unknown };

export type Fault =
  /** Before any event; the body is the API's error body. */
  | {
      readonly kind: 'http';
      readonly status: number;
      readonly apiType?: string;
      readonly message?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** A clean end of the stream without `message_stop`, after so many events or bytes. */
  | { readonly kind: 'cut'; readonly afterEvents?: number; readonly afterBytes?: number }
  | { readonly kind: 'reset'; readonly afterEvents: number }
  | { readonly kind: 'error'; readonly afterEvents: number; readonly apiType?: string; readonly message?: string }
  /** Silence with the connection open, until the client leaves. */
  | { readonly kind: 'stall'; readonly afterEvents: number };

export interface Answer {
  readonly blocks?: readonly AnswerBlock[];
  /** Default `tool_use` where a block calls a tool, else `end_turn`. */
  readonly stopReason?: string;
  readonly stopDetails?: Readonly<Record<string, unknown>>;
  readonly usage?: Readonly<Record<string, unknown>>;
  /** Before the status line, in ms. */
  readonly firstDelayMs?: number;
  /** Before each event after the first, in ms. */
  readonly delayMs?: number;
  /** Characters per delta; default 16. */
  readonly deltaChars?: number;
  /** Pings after each event but the last. */
  readonly pings?: number;
  readonly fault?: Fault;
}

export type Step = Answer | ((request: RequestBody) => Answer | Promise<Answer>);
/** A list is played in order; a function answers every call, `index` counting them from 0. */
export type Script = readonly Step[] | ((request: RequestBody, index: number) => Answer | Promise<Answer>);

export interface ScriptPlayer {
  next(request: RequestBody): Promise<Answer>;
  /** Throws where steps are left over or calls came that the script did not expect. */
  assertDone(): void;
}

export function playScript(script: Script): ScriptPlayer {
  let calls = 0;
  const unexpected = (request: RequestBody): Answer => ({
    fault: {
      kind: 'http',
      status: 400,
      message: `unexpected call ${calls}: the script has ${script.length} steps; last message ${describeLast(request)}`,
    },
  });
  return {
    async next(request) {
      const index = calls++;
      if (typeof script === 'function') return script(request, index);
      const step = script[index];
      if (step === undefined) return unexpected(request);
      return typeof step === 'function' ? step(request) : step;
    },
    assertDone() {
      if (typeof script === 'function' || calls === script.length) return;
      throw new Error(`the script has ${script.length} steps and ${calls} calls were made`);
    },
  };
}

const describeLast = (request: RequestBody): string => JSON.stringify(request.messages?.at(-1) ?? null).slice(0, 300);
