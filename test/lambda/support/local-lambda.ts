// A function as Lambda runs it: environments started on demand, reused when idle, never shared by two invocations; invoked
// directly or through a function URL.

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Environment, type FunctionSettings, startEnvironment } from './environment.ts';
import { serveFunctionUrl } from './function-url.ts';
import { createInvocation, type Invocation } from './invocation.ts';

export interface LocalLambda {
  /** Of the function URL. */
  readonly url: string;
  readonly environments: ReadonlySet<Environment>;
  invoke(event: unknown): Invocation;
  /** What the function printed so far. */
  output(): string;
  close(): Promise<void>;
}

export interface LocalLambdaOptions {
  readonly taskRoot: string;
  readonly handler?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  readonly concurrencyMax?: number;
}

export async function startLambda(options: LocalLambdaOptions): Promise<LocalLambda> {
  const { taskRoot, handler = 'index.handler', env = {}, timeoutMs = 30_000, concurrencyMax = 10 } = options;
  const environments = new Set<Environment>();
  const waiting: Invocation[] = [];
  let printed = '';
  const log = (text: string): void => {
    printed += text;
  };
  const settings: FunctionSettings = { taskRoot, handler, env, timeoutMs, memoryMb: 512, log };

  function assignWork(): void {
    const idle = () => [...environments].find((environment) => environment.state() === 'idle');
    for (let environment = idle(); environment && waiting.length > 0; environment = idle()) {
      const invocation = waiting.shift();
      if (invocation) environment.invoke(invocation);
    }
    const starting = [...environments].filter((environment) => environment.state() === 'init').length;
    for (let i = starting; i < waiting.length && environments.size < concurrencyMax; i++) {
      environments.add(startEnvironment(settings, { onIdle: assignWork, onGone }));
    }
  }

  function onGone(environment: Environment, initError: string | undefined): void {
    environments.delete(environment);
    if (initError !== undefined) {
      waiting.shift()?.finish({ errorType: 'Runtime.InitError', errorMessage: initError });
    }
    assignWork();
  }

  function invoke(event: unknown): Invocation {
    const invocation = createInvocation(event);
    const free = [...environments].some((environment) => environment.state() !== 'busy');
    if (!free && environments.size >= concurrencyMax) invocation.finish({ errorType: 'TooManyRequestsException' });
    else waiting.push(invocation);
    assignWork();
    return invocation;
  }

  const door = http.createServer((request, response) => void serveFunctionUrl(request, response, invoke));
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(door.address() as AddressInfo).port}`,
    environments,
    invoke,
    output: () => printed,
    async close() {
      for (const environment of environments) environment.kill();
      door.closeAllConnections();
      await new Promise((resolve) => door.close(resolve));
    },
  };
}
