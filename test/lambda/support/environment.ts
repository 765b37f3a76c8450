// One execution environment: a Runtime API server and the process that polls it. One invocation at a time, SIGSTOP between
// invocations, SIGKILL at the timeout. The process has Lambda's variables and nothing of ours.

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Invocation } from './invocation.ts';

export interface FunctionSettings {
  /** Folder with the handler's file. */
  readonly taskRoot: string;
  /** `file.export`, without the file's extension. */
  readonly handler: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly log: (text: string) => void;
}

export interface Environment {
  readonly state: () => 'init' | 'idle' | 'busy' | 'gone';
  readonly pid: () => number | undefined;
  invoke(invocation: Invocation): void;
  kill(): void;
}

export interface EnvironmentEvents {
  onIdle(environment: Environment): void;
  /** `initError`: it never became idle; why. */
  onGone(environment: Environment, initError: string | undefined): void;
}

const RIC = join(import.meta.dirname, '../../../node_modules/aws-lambda-ric/index.mjs');
const SHIM = join(import.meta.dirname, 'ric-shim.mjs');
const FUNCTION_NAME = 'local-function';
const API = /^\/2018-06-01\/runtime\/(?:invocation\/next|invocation\/([^/]+)\/(response|error)|init\/error)$/;

export function startEnvironment(settings: FunctionSettings, events: EnvironmentEvents): Environment {
  const temporary = mkdtempSync(join(tmpdir(), 'lambda-'));
  const server = http.createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, serveRuntimeApi);
  let state: 'init' | 'idle' | 'busy' | 'gone' = 'init';
  let child: ChildProcess | undefined;
  let waitingForNext: http.ServerResponse | undefined;
  let current: Invocation | undefined;
  let timer: NodeJS.Timeout | undefined;
  let initError: string | undefined;

  const environment: Environment = {
    state: () => state,
    pid: () => child?.pid,
    invoke,
    kill: () => void child?.kill('SIGKILL'),
  };

  function serveRuntimeApi(request: http.IncomingMessage, response: http.ServerResponse): void {
    const [path = '', id, verb] = API.exec(request.url ?? '') ?? [];
    const invocation = current;
    if (path.endsWith('/next')) becomeIdle(response);
    else if (path.endsWith('/init/error')) {
      collect(request, (text) => {
        initError = text;
        response.writeHead(202).end();
      });
    } else if (invocation === undefined || invocation.id !== id) {
      response.writeHead(400).end('{"errorType":"InvalidRequestID"}');
    } else if (verb === 'response') receiveResponse(request, response, invocation);
    else {
      collect(request, (text) => {
        invocation.finish(JSON.parse(text));
        response.writeHead(202).end('{}');
      });
    }
  }

  function becomeIdle(response: http.ServerResponse): void {
    clearTimeout(timer);
    current = undefined;
    waitingForNext = response;
    state = 'idle';
    setImmediate(() => state === 'idle' && child?.kill('SIGSTOP'));
    events.onIdle(environment);
  }

  function receiveResponse(request: http.IncomingMessage, response: http.ServerResponse, invocation: Invocation): void {
    invocation.begin({
      kind: 'response',
      streaming: request.headers['lambda-runtime-function-response-mode'] === 'streaming',
      contentType: request.headers['content-type'] ?? 'application/json',
    });
    request.pipe(invocation.body, { end: false });
    request.on('error', () => invocation.finish({ errorType: 'Runtime.StreamError' }));
    request.on('end', () => {
      const errorType = request.trailers['lambda-runtime-function-error-type'];
      const errorBody = request.trailers['lambda-runtime-function-error-body'] ?? '';
      invocation.finish(errorType ? { errorType, errorMessage: Buffer.from(errorBody, 'base64').toString() } : null);
      response.writeHead(202).end('{}');
    });
  }

  function invoke(invocation: Invocation): void {
    state = 'busy';
    current = invocation;
    child?.kill('SIGCONT');
    timer = setTimeout(() => {
      invocation.finish({ errorType: 'Sandbox.Timedout', errorMessage: `timed out after ${settings.timeoutMs} ms` });
      environment.kill();
    }, settings.timeoutMs);
    waitingForNext?.writeHead(200, {
      'content-type': 'application/json',
      'lambda-runtime-aws-request-id': invocation.id,
      'lambda-runtime-deadline-ms': String(Date.now() + settings.timeoutMs),
      'lambda-runtime-invoked-function-arn': `arn:aws:lambda:us-east-1:000000000000:function:${FUNCTION_NAME}`,
      'lambda-runtime-trace-id': 'Root=1-00000000-000000000000000000000000;Sampled=0',
    });
    waitingForNext?.end(JSON.stringify(invocation.event));
    waitingForNext = undefined;
  }

  function end(why: string): void {
    clearTimeout(timer);
    const neverReady = state === 'init';
    state = 'gone';
    current?.finish({ errorType: 'Runtime.ExitError', errorMessage: why });
    server.closeAllConnections();
    server.close();
    rmSync(temporary, { recursive: true, force: true });
    events.onGone(environment, neverReady ? (initError ?? why) : undefined);
  }

  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    child = spawn(process.execPath, ['--import', SHIM, RIC, settings.handler], {
      cwd: settings.taskRoot,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...variablesOf(settings, temporary), AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`, ...settings.env },
    });
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => settings.log(String(text)));
    child.on('exit', (code, signal) => end(`Runtime exited: code ${code}, signal ${signal}`));
  });
  return environment;
}

function variablesOf({ taskRoot, handler, memoryMb }: FunctionSettings, temporary: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: temporary,
    TMPDIR: temporary,
    TZ: ':UTC',
    LANG: 'en_US.UTF-8',
    _HANDLER: handler,
    LAMBDA_TASK_ROOT: taskRoot,
    AWS_LAMBDA_FUNCTION_NAME: FUNCTION_NAME,
    AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMb),
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${FUNCTION_NAME}`,
    AWS_LAMBDA_LOG_STREAM_NAME: randomUUID(),
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
    AWS_REGION: 'us-east-1',
    AWS_DEFAULT_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    NODE_OPTIONS: `--max-old-space-size=${Math.floor(memoryMb * 0.9)}`,
  };
}

function collect(request: http.IncomingMessage, done: (text: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk) => chunks.push(chunk)).on('end', () => done(Buffer.concat(chunks).toString()));
}
