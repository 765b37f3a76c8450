// Lets the genuine aws-lambda-ric run without its native addon, which only does next, done and error: `next` is switched to
// the runtime's own HTTP client, `done` and `error` are posted here. Use: node --import ./ric-shim.mjs <ric> index.handler

import http from 'node:http';
import Module from 'node:module';

process.env.AWS_LAMBDA_NODEJS_USE_ALTERNATIVE_CLIENT_1 = 'true';

const ADDON = './rapid-client.node';
const [hostname, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(':');
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });

function post(path, body, headers = {}) {
  const request = http.request({
    agent,
    hostname,
    port,
    method: 'POST',
    path: `/2018-06-01/runtime/invocation/${path}`,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
  });
  request.on('response', (response) => response.resume());
  request.on('error', (error) => {
    console.error('runtime API', error);
    process.exit(1);
  });
  request.end(body);
}

const addon = {
  initializeClient() {},
  next() {
    throw new Error('the alternative client should poll');
  },
  done: (id, body) => post(`${id}/response`, body),
  error: (id, body, xray) =>
    post(`${id}/error`, body, {
      'Lambda-Runtime-Function-Error-Type': JSON.parse(body).errorType ?? 'Unhandled',
      'Lambda-Runtime-Function-XRay-Error-Cause': xray,
    }),
};

const { _resolveFilename: resolve, _load: load } = Module;
Module._resolveFilename = function (request, ...rest) {
  return request === ADDON ? ADDON : resolve.call(this, request, ...rest);
};
Module._load = function (request, ...rest) {
  return request === ADDON ? addon : load.call(this, request, ...rest);
};
