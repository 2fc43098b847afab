import { accessible, button, expect, shows, test } from './page.ts';

test('used link says what to do', async ({ page, server }) => {
  const code = (await server.link('alice', 'read')).url.split('#')[1] ?? '';
  const used = await server.as(null).call('POST', '/sign-in', { code });
  expect(used.status).toBe(200);
  await page.goto(`${server.url}/sign-in#${code}`);
  await shows(page, 'was used before');
  await shows(page, 'Ask the person who sent it for a new one');
  expect(await page.evaluate(() => location.hash)).toBe('');
  await accessible(page, 'a used link');
});

test('view signed out leads to the sign-in and back', async ({ page, server }) => {
  await page.goto(`${server.url}/sessions?q=x`);
  await expect(page).toHaveURL(/\/sign-in/);
  const link = await server.link();
  await page.locator('#link').fill(link.url);
  await button(page, 'Continue').click();
  await shows(page, 'made this link for alice, role admin');
  await accessible(page, 'sign-in');
  await button(page, 'Sign in as alice').click();
  await page.waitForURL(`${server.url}/sessions?q=x`);
  await shows(page, 'No session');
});
