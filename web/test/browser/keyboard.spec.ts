// Everything works without a mouse.
import { accessible, expect, shows, signIn, test } from './page.ts';

test('keyboard alone leads from the list to a decision', async ({ page, server }) => {
  for (const name of ['A', 'B']) await server.create(`approve ${name}`);
  await signIn(page, server);
  await shows(page, 'Approve…');
  const open = page.locator('.it.on');
  const first = String(await open.getAttribute('id'));
  await page.keyboard.press('j');
  await expect(open).not.toHaveAttribute('id', first);
  await page.keyboard.press('k');
  await expect(open).toHaveAttribute('id', first);
  await page.keyboard.press('a');
  await shows(page, 'Run this once?');
  await expect(
    page.locator('dialog').getByRole('button', { name: 'Approve and run' }),
  ).toBeEnabled();
  await page.keyboard.press('Control+Enter');
  await shows(page, 'Approved.');
  expect((await server.call(first.slice(3))).decision?.approved).toBe(true);
});

test('no single key decides', async ({ page, server }) => {
  const session = await server.create('approve A');
  await signIn(page, server);
  await shows(page, 'Approve…');
  for (const key of ['a', 'Escape', 'd', 'Escape', 'Enter', 'x', 'c', 'c', 'u', 'y'])
    await page.keyboard.press(key);
  await page.keyboard.press('a');
  await shows(page, 'Run this once?');
  await expect(page.getByRole('button', { name: 'Approve and run' })).toBeEnabled();
  // The dialog begins on its heading: Enter and Space press nothing.
  await page.keyboard.press('Enter');
  await page.keyboard.press('Space');
  const call = await server.openCall(session.id);
  expect(['waiting', 'processing']).toContain(call.status);
  await page.keyboard.press('Escape');
  await expect(page.locator('dialog')).toHaveCount(0);
});

test('each key of the inbox does what the list of shortcuts says', async ({ page, server }) => {
  const sessions = [await server.create('approve A'), await server.create('approve B')];
  await server.create('ask Where?');
  await signIn(page, server);
  await shows(page, 'Approve…');
  const dialog = page.locator('dialog');
  await page.keyboard.press('?');
  await shows(dialog, 'Keyboard');
  const keys = await dialog.locator('dt').allInnerTexts();
  for (const key of ['j', 'k', 'a', 'd', 'e', 'c', 'r', 'x', 'o', 'u', 'y'])
    expect(keys.map((one) => one.trim())).toContain(key);
  await accessible(page, 'shortcuts');
  await page.keyboard.press('Escape');
  await expect(dialog).toHaveCount(0);

  await page.keyboard.press('d');
  await shows(dialog, 'Deny dangerous?');
  await page.keyboard.press('Escape');
  await page.keyboard.press('e');
  await expect(page.getByLabel('action', { exact: true })).toBeVisible();
  await page.keyboard.press('e');
  await expect(page.getByLabel('action', { exact: true })).toHaveCount(0);
  await page.keyboard.press('c');
  await shows(page, 'Claimed for 10 minutes.');
  await page.keyboard.press('c');
  await shows(page, 'Released.');
  await page.keyboard.press('x');
  await shows(page, '1 marked · dangerous');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await shows(page, '2 marked · dangerous');
  await page.getByRole('button', { name: 'Stop selecting' }).press('Enter');
  await page.keyboard.press('r');
  await shows(dialog, 'Ask other people instead?');
  await page.keyboard.press('Escape');
  await page.keyboard.press('o');
  await expect(page).toHaveURL(/\/sessions\/ses_/);
  expect(sessions.map((one) => `${server.url}/sessions/${one.id}`)).toContain(page.url());
  await page.keyboard.press('g');
  await page.keyboard.press('i');
  await expect(page).toHaveURL(`${server.url}/`);
});

test('Tab reaches the buttons of a decision in the order of reading', async ({ page, server }) => {
  await server.create('approve A');
  await signIn(page, server, '/?for=mine');
  await shows(page, 'Approve…');
  await page.goto(`${server.url}/`);
  await shows(page, 'Approve…');
  await page.keyboard.press('Tab');
  await expect(page.getByText('Skip to the content')).toBeFocused();
  const reached: string[] = [];
  for (let step = 0; step < 60 && !reached.includes('Approve…'); step += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate(() => {
      const one = document.activeElement as HTMLElement;
      const style = getComputedStyle(one);
      return { text: one.innerText.trim(), ring: style.outlineStyle !== 'none' };
    });
    expect(focused.ring, `${focused.text} shows that it has the focus`).toBe(true);
    reached.push(focused.text);
  }
  expect(reached).toContain('Approve…');
  expect(reached.indexOf('Edit')).toBeLessThan(reached.indexOf('Approve…'));
});

test('keyboard alone writes a prompt', async ({ page, server }) => {
  const session = await server.create();
  await signIn(page, server, `/sessions/${session.id}`);
  await expect(page.getByLabel('Message', { exact: true })).toBeVisible();
  await page.keyboard.press('/');
  await expect(page.getByLabel('Message', { exact: true })).toBeFocused();
  await page.keyboard.insertText('hello there');
  await page.keyboard.press('Control+Enter');
  await shows(page, 'You said: hello there');
});

test('keys of the timeline do what the list of shortcuts says', async ({ page, server }) => {
  const session = await server.create('deploy shop');
  await server.result((await server.openCall(session.id)).id, { version: 2 });
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt?wait=20`, {
    text: 'deploy blog',
  });
  await signIn(page, server, `/sessions/${session.id}/timeline`);
  const picture = page.getByRole('group', { name: 'Picture of the session' });
  await expect(picture).toBeVisible();
  const details = page.getByLabel('Details');
  await expect(details).toContainText('blog');
  await page.keyboard.press('ArrowLeft');
  await expect(details).toContainText('shop');
  await page.keyboard.press('ArrowRight');
  await expect(details).toContainText('blog');
  await page.keyboard.press('Enter');
  await expect(details).toBeFocused();
  const width = async (): Promise<number> =>
    (await picture.locator('svg').first().boundingBox())?.width ?? 0;
  const before = await width();
  await page.keyboard.press('+');
  await expect.poll(width).toBeGreaterThan(before);
  await page.keyboard.press('0');
  await expect.poll(width).toBe(before);
  // Enter presses the button that has the focus, and follows the link.
  const scale = page.getByRole('button', { name: 'To scale' });
  await scale.focus();
  await page.keyboard.press('Enter');
  await expect(scale).toHaveAttribute('aria-pressed', 'true');
  await page.getByRole('link', { name: 'Mail', exact: true }).last().focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(`${server.url}/sessions/${session.id}/mail`);
  await page.keyboard.press('[');
  await page.keyboard.press('[');
  await expect(page).toHaveURL(`${server.url}/sessions/${session.id}/calls`);
  await page.keyboard.press('u');
  await expect(page).toHaveURL(`${server.url}/sessions`);
});

test('single letters can be switched off', async ({ page, server }) => {
  await server.create('approve A');
  await signIn(page, server, '/you');
  await page.getByLabel('Single letters are shortcuts').uncheck();
  await page.goto(server.url);
  await shows(page, 'Approve…');
  for (const key of ['a', 'd', 'x', '?']) await page.keyboard.press(key);
  await expect(page.locator('dialog')).toHaveCount(0);
  await expect(page.getByText('1 marked')).toHaveCount(0);
  await page.goto(`${server.url}/you`);
  await page.getByLabel('Single letters are shortcuts').check();
  await page.goto(server.url);
  await shows(page, 'Approve…');
  await page.keyboard.press('a');
  await shows(page, 'Run this once?');
});
