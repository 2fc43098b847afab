// A phone: one thumb, no mouse, no keyboard.
import { accessible, button, expect, PHONE, shows, signIn, test } from './page.ts';

test.use(PHONE);

test('call is approved by touch from the list on', async ({ page, server }) => {
  const session = await server.create('approve A');
  await server.create('approve B');
  await signIn(page, server);
  const item = page.locator('.it').filter({ hasText: '"A"' });
  await expect(item).toBeVisible();
  // List and detail are separate screens.
  await expect(page.locator('article')).toHaveCount(0);
  await item.tap();
  await shows(page, '1 of 2');
  const approve = button(page, 'Approve…');
  await expect(approve).toBeInViewport();
  await expect(button(page, 'Deny…')).toBeInViewport();
  await approve.tap();
  const send = button(page, 'Approve and run');
  await expect(send).toBeInViewport();
  // "Back" lies under the thumb that opened the sheet, and "Approve and run" where nothing was.
  const [before, run] = await Promise.all([page.locator('.bar').boundingBox(), send.boundingBox()]);
  expect((run?.y ?? 0) + (run?.height ?? 0)).toBeLessThanOrEqual((before?.y ?? 0) + 1);
  await accessible(page, 'confirmation on a phone');
  await send.tap();
  await shows(page, 'Approved.');
  await server.atRest(session.id);
  expect(await server.lastText(session.id)).toContain('dangerous A');
});

test('targets of a phone are large enough', async ({ page, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  await server.create('deploy B', { title: 'Deploy the shop' });
  await signIn(page, server);
  const tabs = ['', '/tasks', '/mail'].map((tab) => `/sessions/${session.id}${tab}`);
  const operate = ['', '/rules', '/deliveries', '/access', '/audit'].map((one) => `/operate${one}`);
  const lists = ['/sessions', '/tasks', '/mail', '/you'];
  for (const path of ['/', `/?open=${call.id}`, ...lists, ...tabs, ...operate]) {
    await page.goto(server.url + path);
    await shows(page, /Inbox|Sessions/);
    await expect(page.locator('.skel')).toHaveCount(0);
    const small = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('button, .btn, .tabbar a, summary, .it')]
        .filter((one) => one.checkVisibility() && !one.closest('p, .exec footer, .vh'))
        .filter((one) => one.getBoundingClientRect().height > 0)
        .map((one) => ({
          text: one.innerText.trim() || String(one.getAttribute('aria-label')),
          height: Math.round(one.getBoundingClientRect().height),
        }))
        .filter((one) => one.height < 44),
    );
    expect(small, path).toEqual([]);
  }
});

test('message is written by touch and the tabs lead through the page', async ({ page, server }) => {
  const session = await server.create('hello');
  await signIn(page, server);
  await page.getByRole('navigation', { name: 'Tabs' }).getByText('Sessions').tap();
  await page.locator(`a[href="/sessions/${session.id}"]`).first().tap();
  await shows(page, 'You said: hello');
  const field = page.getByLabel('Message', { exact: true });
  await field.tap();
  // Smaller letters make a phone zoom in.
  expect(await field.evaluate((one) => parseFloat(getComputedStyle(one).fontSize))).toBe(16);
  await field.fill('from a phone');
  await button(page, 'Send').tap();
  await shows(page, 'You said: from a phone');
  await page.getByRole('link', { name: 'Timeline' }).tap();
  await shows(page, 'Fold sleeps');
  await page.locator('.back').tap();
  await expect(page).toHaveURL(`${server.url}/sessions`);
});

test('project is chosen on a phone', async ({ page, server }) => {
  await server.create('hello', { title: 'In default' });
  await server.create('hello', { project: 'second', title: 'In second' });
  await signIn(page, server, '/sessions');
  const row = (title: string) => page.locator('.rw').filter({ hasText: title });
  await expect(row('In default')).toBeVisible();
  const choice = page.locator('.top').getByLabel('Project');
  const box = await page.locator('.top .proj').boundingBox();
  expect(box?.height).toBeGreaterThanOrEqual(44);
  await choice.selectOption('second');
  await expect(row('In second')).toBeVisible();
  await expect(row('In default')).toHaveCount(0);
  await accessible(page, 'sessions of another project on a phone');
  await page.goto(`${server.url}/tasks`);
  await expect(choice).toHaveValue('second');
});

