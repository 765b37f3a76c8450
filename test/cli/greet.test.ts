// The banner of `npm start`: a link that can be opened, the address as it is, and what the demo model is and is not.

import { afterEach, expect, test, vi } from 'vitest';
import { greet } from '../../functions/greet.ts';
import { readConfig } from '../../shared/config.ts';

afterEach(() => vi.restoreAllMocks());

function bannerOf(environment: Record<string, string>): string {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  const config = readConfig({ PORT: '8787', REPRISE_API_KEY: 'a-key-of-mine', ...environment });
  greet(config, { address: null, firstKey: null, model: 'the demo model', storage: '.reprise' });
  return String(log.mock.calls.at(-1));
}

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8787', 'http://localhost:8787'],
  ['0.0.0.0', 'http://0.0.0.0:8787', 'http://localhost:8787'],
  ['::', 'http://[::]:8787', 'http://localhost:8787'],
  ['::1', 'http://[::1]:8787', 'http://[::1]:8787'],
  ['10.1.2.3', 'http://10.1.2.3:8787', 'http://10.1.2.3:8787'],
])('HOST=%s listens on %s and is opened at %s', (HOST, address, link) => {
  const banner = bannerOf({ HOST });
  expect(banner.split('\n')[0]).toBe(`listening on ${address}`);
  expect(banner).toContain(`Reprise     ${link}   (API reference: ${link}/docs)`);
});

test('the demo is called what it is, and a real model is not called a demo', () => {
  expect(bannerOf({})).toMatch(/fixed rules.*no language model.*ANTHROPIC_API_KEY/);
  expect(bannerOf({})).not.toMatch(/no real answers/);
  expect(bannerOf({ ANTHROPIC_API_KEY: 'sk-ant-x' })).not.toMatch(/fixed rules/);
});
