// Addresses that lead nowhere, rights that are missing, a server of another release.
import { accessible, button, expect, shows, signIn, test, within, type Page } from './page.ts';

const leadsOn = (page: Page): Promise<void> =>
  expect(page.locator('main a[href]:visible, .app a[href]:visible').first()).toBeVisible();

test('addresses that lead nowhere say what to do', async ({ page, server }) => {
  await server.create('approve A');
  await signIn(page, server);
  for (const [path, seen] of [
    ['/sessions/ses_AAAAAAE', 'does not exist'],
    ['/sessions/%3Cb%3E', 'does not exist'],
    ['/sessions/%25', 'does not exist'],
    ['/sessions/ses_AAAAAAE?at=-1', 'does not exist'],
    ['/?open=%25', 'does not exist'],
    ['/?open=pnd_x', 'does not exist'],
    ['/a/pnd_AAAAAAEXinbjDe5WMEYhEA_1_1_KGoT7YAtRkJgFqZeEhOjiw', 'the link is incomplete'],
    ['/nowhere', 'The link is incomplete'],
    ['/operate/nothing', 'The link is incomplete'],
    ['/c/pnd_x', /incomplete|does not exist|not found/],
  ] as const) {
    await page.goto(server.url + path);
    await shows(page, seen);
    await leadsOn(page);
    await accessible(page, path);
  }
});

test('address of the page that does not exist says so without loading it again', async ({
  page,
  server,
}) => {
  await signIn(page, server);
  await page.evaluate(() => {
    history.pushState(null, '', '/nowhere');
    dispatchEvent(new PopStateEvent('popstate'));
  });
  await shows(page, 'This page does not exist');
  await accessible(page, 'not found');
  await page.getByRole('link', { name: 'Go to the inbox' }).click();
  await shows(page, 'Nothing waits for you');
});

test('call and session of a foreign project do not exist', async ({ browser, server }) => {
  const secret = await server.create('approve A', { project: 'secret', title: 'The secret one' });
  const call = await server.openCall(secret.id);
  const link = await server.api.ok<{ url: string }>('POST', '/api/links', {
    name: 'bob',
    role: 'operate',
    projects: ['default'],
  });
  await within(browser, { viewport: { width: 1440, height: 900 } }, async (page) => {
    await page.goto(link.url);
    await button(page, 'Sign in as bob').click();
    await shows(page, 'Nothing waits for you');
    for (const path of [
      `/sessions/${secret.id}`,
      `/sessions/${secret.id}/timeline`,
      `/?open=${call.id}`,
      `/a/${call.id}`,
    ]) {
      await page.goto(server.url + path);
      await shows(page, /does not exist|the link is incomplete/);
      await leadsOn(page);
      await expect(page.getByText('The secret one'), path).toHaveCount(0);
    }
  });
});

test('link that has expired says what to do', async ({ page, server }) => {
  const { url } = await server.link('alice', 'read');
  await server.advance(601);
  await page.goto(url);
  await shows(page, /expired|no longer works/);
  await shows(page, 'Ask the person who sent it for a new one');
  await expect(page.locator('#link')).toBeVisible();
  await accessible(page, 'an expired link');
});

test('view that a role may not see says why', async ({ page, server }) => {
  await signIn(page, server, '/', 'rita', 'read');
  await shows(page, 'Nothing waits for you');
  const nav = page.getByRole('navigation', { name: 'Main' });
  for (const name of ['Overview', 'Access', 'Audit', 'Configuration'])
    await expect(nav.getByText(name)).toHaveCount(0);
  for (const path of ['/operate', '/operate/access', '/operate/audit', '/operate/config']) {
    await page.goto(server.url + path);
    await shows(page, 'This page is for people with the role');
    await leadsOn(page);
  }
  await page.goto(`${server.url}/sessions`);
  await shows(page, 'No sessions yet');
  await expect(page.getByRole('button', { name: 'New session' })).toHaveCount(0);
});

test('person whose access was revoked is led to the sign-in', async ({ page, server }) => {
  await signIn(page, server, '/sessions');
  await shows(page, 'No sessions yet');
  const tokens = await server.api.ok<{ items: { id: string; kind: string }[] }>(
    'GET',
    '/api/tokens',
  );
  const cookie = tokens.items.find((one) => one.kind === 'cookie');
  await server.api.ok('DELETE', `/api/tokens/${cookie?.id}`);
  await page.reload();
  await expect(page).toHaveURL(/\/sign-in\?next=(%2F|\/)sessions/);
  await accessible(page, 'signed out');
});

test('page of an older build says that the server has a newer one', async ({ page, server }) => {
  await signIn(page, server, '/sessions');
  await shows(page, 'No sessions yet');
  // The server is replaced while the page is open.
  await page.route('**/index.html', async (route) => {
    const answer = await route.fetch().catch(() => null);
    if (!answer) return route.abort('connectionrefused');
    const body = (await answer.text()).replace(/index-[\w-]+\.js/, 'index-ANOTHER1.js');
    await route.fulfill({ response: answer, body });
  });
  await server.kill();
  await server.start();
  await shows(page, 'The server was updated', 60_000);
  await accessible(page, 'another release');
  await page.unroute('**/index.html');
  await button(page, 'Load the new page').click();
  await shows(page, 'No sessions yet');
  await expect(page.getByText('The server was updated')).toHaveCount(0);
});
