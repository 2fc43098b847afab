// Lists that continue: tasks of old sessions, the mail of a project, the menu of a row on a phone.
import type { Locator } from '@playwright/test';
import { accessible, button, expect, PHONE, shows, signIn, test } from './page.ts';

test('tasks of sessions beyond the first page are shown when asked for', async ({
  page,
  server,
}) => {
  await server.create('background report half', { title: 'the old parent' });
  for (let made = 0; made < 205; made += 1) await server.create(undefined, { title: `s ${made}` });
  await signIn(page, server, '/tasks');
  await shows(page, /The newest 200 sessions have none/);
  await button(page, 'Show older tasks').click();
  await shows(page, 'the old parent');
  await shows(page, 'report half');
  await expect(button(page, 'Show older tasks')).toHaveCount(0);
  await accessible(page, 'older tasks');
});

test('chips count running and failed sessions of the whole project, live', async ({
  page,
  server,
  provider,
}) => {
  const writes = { agentID: 'writer' };
  // Behind the first page, so that the page has not read it.
  provider.refuses = true;
  await server.create('write', { ...writes, title: 'an old failure' });
  for (let made = 0; made < 205; made += 1) await server.create(undefined, { title: `s ${made}` });
  await signIn(page, server, '/sessions');
  const chip = (name: string): Locator => page.locator('.fl a.f', { hasText: name });
  await expect(chip('All').locator('.num')).toHaveText('206');
  await expect(chip('Failed').locator('.num')).toHaveText('1');
  await expect(chip('Running').locator('.num')).toHaveCount(0);
  await server.create('write', writes);
  await expect(chip('Failed').locator('.num')).toHaveText('2');
  await expect(chip('All').locator('.num')).toHaveText('207');
  provider.refuses = false;
  const { id } = await server.create('write', writes, 0);
  await expect(chip('Running').locator('.num')).toHaveText('1');
  provider.release(1000);
  await server.atRest(id);
  await expect(chip('Running').locator('.num')).toHaveCount(0);
  await expect(chip('Failed').locator('.num')).toHaveText('2');
});

test('list is narrowed to the sessions of one agent, in the address', async ({ page, server }) => {
  await server.create(undefined, { title: 'One of demo' });
  await server.create(undefined, { title: 'One of writer', agentID: 'writer' });
  await signIn(page, server, '/sessions?agent=writer');
  await shows(page, 'One of writer');
  const rows = page.locator('.body tbody tr');
  await expect(rows).toHaveCount(1);
  await accessible(page, 'a list of one agent');
  await page.locator('.fl a.f', { hasText: 'writer' }).click();
  await expect(page).toHaveURL(`${server.url}/sessions`);
  await expect(rows).toHaveCount(2);
  await rows.getByRole('link', { name: 'demo', exact: true }).click();
  await expect(page).toHaveURL(`${server.url}/sessions?agent=demo`);
  await expect(rows).toHaveCount(1);
  await shows(page, 'One of demo');
  await page.goto(`${server.url}/sessions?agent=nobody`);
  await shows(page, 'No session matches “nobody”');
});

test('mail of a project is shown by conversation, with answers below', async ({ page, server }) => {
  const [one, two] = [
    await server.create(undefined, { alias: 'buyer' }),
    await server.create(undefined, { alias: 'legal' }),
  ];
  const send = (body: Record<string, unknown>): Promise<{ id: string }> =>
    server.api.ok('POST', '/api/mail', body);
  const first = await send({ to: 'legal', from: one.id, text: 'May we ask for 60 days?' });
  await send({ to: 'buyer', from: two.id, text: 'Yes, you may.', replyTo: first.id });
  await send({ to: 'buyer', text: 'Another matter.' });
  await signIn(page, server, '/mail');
  await shows(page, 'May we ask for 60 days?');
  const thread = page.locator('.thread').filter({ hasText: '60 days' });
  await expect(thread.locator('.ml')).toHaveText([/May we ask/, /Yes, you may/]);
  await expect(thread.locator('.ml').nth(1)).toHaveClass(/deep-1/);
  await shows(thread, '2 in this conversation');
  await expect(page.locator('.thread')).toHaveCount(2);
  await shows(page, 'Another matter.');
  // What comes is shown without a reload.
  await send({ to: 'legal', from: one.id, text: 'It comes live.' });
  await shows(page, 'It comes live.');
  await accessible(page, 'mail of a project');
});

test('graph of much mail shows the busiest and opens the rest', async ({ page, server }) => {
  const hub = await server.create(undefined, { alias: 'hub' });
  for (let made = 0; made < 14; made += 1) {
    await server.create(undefined, { alias: `r${made}` });
    await server.api.ok('POST', '/api/mail', { to: `r${made}`, from: hub.id, text: `to ${made}` });
  }
  await signIn(page, server, '/mail');
  const names = page.locator('.gr .name');
  await expect(names).toHaveCount(9);
  await shows(page.locator('.gr'), '7 others');
  await accessible(page, 'a graph with others');
  await button(page, 'Show all 15').click();
  await expect(names).toHaveCount(15);
  await accessible(page, 'a graph with all');
});

test('past state has a timeline that ends there', async ({ page, server }) => {
  const session = await server.create('deploy shop');
  const { seq } = await server.session(session.id);
  await server.result((await server.openCall(session.id)).id, 'live');
  await server.atRest(session.id);
  await signIn(page, server, `/sessions/${session.id}?at=${seq}`);
  await page.locator('.tabs').getByText('Timeline').click();
  await expect(page).toHaveURL(new RegExp(`/timeline\\?at=${seq}$`));
  await shows(page, 'This is the past.');
  const woken = page.locator('dt', { hasText: 'Woken' }).locator('+ dd');
  await expect(woken).toHaveText('not yet');
  await accessible(page, 'timeline of a past state');
  await page.goto(`${server.url}/sessions/${session.id}/timeline`);
  await expect(woken).toContainText('once');
});

test.describe('on a phone', () => {
  test.use(PHONE);

  test('menu of a row ends and deletes a session', async ({ page, server }) => {
    await server.create('hello', { title: 'a finished talk' });
    const kept = await server.create('hello', { title: 'a kept talk' });
    await signIn(page, server, '/sessions');
    const menu = page.getByLabel('More for a finished talk');
    await menu.tap();
    expect(page.url()).toBe(`${server.url}/sessions`);
    await accessible(page, 'menu of a row');
    await button(page, 'Delete…').tap();
    await shows(page, 'Delete “a finished talk”?');
    await button(page, 'Delete the session').tap();
    await shows(page, 'Deleted.');
    await expect(page.locator('.ls .r')).toHaveCount(1);
    await page.getByLabel('More for a kept talk').tap();
    await button(page, 'End…').tap();
    await button(page, 'End the session').tap();
    await shows(page, 'Ended.');
    expect((await server.session(kept.id)).status).toBe('completed');
  });
});

test('titles of sessions are readable on a narrow desk', async ({ page, server }) => {
  await server.create('approve A', { title: 'The quarterly review of suppliers' });
  await signIn(page, server);
  for (const width of [820, 900, 1080, 1081, 1180, 1440]) {
    await page.setViewportSize({ width, height: 700 });
    await page.goto(`${server.url}/sessions`);
    const title = page.locator('td', { hasText: 'The quarterly review' });
    expect((await title.boundingBox())?.width, String(width)).toBeGreaterThan(120);
    const menu = await page.getByLabel('More for The quarterly review').boundingBox();
    expect((menu?.x ?? width) + (menu?.width ?? 0), String(width)).toBeLessThanOrEqual(width);
  }
});