test('session is found on a phone, and every view is reached', async ({ page, server }) => {
  await server.create('hello', { title: 'The invoice' });
  await server.create('hello', { title: 'Something else' });
  await signIn(page, server);
  await page.getByRole('link', { name: 'Search sessions' }).tap();
  await expect(page.getByRole('searchbox')).toBeFocused();
  await page.goto(`${server.url}/sessions`);
  const row = (title: string) => page.locator('.rw').filter({ hasText: title });
  await expect(row('Something else')).toBeVisible();
  await button(page, 'Search').tap();
  await expect(page.getByRole('searchbox')).toBeFocused();
  await page.getByRole('searchbox').fill('invoice');
  await expect(row('Something else')).toHaveCount(0);
  await expect(row('The invoice')).toBeVisible();
  await accessible(page, 'search on a phone');
  for (const name of ['Tasks', 'Mail', 'Rules', 'Deliveries', 'Nodes', 'Access', 'Audit']) {
    await page.goto(`${server.url}/you`);
    await page
      .getByRole('navigation', { name: 'More' })
      .getByRole('link', { name, exact: true })
      .tap();
    await expect(page.locator('.top .tt')).toHaveText(name);
  }
});

test('mail and tasks of a session are begun by touch', async ({ page, server }) => {
  const session = await server.create('background hello', { title: 'The parent' });
  await server.create(undefined, { alias: 'desk' });
  await signIn(page, server, `/sessions/${session.id}/tasks`);
  await expect(page.getByRole('tree')).toBeVisible();
  await button(page, 'New task').tap();
  await page.getByLabel('What it shall do').fill('say it again');
  await button(page, 'Start the task').tap();
  await shows(page.getByRole('tree'), 'say it again');
  await page.goto(`${server.url}/mail`);
  await button(page, 'Write').first().tap();
  await page.getByLabel('To').fill('desk');
  await page.getByText('Options').tap();
  await page.getByLabel('Text').fill('Hello from a phone');
  const send = button(page, 'Send the mail');
  await send.scrollIntoViewIfNeeded();
  await send.tap();
  await shows(page, 'Sent to 1 session.');
  await shows(page.locator('.ml'), 'Hello from a phone');
});

test('time that is tapped is said exactly', async ({ page, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  await signIn(page, server, `/?open=${call.id}`);
  const EXACT = /\w{3}, \d+ \w{3,4} \d{4}(,| at) \d\d:\d\d:\d\d \S+/;
  const toast = page.locator('.toast').last();
  for (const [path, within] of [
    [`/?open=${call.id}`, '.meta'],
    [`/sessions/${session.id}`, '.nm'],
    [`/sessions/${session.id}`, '.night'],
  ] as const) {
    await page.goto(server.url + path);
    await page.locator(`${within} time`).first().tap();
    await expect(toast, within).toHaveText(EXACT);
  }
  await server.decide(call, true);
  await page.goto(`${server.url}/?open=${call.id}`);
  await page.locator('.dh time').tap();
  await expect(toast).toHaveText(EXACT);
});

test('call is claimed and released on a phone', async ({ page, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  await signIn(page, server, `/?open=${call.id}`);
  const more = page.locator('summary[aria-label^=More]');
  await more.tap();
  await button(page, 'Claim').tap();
  await shows(page, 'Claimed for 10 minutes.');
  expect((await server.call(call.id)).status).toBe('processing');
  await more.tap();
  await button(page, 'Release').tap();
  await shows(page, 'Released.');
  expect((await server.call(call.id)).status).toBe('waiting');
});
