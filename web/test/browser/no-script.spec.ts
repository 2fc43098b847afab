// A browser that runs no scripts: the list, the sign-in by a pasted link, one decision.
import { expect, test, textOf, within, type Page } from './page.ts';

/** Without script the text is in `noscript` elements, which Playwright's own locators pass over. */
const shows = (page: Page, text: string): Promise<void> =>
  expect.poll(() => textOf(page)).toContain(text);

test('without script the list and the decision work', async ({ browser, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  const link = await server.link('bob', 'answer');
  await within(browser, { javaScriptEnabled: false }, async (page) => {
    await page.goto(`${server.url}/sign-in?next=/a/${call.id}`);
    await page.locator('#link').fill(link.url);
    await page.locator('#in').click();
    await shows(page, 'Sign in as bob');
    await page.locator('button[name=confirm]').click();
    await shows(page, call.message ?? '');
    await page.goto(`${server.url}/`);
    await shows(page, 'Waiting for you: 1');
    await page.goto(`${server.url}/a/${call.id}`);
    await page.locator('a[href$="?confirm=approve"]').click();
    await shows(page, 'Run this once?');
    await shows(page, call.message ?? '');
    await page.locator('.actions a').click();
    await page.locator('a[href$="?confirm=deny"]').click();
    await shows(page, 'Nothing runs.');
    await page.goto(`${server.url}/a/${call.id}?confirm=approve`);
    // The file of the style is loaded: the policy allows no inline style.
    const button = page.locator('button[value=approve]');
    expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44);
    await button.click();
    await shows(page, 'Approved by bob');
  });
  await server.atRest(session.id);
  expect((await server.call(call.id)).receipt?.by.name).toBe('bob');
});

test('without script errors are pages that lead on', async ({ browser, server }) => {
  const link = await server.link('bob', 'answer');
  await within(browser, { javaScriptEnabled: false }, async (page) => {
    await page.goto(`${server.url}/sign-in`);
    await page.locator('#link').fill(link.url);
    await page.locator('#in').click();
    await page.locator('button[name=confirm]').click();
    for (const [path, status, says] of [
      ['/a/pnd_x', 404, /does not exist|incomplete/],
      ['/nowhere', 404, /incomplete|does not exist/],
      ['/api/sessions/ses_AAAAAAE', 404, /not found|does not exist/i],
    ] as const) {
      const answer = await page.goto(server.url + path);
      expect(answer?.status(), path).toBe(status);
      expect(answer?.headers()['content-type'], path).toContain('text/html');
      await expect(page.locator('body'), path).toContainText(says);
      await expect(page.locator('a[href]').first(), path).toBeVisible();
    }
  });
});
