// Without a connection: tries, the pause, what is kept, several tabs.
import { button, expect, once, shows, signIn, test, textOf, type Page } from './page.ts';

/** How many sessions the browser keeps. Opening a database that does not exist would make it. */
const KEPT = `indexedDB.databases().then((all) => all.length === 0 ? 0 : new Promise((done) => {
  const opened = indexedDB.open('dormouse');
  opened.onerror = () => done(-1);
  opened.onsuccess = () => {
    const db = opened.result;
    const count = db.transaction('sessions').objectStore('sessions').count();
    count.onsuccess = () => { db.close(); done(count.result) };
  };
}))`;

/** Whether the browser has the page for when there is no server: it gets it a moment after a sign-in. */
const WORKS = `caches.match('/index.html').then((kept) =>
  Boolean(kept && navigator.serviceWorker.controller))`;

/** Follows a link of the page, which loads nothing but what the view needs. */
const follow = (page: Page, path: string): Promise<void> =>
  page.locator(`a[href="${path}"]:visible`).first().click();

test('sessions are read without a server until sign-out', async ({ page, server }) => {
  const session = await server.create('deploy A', { title: 'Deploy the shop' });
  const call = await server.openCall(session.id);
  await signIn(page, server, '/sessions');
  await shows(page, 'Deploy the shop');
  await page.goto(`${server.url}/sessions/${session.id}`);
  await shows(page, 'Asleep');
  await expect.poll(() => page.evaluate(KEPT)).toBeGreaterThan(0);
  await follow(page, '/sessions');
  await shows(page, 'Waits for');
  await server.kill();
  await follow(page, `/sessions/${session.id}`);
  await shows(page, 'kept in this browser');
  await shows(page, 'Deploy the shop');
  await follow(page, '/tasks');
  await follow(page, '/sessions');
  await shows(page, 'Older sessions need the server.');
  await follow(page, `/sessions/${session.id}`);
  await shows(page, 'kept in this browser');
  await server.start();
  await server.result(call.id, 'live');
  await shows(page, '11 events', 60_000);
  await expect(page.getByText('kept in this browser')).toHaveCount(0);
  await page.goto(`${server.url}/you`);
  await button(page, 'Sign out').click();
  await page.waitForURL('**/sign-in');
  await expect.poll(() => page.evaluate(KEPT)).toBe(0);
  await expect.poll(() => page.evaluate(() => Object.keys(localStorage).join())).toBe('');
});

test('prompt written offline is kept and sent once under one key', async ({ page, server }) => {
  const session = await server.create('before');
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'You said: before');
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.url().includes('/prompt')) sent.push(String(request.headers()['idempotency-key']));
  });
  // The history is kept a second after it was shown.
  await expect.poll(() => page.evaluate(KEPT)).toBe(1);
  await expect.poll(() => page.evaluate(WORKS)).toBe(true);
  await server.kill();
  await page.getByLabel('Message', { exact: true }).fill('written offline');
  await button(page, 'Send').click();
  await shows(page, 'sends when connected');
  await page.getByLabel('Message', { exact: true }).fill('a draft');
  // It survives a reload of the page, which comes from the browser's cache.
  await page.reload();
  await shows(page, 'sends when connected');
  await expect(page.getByLabel('Message', { exact: true })).toHaveValue('a draft');
  await server.start();
  await shows(page, 'You said: written offline', 60_000);
  await expect(page.getByText('sends when connected')).toHaveCount(0);
  await once(page, 'You said: written offline');
  await expect(page.getByLabel('Message', { exact: true })).toHaveValue('a draft');
  expect(sent.length).toBeGreaterThanOrEqual(2);
  expect(new Set(sent).size).toBe(1);
});

test('answer that is lost on the way does not double the prompt', async ({ page, server }) => {
  const session = await server.create('before');
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'You said: before');
  // The server takes it; the page never hears so.
  await page.route(
    '**/prompt',
    async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
    },
    { times: 1 },
  );
  await page.getByLabel('Message', { exact: true }).fill('only once');
  await button(page, 'Send').click();
  await shows(page, 'You said: only once');
  await expect(page.getByText('sends when connected')).toHaveCount(0);
  await server.atRest(session.id);
  await once(page, 'You said: only once');
});

