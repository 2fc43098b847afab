// What tests of the page share: a server, people who are signed in, what every view must be.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import {
  test as base,
  expect,
  type Browser,
  type BrowserContext,
  type Locator,
  type Page,
} from '@playwright/test';
import { Provider } from './provider.ts';
import { Server } from './server.ts';

export { expect } from '@playwright/test';
export type { Page } from '@playwright/test';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The demo agents, and an agent `writer` whose model is the test's Provider. */
export const CONFIG = (port: number): string => `
[server]
demo = true

[[model]]
id = "main"
kind = "openai-chat"
base_url = "http://127.0.0.1:${port}/v1"
model = "m"
api_key_env = "MOCK_KEY"

[[agent]]
id = "writer"
model = "main"
`;

interface Fixtures {
  /** More of the configuration, and files beside it. */
  config: string;
  files: Record<string, string>;
  /** Whether the store is verified at the end. */
  verified: boolean;
  provider: Provider;
  server: Server;
  /** Another person's browser. */
  other: BrowserContext;
  /** What the server may refuse as a mistake of the page (400, 405, 500), and the browser as a
   * breach of the policy: in most tests nothing. */
  faults: RegExp | null;
  faultless: void;
}

const BREACH = /Content Security Policy|Trusted|violates|Refused to/;

export const test = base.extend<Fixtures>({
  faults: [null, { option: true }],
  faultless: [
    async ({ context, faults }, use) => {
      const found: string[] = [];
      context.on('response', (answer) => {
        if ([400, 405, 500].includes(answer.status()))
          found.push(`${answer.status()} ${answer.request().method()} ${answer.url()}`);
      });
      context.on('weberror', (error) => found.push(String(error.error())));
      context.on('console', (line) => {
        if (line.type() === 'error' && BREACH.test(line.text())) found.push(line.text());
      });
      await use();
      expect(found.filter((one) => !faults?.test(one))).toEqual([]);
    },
    { auto: true },
  ],
  config: ['', { option: true }],
  files: [{}, { option: true }],
  verified: [true, { option: true }],
  // eslint-disable-next-line no-empty-pattern -- Playwright wants a pattern
  provider: async ({}, use) => {
    const provider = new Provider();
    await provider.start();
    await use(provider);
    provider.stop();
  },
  server: async ({ config, files, verified, provider }, use) => {
    const server = new Server(CONFIG(provider.port) + config, files, { MOCK_KEY: 'sk-mock' });
    try {
      await server.start();
      await use(server);
      await server.finish(verified);
    } finally {
      await server.clean();
    }
  },
  other: async ({ browser }, use) => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await use(context);
    await context.close();
  },
});

/** Signs a person in with a link, and returns when the page is there. */
export async function signIn(
  page: Page,
  server: Server,
  path = '/',
  name = 'alice',
  role = 'admin',
): Promise<void> {
  const code = (await server.link(name, role)).url.split('#')[1] ?? '';
  await page.goto(`${server.url}/sign-in?next=${encodeURIComponent(path)}#${code}`);
  await page.getByRole('button', { name: `Sign in as ${name}` }).click();
  await page.waitForURL(server.url + path);
  await expect(page.locator('#app > *').first()).toBeAttached();
}

export const button = (within: Page | Locator, name: string): Locator =>
  within.getByRole('button', { name, exact: true });

export const shows = (
  page: Page | Locator,
  text: string | RegExp,
  timeout = 20_000,
): Promise<void> =>
  expect(page.getByText(text).filter({ visible: true }).first()).toBeVisible({ timeout });

/** All text that is seen. */
export const textOf = (page: Page): Promise<string> => page.locator('body').innerText();

/** A text is in the conversation once, and is still when the page has caught up. */
export async function once(page: Page, text: string): Promise<void> {
  const times = async (): Promise<number> =>
    (await page.locator('.th').innerText()).split(text).length - 1;
  await expect.poll(times, text).toBe(1);
}

/** What a button has copied. */
export const copied = (page: Page): Promise<string> =>
  page.evaluate(() => navigator.clipboard.readText());

/** Nothing moves but what always moves: what fades in has less contrast until it is there. */
export async function still(page: Page): Promise<void> {
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every(
        (one) =>
          one.playState !== 'running' || one.effect?.getComputedTiming().iterations === Infinity,
      ),
  );
}

/** axe finds nothing (`rule`: only this rule is checked). The debugger runs it: the policy of the page lets nothing foreign run. */
export async function accessible(page: Page, name: string, rule = ''): Promise<void> {
  await still(page);
  const session = await page.context().newCDPSession(page);
  const only = rule ? { runOnly: [rule] } : {};
  const { result } = await session.send('Runtime.evaluate', {
    expression: `${AXE};axe.run(document, ${JSON.stringify({ resultTypes: ['violations'], ...only })}).then((found) =>
      JSON.stringify(found.violations.map((one) =>
        one.id + ': ' + one.nodes.map((node) => node.html).join(' | '))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  expect(JSON.parse(String(result.value)), `axe: ${name}`).toEqual([]);
}

/** A browser of its own kind: a phone, or one that runs no scripts. */
export const PHONE = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
  isMobile: true,
  deviceScaleFactor: 2,
};

export async function within<T>(
  browser: Browser,
  options: Parameters<Browser['newContext']>[0],
  act: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext(options);
  try {
    return await act(await context.newPage());
  } finally {
    await context.close();
  }
}
