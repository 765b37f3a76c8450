// Runs inside the child, under its flags and after its prelude, and tries to get out. Each probe answers `refused: why` or what it got.
// Module names are put together at run time, so that the bundler cannot take them away first.

import '../../shared/adapters/virtual-sandbox/child-prelude.ts';
import { createRequire } from 'node:module';

const write = process.stdout.write.bind(process.stdout);
const [hostFile, pid] = process.argv.slice(2);
const name = (...parts: string[]) => parts.join('');
const node = (module: string) => name('no', 'de:', module);
const require = createRequire(import.meta.url);
const load = async (module: string) => {
  try {
    return require(module);
  } catch {
    return import(module);
  }
};
const global = globalThis as unknown as Record<string, (...args: unknown[]) => unknown>;
const proc = process as unknown as Record<string, (...args: unknown[]) => unknown>;
const call = (target: Record<string, unknown>, key: string, ...args: unknown[]): unknown => {
  const member = target[key];
  if (typeof member !== 'function') throw new Error(`no ${key}`);
  return member.apply(target, args);
};

const modules = [
  ...['fs', 'fs/promises', 'child_process', 'net', 'tls', 'http', 'https', 'http2', 'dgram', 'dns', 'dns/promises'],
  ...[
    'cluster',
    'worker_threads',
    'inspector',
    'inspector/promises',
    'sqlite',
    'vm',
    'wasi',
    'v8',
    'repl',
    'trace_events',
  ],
  ...['os', 'process', 'test', 'sea', 'perf_hooks', 'diagnostics_channel'],
];

const probes: Record<string, () => unknown> = {
  ...Object.fromEntries(modules.map((module) => [`load ${module}`, () => load(node(module))])),
  ...Object.fromEntries(modules.slice(0, 12).map((module) => [`load bare ${module}`, () => load(module)])),
  'load a file': () => import(hostFile ?? ''),
  'load a data url': () => import(name('data:text/java', 'script,export default 1')),
  'require a file': () => require(hostFile ?? ''),
  'module._load': () => call(require('node:module') as Record<string, unknown>, '_load', 'fs'),
  getBuiltinModule: () => call(proc, 'getBuiltinModule', 'fs'),
  binding: () => call(proc, 'binding', 'fs'),
  _linkedBinding: () => call(proc, '_linkedBinding', 'fs'),
  dlopen: () => call(proc, 'dlopen', { exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6'),
  'kill parent': () => call(proc, 'kill', process.ppid, 0),
  'kill by pid': () => call(proc, 'kill', Number(pid), 0),
  _kill: () => call(proc, '_kill', process.ppid, 0),
  _debugProcess: () => call(proc, '_debugProcess', process.ppid),
  chdir: () => call(proc, 'chdir', '/tmp'),
  report: () => call(proc.report as unknown as Record<string, unknown>, 'writeReport', '/tmp/x.json'),
  loadEnvFile: () => call(proc, 'loadEnvFile', hostFile),
  execve: () => call(proc, 'execve', '/bin/true', []),
  mainModule: () => call(proc.mainModule as unknown as Record<string, unknown>, 'require', 'fs'),
  eval: () => call(global, 'eval', '1 + 1'),
  Function: () => Reflect.construct(Function, ['return 1'])(),
  'Function through a constructor': () => Reflect.construct((() => 1).constructor, ['return process'])(),
  AsyncFunction: () => Reflect.construct((async () => 1).constructor, ['return 1'])(),
  'timer with text': () => call(global, 'setTimeout', 'globalThis.x = 1', 0),
  WebAssembly: () =>
    Reflect.construct((Reflect.get(globalThis, 'WebAssembly') as { Module: never }).Module, [
      new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]),
    ]),
  fetch: () => call(global, 'fetch', 'http://127.0.0.1:1/'),
  WebSocket: () => Reflect.construct(global.WebSocket as never, ['ws://127.0.0.1:1/']),
  EventSource: () => Reflect.construct(global.EventSource as never, ['http://127.0.0.1:1/']),
  Worker: () => Reflect.construct(global.Worker as never, ['data:text/javascript,1']),
  BroadcastChannel: () => Reflect.construct(global.BroadcastChannel as never, ['x']),
  'permission of anything': () => {
    const grants = ['fs.read', 'fs.write', 'child', 'worker', 'addon', 'inspector', 'wasi'];
    const has = process as unknown as { permission: { has(scope: string): boolean } };
    const held = grants.filter((grant) => has.permission.has(grant));
    if (held.length === 0) throw new Error('none');
    return held;
  },
  environment: () => {
    const names = Object.keys(process.env).filter((key) => process.env[key] !== '');
    if (names.length === 0) throw new Error('empty');
    return names;
  },
};

const results: Record<string, string> = {};
for (const [key, probe] of Object.entries(probes)) {
  try {
    const got = await probe();
    results[key] =
      got === undefined
        ? 'refused: nothing came'
        : `GOT ${String(typeof got === 'object' ? Object.keys(got as object).slice(0, 4) : got)}`;
  } catch (error) {
    results[key] = `refused: ${String(error).slice(0, 100)}`;
  }
}
write(JSON.stringify(results), () => process.exit(0));