test('tries after 1, 2, 4, 8 and 16 s and then waits for a button', async ({ page, server }) => {
  const session = await server.create('before');
  await page.clock.install();
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'You said: before');
  const tries: string[] = [];
  await page.route(`**/api/sessions/${session.id}/events`, (route) => {
    tries.push(route.request().url());
    return route.abort('connectionrefused');
  });
  await server.kill();
  // The first failure is that of the open stream; then it tries five times.
  await expect(page.locator('.session .chip').filter({ hasText: 'As of' })).toBeVisible();
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 100);
  const from = tries.length;
  for (const [index, seconds] of [1, 2, 4, 8, 16].entries()) {
    await page.clock.runFor(seconds * 1000 - 900);
    expect(tries.length - from, `before ${seconds} s`).toBe(index);
    await page.clock.runFor(900);
    await expect.poll(() => tries.length - from, `after ${seconds} s`).toBe(index + 1);
    // The bar comes 2 s after the connection was lost.
    if (index === 0 || index === 4) continue;
    await page.clock.runFor(50);
    await expect(page.locator('main')).toContainText(`(${index + 2} of 5)`);
  }
  await page.clock.runFor(2000);
  await shows(page, 'This page is paused.');
  await shows(page, 'The session is not paused.');
  await page.clock.runFor(120_000);
  expect(tries.length - from, 'it does not try by itself').toBe(5);
  await page.unroute(`**/api/sessions/${session.id}/events`);
  await server.start();
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt?wait=20`, { text: 'meanwhile' });
  await button(page, 'Connect').click();
  await page.clock.resume();
  // Nothing is lost, nothing is shown twice.
  await shows(page, 'You said: meanwhile');
  await once(page, 'You said: meanwhile');
  await once(page, 'You said: before');
});

test('decisions are not queued without a connection', async ({ page, server }) => {
  await server.create('approve A');
  await signIn(page, server);
  await shows(page, 'Approve…');
  await server.kill();
  await shows(page, 'Connect to decide.');
  await expect(button(page, 'Approve…')).toBeDisabled();
  await expect(button(page, 'Deny…')).toBeDisabled();
  await server.start();
  await expect(button(page, 'Approve…')).toBeEnabled({ timeout: 40_000 });
});

test('tabs share one stream and the next one continues it', async ({ page, server }) => {
  const open: string[] = [];
  page.context().on('request', (request) => {
    if (/\/api\/events/.test(request.url()) && !request.url().includes('limit=1'))
      open.push(request.url());
  });
  await signIn(page, server, '/sessions');
  await shows(page, 'No sessions yet');
  const second = await page.context().newPage();
  await second.goto(`${server.url}/sessions`);
  await shows(second, 'No sessions yet');
  for (const one of [page, second]) await shows(one, 'Connected');
  await server.create(undefined, { title: 'The first session' });
  for (const one of [page, second]) await shows(one, 'The first session');
  expect(open, 'one stream for both').toHaveLength(1);
  await page.close();
  await server.create(undefined, { title: 'The second session' });
  await shows(second, 'The second session');
  const list = second.locator('.body');
  await expect(list.getByText('The first session')).toHaveCount(1);
  await expect(list.getByText('The second session')).toHaveCount(1);
  expect(await textOf(second)).not.toContain('Connection lost');
});

test('what one person typed is not sent or shown for the next one', async ({ page, server }) => {
  const session = await server.create('before');
  const address = `${server.url}/sessions/${session.id}`;
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'You said: before');
  await server.kill();
  await page.getByLabel('Message', { exact: true }).fill('of alice, queued');
  await button(page, 'Send').click();
  await shows(page, 'sends when connected');
  await page.getByLabel('Message', { exact: true }).fill('of alice, a draft');
  await page.goto('about:blank');
  await server.start();
  // Alice has not signed out: her sign-in was replaced.
  await signIn(page, server, '/you', 'bob', 'operate');
  await shows(page, 'bob');
  await page.goto(address);
  await shows(page, 'You said: before');
  await expect(page.getByLabel('Message', { exact: true })).toHaveValue('');
  await expect(page.getByText('sends when connected')).toHaveCount(0);
  await page.getByLabel('Message', { exact: true }).fill('of bob');
  await button(page, 'Send').click();
  await shows(page, 'You said: of bob');
  expect(await textOf(page)).not.toContain('of alice');
  expect((await server.api.call('GET', `/api/sessions/${session.id}/messages`)).text).not.toContain(
    'of alice',
  );
});
