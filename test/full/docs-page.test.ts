// The service's `/docs` in a real browser: readable, without scripts, errors or other hosts, also on a phone and in the dark.

import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROUTES } from '../../shared/http/routes.ts';
import { type Service, startService } from '../support/start-service.ts';

const CHROMIUM = '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'];
const WIDE = { width: 1200, height: 900 };
const PHONE = { width: 375, height: 800 };

let browser: Browser;
let service: Service;

beforeAll(async () => {
  [browser, service] = await Promise.all([
    chromium.launch({
      executablePath: CHROMIUM,
      args: [...FLAGS, '--disable-component-update', '--disable-sync'],
    }),
    startService(),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

interface Visit {
  readonly page: Page;
  /** What the browser complained of. */
  readonly complaints: string[];
  /** Every address that the page asked for. */
  readonly requested: string[];
}

async function visit(options: BrowserContextOptions): Promise<Visit> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints: string[] = [];
  const requested: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
  page.on('request', (request) => requested.push(request.url()));
  const response = await page.goto(`${service.url}/docs`, { waitUntil: 'networkidle' });
  expect(response?.status()).toBe(200);
  return { page, complaints, requested };
}

/** Runs in the page. */
const ask = <T>(page: Page, expression: string): Promise<T> => page.evaluate(expression) as Promise<T>;

const views: readonly (readonly [string, BrowserContextOptions])[] = [
  ['wide and light', { viewport: WIDE, colorScheme: 'light' }],
  ['wide and dark', { viewport: WIDE, colorScheme: 'dark' }],
  ['a phone, light', { viewport: PHONE, colorScheme: 'light', isMobile: true }],
  ['a phone, dark', { viewport: PHONE, colorScheme: 'dark', isMobile: true }],
];

/** Contrast of an element's text on the page's ground, as WCAG counts it. */
const CONTRASTS = `(() => {
  const luminance = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).map((c) => c / 255).map((c) => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = luminance(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll('h1, h1 small, h2, p, li code, li a, li div, pre, pre a')].map((element) => {
    const ink = luminance(getComputedStyle(element).color);
    return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  });
})()`;

describe.each(views)('%s', (_name, options) => {
  test('shows every operation within the width, with contrast, and asks nobody else', async () => {
    const { page, complaints, requested } = await visit(options);
    const rows = await page.locator('li').allInnerTexts();
    expect(rows.length).toBe(ROUTES.length);
    for (const { spec } of ROUTES) {
      const row = rows.find(
        (text) => text.split(/\s+/).slice(0, 2).join(' ') === `${spec.method.toUpperCase()} ${spec.path}`,
      );
      expect(row, `${spec.method} ${spec.path}`).toContain(spec.summary.replaceAll('`', ''));
    }
    const [content, width] = await ask<[number, number]>(page, '[document.documentElement.scrollWidth, innerWidth]');
    expect(content, 'no sideways scrolling').toBeLessThanOrEqual(width);
    expect(width).toBe(options.viewport?.width);
    expect(Math.min(...(await ask<number[]>(page, CONTRASTS)))).toBeGreaterThanOrEqual(4.5);
    const isDark = await ask<boolean>(page, `getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'`);
    expect(isDark).toBe(options.colorScheme === 'dark');
    expect(complaints).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(`${service.url}/`))).toEqual([]);
    await page.context().close();
  });
});

test('an operation leads to its part of the text, and from there to a schema', async () => {
  const { page, complaints } = await visit({ viewport: WIDE });
  await page.locator('li', { hasText: 'Send events' }).locator('a').first().click();
  const shown = (selector: string) => page.locator(selector).first().boundingBox();
  expect((await shown(':target'))?.y).toBeLessThan(WIDE.height / 2);
  expect(await page.locator(':target').textContent()).toContain('post:');
  await page
    .locator('pre a', { hasText: /\/SendEvents$/ })
    .first()
    .click();
  expect(await page.locator(':target').textContent()).toBe('SendEvents:');
  expect((await shown(':target'))?.y).toBeLessThan(WIDE.height / 2);
  const targets = await ask<string[]>(
    page,
    `[...document.querySelectorAll('a[href^="#"]')].map((a) => a.getAttribute('href').slice(1)).filter((id) => document.getElementById(id) === null)`,
  );
  expect(targets, 'links to nowhere').toEqual([]);
  expect(complaints).toEqual([]);
  await page.context().close();
});
