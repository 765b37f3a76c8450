// One running service and its clients for a test file: every answer is validated twice, and a violation fails the test that saw it.

import Anthropic from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { type CheckingFetch, createCheckingFetch } from './checking-fetch.ts';
import { type Service, type ServiceOptions, startService } from './start-service.ts';

export interface Harness {
  readonly service: Service;
  /** The official client on this service; `apiKey` defaults to the bootstrap key. */
  client(apiKey?: string): Anthropic;
  /** A raw request below the SDK, with the bootstrap key unless `headers` name another. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** For an answer that cannot be documented (an unknown route): drops the violations that match. */
  forgetViolations(expected: RegExp): void;
}

type Options = Omit<ServiceOptions, 'modelUrl'> & { readonly modelUrl?: () => string };

/** Starts the service before the file's tests and stops it after them. Call it at the top level of a test file. */
export function useHarness(options: Options = {}): Harness {
  let service: Service | undefined;
  let checking: CheckingFetch | undefined;
  let expected: readonly RegExp[] = [];
  let used = false;
  const running = (): Service => {
    if (!service) throw new Error('the service is not started yet');
    return service;
  };
  const checked = (): CheckingFetch => {
    if (!checking) throw new Error('the service is not started yet');
    return checking;
  };
  const fetchOf = (): CheckingFetch['fetch'] => {
    used = true;
    return checked().fetch;
  };

  beforeAll(async () => {
    checking = createCheckingFetch();
    service = await startService({ ...options, modelUrl: options.modelUrl?.() });
  });
  afterAll(async () => {
    await service?.stop();
    if (used) expect(checked().checked(), 'answers that were validated').toBeGreaterThan(0);
  });
  afterEach(({ task }) => {
    if (task.result?.state === 'fail') console.error(`the service printed:\n${running().output()}`);
    const violations = checked()
      .takeViolations()
      .filter((text) => !expected.some((pattern) => pattern.test(text)));
    expected = [];
    expect(violations, 'answers that break openapi.yaml or the declarations of the SDK').toEqual([]);
    expect(running().ended(), running().output()).toBeNull();
    expect(running().output()).not.toMatch(/unhandled|uncaught/i);
  });

  return {
    forgetViolations(pattern) {
      expected = [...expected, pattern];
    },
    get service() {
      return running();
    },
    client: (apiKey) =>
      new Anthropic({
        apiKey: apiKey ?? running().apiKey,
        baseURL: running().url,
        fetch: fetchOf(),
        // A retry would hide an answer that the test is to see.
        maxRetries: 0,
      }),
    request(path, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has('x-api-key') && !headers.has('authorization')) headers.set('x-api-key', running().apiKey);
      if (typeof init.body === 'string' && !headers.has('content-type')) {
        headers.set('content-type', 'application/json');
      }
      return fetchOf()(`${running().url}${path}`, { ...init, headers });
    },
  };
}
