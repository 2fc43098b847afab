import { accessible, button, expect, shows, test } from './page.ts';

test('used link says what to do', async ({ page, server }) => {
  const code = (await server.link('alice', 'read')).url.split('#')[1] ?? '';
  const used = await server.as(null).call('POST', '/sign-in', { code });
  expect(used.status).toBe(200);
  await page.goto(`${server.url}/sign-in#${code}`);
  await shows(page, 'was used before');
  await shows(page, 'Ask the person who sent it for a new one');
  await expect(page.getByRole('heading', { name: 'This link no longer works' })).toBeVisible();
  expect(await page.evaluate(() => location.hash)).toBe('');
  await accessible(page, 'a used link');
});

test('link that is opened in the tab of the sign-in is read', async ({ page, server }) => {
  await page.goto(`${server.url}/sign-in`);
  await expect(page.locator('#link')).toBeVisible();
  await page.goto((await server.link('bob', 'read')).url);
  await expect(page.getByRole('heading', { name: 'Sign in as bob' })).toBeVisible();
  await shows(page, 'You can read everything in all projects');
});

test('view signed out leads to the sign-in and back', async ({ page, server }) => {
  await page.goto(`${server.url}/sessions?q=x`);
  await expect(page).toHaveURL(/\/sign-in/);
  const link = await server.link();
  await page.locator('#link').fill(link.url);
  await button(page, 'Continue').click();
  await expect(page.getByRole('heading', { name: 'Sign in as alice' })).toBeVisible();
  for (const fact of [
    'first made this link for you',
    'You can change everything in all projects',
    'stays signed in for 30 days',
    'continue to /sessions?q=x',
    'works once, until',
  ])
    await expect(page.locator('main')).toContainText(fact);
  await expect(page.locator('#link')).toBeHidden();
  await accessible(page, 'sign-in');
  await button(page, 'Sign in as alice').click();
  await page.waitForURL(`${server.url}/sessions?q=x`);
  await shows(page, 'No session');
});
