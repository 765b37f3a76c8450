// A `fetch` that holds every answer it sees to openapi.yaml and to the SDK's declarations, and remembers what was wrong.

import { type AnswerMeta, createOpenApiValidator, type OpenApiValidator } from './open-api.ts';
import { createSdkValidator, type SdkValidator, sdkRootOf } from './sdk-validator.ts';
import { createSseParser, type SseFrame } from './sse.ts';

export interface CheckingFetch {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** What was wrong with answers so far; the list is emptied. */
  takeViolations(): readonly string[];
  /** Answers validated so far, frames of streams included. */
  readonly checked: () => number;
}

interface Checks {
  readonly openApi: OpenApiValidator;
  readonly sdk: SdkValidator;
  readonly report: (meta: AnswerMeta, words: readonly string[], seen: string) => void;
}

const SERVICE_PATHS = /^\/(v1\/|openapi\.yaml|docs|healthz)/;

function checkJson(checks: Checks, meta: AnswerMeta, text: string): void {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    checks.report(meta, ['the body is not JSON'], text);
    return;
  }
  checks.report(meta, checks.openApi.validate(meta, body), text);
  const root = sdkRootOf(meta);
  if (root) checks.report(meta, checks.sdk.validate(root, body), text);
}

/** `extended` streams (`reprise_deltas`) carry previews that the SDK does not declare. */
function checkFrame(checks: Checks, meta: AnswerMeta, frame: SseFrame, extended: boolean): void {
  if (frame.event === 'ping') return;
  if (frame.event !== 'message') {
    checks.report(meta, [`a frame's event line is ${frame.event}`], frame.data);
    return;
  }
  const body: unknown = JSON.parse(frame.data);
  checks.report(meta, checks.openApi.validate(meta, body), frame.data);
  const type = (body as { type?: string }).type ?? '';
  if (extended && type.startsWith('event_')) return;
  checks.report(meta, checks.sdk.validate('StreamedEvent', body), frame.data);
}

/** Passes the stream's bytes through and looks at the frames on the way. */
function checkStream(checks: Checks, meta: AnswerMeta, response: Response, extended: boolean): Response {
  if (!response.body) return response;
  const parse = createSseParser();
  const decoder = new TextDecoder();
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        for (const frame of parse(decoder.decode(chunk, { stream: true }))) checkFrame(checks, meta, frame, extended);
      },
    }),
  );
  return new Response(body, { status: response.status, headers: response.headers });
}

export function createCheckingFetch(): CheckingFetch {
  const violations: string[] = [];
  let checked = 0;
  const checks: Checks = {
    openApi: createOpenApiValidator(),
    sdk: createSdkValidator(),
    report(meta, words, seen) {
      checked += 1;
      for (const word of words) {
        const text = `${meta.method} ${meta.path} ${meta.status}: ${word}\n    in ${seen.slice(0, 400)}`;
        if (!violations.includes(text)) violations.push(text);
      }
    },
  };
  return {
    takeViolations: () => violations.splice(0),
    checked: () => checked,
    async fetch(input, init) {
      const url = new URL(input instanceof Request ? input.url : input);
      const response = await fetch(input, init);
      if (!SERVICE_PATHS.test(url.pathname)) return response;
      const contentType = (response.headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';
      const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
      const meta: AnswerMeta = { method, path: url.pathname, status: response.status, contentType };
      const requestId = response.headers.get('request-id') ?? '';
      if (url.pathname.startsWith('/v1/') && !/^req_\w+$/.test(requestId)) {
        checks.report(meta, [`request-id is ${requestId || 'missing'}`], '');
      }
      if (contentType === 'text/event-stream') {
        return checkStream(checks, meta, response, url.search.includes('reprise_deltas'));
      }
      if (contentType === 'application/json') checkJson(checks, meta, await response.clone().text());
      else checks.report(meta, checks.openApi.documented(meta), '');
      return response;
    },
  };
}
