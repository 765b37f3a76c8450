// Runs first in the child and takes away what the permission model leaves open: loading of any further module, network, signals,
// WebAssembly, the console (the output stream carries frames). The bundle holds all code it needs.

import { registerHooks } from 'node:module';

const refuse = (): never => {
  throw new Error('not available in the sandbox');
};

registerHooks({ resolve: refuse, load: refuse });

const drop = (target: object, names: readonly string[]) => {
  for (const name of names) {
    Reflect.deleteProperty(target, name);
    if (Reflect.has(target, name)) Object.defineProperty(target, name, { value: undefined, writable: false });
  }
};

drop(process, [
  'kill',
  '_kill',
  'binding',
  '_linkedBinding',
  'getBuiltinModule',
  'dlopen',
  'mainModule',
  '_debugProcess',
  '_debugEnd',
  '_startProfilerIdleNotifier',
  'chdir',
  'setuid',
  'setgid',
  'seteuid',
  'setegid',
  'setgroups',
  'initgroups',
  'report',
]);
drop(globalThis, [
  'fetch',
  'WebSocket',
  'EventSource',
  'XMLHttpRequest',
  'WebAssembly',
  'BroadcastChannel',
  'Worker',
  'navigator',
]);

const silent = () => undefined;
for (const name of Object.keys(console)) Reflect.set(console, name, silent);
