// What the page does while somebody reads: claims of others, rows that wait.
import { accessible, button, expect, shows, signIn, test } from './page.ts';

test('call that another person has claimed can be read, and taken over afterwards', async ({
  page,
  server,
}) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  const dana = await server.tokenOf('dana', 'answer');
  await dana.ok('POST', `/async-tool/pending/${call.id}/claim`, { forMs: 600_000 });
  await page.clock.install();
  await signIn(page, server, `/a/${call.id}`, 'alice', 'answer');
  await shows(page, /Claimed by dana until .*After that you can take it over/);
  await expect(button(page, 'Approve…')).toHaveCount(0);
  await expect(button(page, 'Take over…')).toHaveCount(0);
  await server.advance(601);
  await page.clock.fastForward(601_000);
  await shows(page, /The claim of dana ended at .* without an answer/);
  await button(page, 'Take over…').click();
  await shows(page.locator('dialog'), 'Take over from dana?');
  await accessible(page, 'a claim that ended');
  await button(page.locator('dialog'), 'Take over').click();
  await shows(page, 'Claimed for 10 minutes.');
  await expect(button(page, 'Approve…')).toBeVisible();
  expect((await server.call(call.id)).status).toBe('processing');
});

test('calls that come while the pointer is in the list wait behind a count', async ({
  page,
  server,
}) => {
  await server.create('approve A');
  await signIn(page, server);
  await shows(page, 'Approve…');
  await page.locator('.it').first().hover();
  await server.create('approve B');
  await button(page, '1 new').waitFor();
  await expect(page.locator('.it')).toHaveCount(1);
  await server.create('approve C');
  await button(page, '2 new').click();
  await expect(page.locator('.it')).toHaveCount(3);
  await server.create('approve D');
  await button(page, '1 new').waitFor();
  // The reader leaves the list.
  await page.mouse.move(1, 1);
  await page.locator('#question').focus();
  await expect(page.locator('.it')).toHaveCount(4);
});

test('sessions that begin while the list is scrolled wait behind a count', async ({
  page,
  server,
}) => {
  for (let made = 0; made < 40; made += 1) await server.create(undefined, { title: `old ${made}` });
  await signIn(page, server, '/sessions');
  await shows(page, 'old 39');
  const list = page.locator('.v-sessions .body');
  await list.evaluate((one) => (one.scrollTop = 300));
  await server.create(undefined, { title: 'a new one' });
  await button(page, '1 new').click();
  await list.evaluate((one) => (one.scrollTop = 0));
  await shows(page, 'a new one');
  await expect(page.locator('.fresh')).toHaveCount(0);
});
