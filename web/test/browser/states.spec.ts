// What a session offers in each of its states: retry, end, reopen, delete, stop by a key.
import type { Page } from '@playwright/test';
import { accessible, button, expect, once, shows, signIn, test } from './page.ts';
import { PIECES } from './provider.ts';

const desk = (page: Page): Page | ReturnType<Page['locator']> => page.locator('.sh');

test('failed turn is retried from the conversation and from the list', async ({
  page,
  provider,
  server,
}) => {
  provider.refuses = true;
  const sessions = [
    await server.create('write', { agentID: 'writer', title: 'The first' }),
    await server.create('write', { agentID: 'writer', title: 'The second' }),
  ];
  await signIn(page, server, `/sessions/${sessions[0]?.id}`);
  await shows(page, 'The test refuses this.');
  await expect(page.locator('.sh .chip')).toHaveText('Failed');
  await accessible(page, 'a failed turn');
  provider.refuses = false;
  provider.says = () => ['It worked.'];
  await button(page, 'Retry').click();
  await shows(page, 'The model is asked again.');
  await shows(page, 'It worked.');
  await expect(page.locator('.sh .chip')).toHaveText('Idle');
  await expect(button(page, 'Retry')).toHaveCount(0);
  await page.goto(`${server.url}/sessions`);
  const row = page.locator('.body tbody tr').filter({ hasText: 'The second' });
  await expect(row).toContainText('The test refuses this.');
  await button(page, 'Retry').click();
  await expect(row).toContainText('Idle');
  await server.atRest(String(sessions[1]?.id));
  expect(await server.lastText(String(sessions[1]?.id))).toBe('It worked.');
});

test('session is ended, reopened by a message and deleted', async ({ page, server }) => {
  const session = await server.create('approve A', { title: 'The session' });
  const call = await server.openCall(session.id);
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'Asleep for');
  const choose = async (name: string): Promise<void> => {
    await desk(page).locator('summary[aria-label^=More]').click();
    await desk(page).getByRole('button', { name }).click();
  };
  await choose('End…');
  await shows(page, 'End this session?');
  await accessible(page, 'ending a session');
  expect((await server.call(call.id)).status).toBe('waiting');
  await button(page, 'End the session').click();
  await shows(page, 'This session has ended. A message reopens it.');
  expect((await server.call(call.id)).status).toBe('cancelled');
  await page.getByLabel('Message', { exact: true }).fill('are you there?');
  await button(page, 'Send').click();
  await shows(page, 'You said: are you there?');
  await once(page, 'You said: are you there?');
  expect((await server.session(session.id)).status).toBe('active');
  await choose('Delete…');
  await shows(page, 'are deleted for good');
  await button(page, 'Delete the session').click();
  await expect(page).toHaveURL(`${server.url}/sessions`);
  await shows(page, 'No sessions yet');
  expect((await server.api.call('GET', `/api/sessions/${session.id}`)).status).toBe(404);
});

test('key stops the turn, and tabs follow the brackets', async ({ page, provider, server }) => {
  const session = await server.create(undefined, { agentID: 'writer' });
  await signIn(page, server, `/sessions/${session.id}`);
  await page.getByLabel('Message', { exact: true }).fill('go');
  await page.keyboard.press('Control+Enter');
  await shows(page, String(PIECES[0]).trim());
  // In the field it is a letter.
  await page.getByLabel('Message', { exact: true }).press('s');
  await expect(page.getByLabel('Message', { exact: true })).toHaveValue('s');
  await page.keyboard.press('Escape');
  await page.keyboard.press('s');
  await shows(page, 'Stopped.');
  expect((await server.session(session.id)).activity.type).toBe('idle');
  provider.release(100);
  await page.keyboard.press(']');
  await expect(page).toHaveURL(/\/timeline$/);
  await page.keyboard.press('[');
  await page.keyboard.press('[');
  await expect(page).toHaveURL(/\/mail$/);
});

test('tree of tasks is walked with arrows', async ({ page, server }) => {
  const session = await server.create('background hello', { title: 'The parent' });
  await signIn(page, server, `/sessions/${session.id}/tasks`);
  const tree = page.getByRole('tree');
  await expect(tree).toBeVisible();
  const items = tree.getByRole('treeitem');
  await expect.poll(() => items.count()).toBeGreaterThan(1);
  await tree.locator('a').first().focus();
  await page.keyboard.press('ArrowDown');
  const child = items.nth(1).locator('a').first();
  await expect(child).toBeFocused();
  const to = String(await child.getAttribute('href'));
  await page.keyboard.press('ArrowUp');
  await expect(tree.locator('a').first()).toBeFocused();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(server.url + to);
});
