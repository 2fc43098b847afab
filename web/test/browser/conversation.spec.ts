// One session: streams, crashes, files, the past, the timeline.
import { readFileSync } from 'node:fs';
import { accessible, button, copied, expect, once, shows, signIn, test, textOf } from './page.ts';
import { PIECES } from './provider.ts';

const WHOLE = PIECES.join('');
const piece = (number: number): string => String(PIECES[number]).trim();

test('session is created in the dialog and answers', async ({ page, server }) => {
  await signIn(page, server, '/sessions');
  await shows(page, 'No sessions yet');
  await page.locator('.ph').getByRole('button', { name: 'New session' }).click();
  const dialog = page.locator('dialog');
  await expect(button(dialog, 'Start the session')).toBeDisabled();
  await dialog.getByLabel('Agent').selectOption('demo');
  await dialog.getByLabel('First message').fill('hello there');
  await accessible(page, 'a new session');
  await button(dialog, 'Start the session').click();
  await expect(page).toHaveURL(/\/sessions\/ses_/);
  await shows(page, 'You said: hello there');
  await page.goto(`${server.url}/sessions`);
  await expect(page.locator('.body tbody tr')).toHaveCount(1);
});

test('reply streams into two pages and one joins late', async ({ page, provider, server }) => {
  const session = await server.create(undefined, { agentID: 'writer' });
  const path = `/sessions/${session.id}`;
  await signIn(page, server, path);
  await server.api.ok('POST', `/api${path}/prompt`, { text: 'go' });
  await shows(page, piece(0));
  await expect(page.locator('.caret')).toBeVisible();
  provider.release();
  await shows(page, piece(1));
  const late = await page.context().newPage();
  await late.goto(server.url + path);
  // The draft so far, and then the rest.
  await shows(late, (String(PIECES[0]) + String(PIECES[1])).trim());
  expect(await textOf(late)).not.toContain(piece(2));
  provider.release(PIECES.length);
  for (const one of [page, late]) {
    await shows(one, WHOLE);
    await server.atRest(session.id);
    await expect(one.locator('.caret')).toHaveCount(0);
    for (const text of PIECES) await once(one, text.trim());
  }
});

test('stop ends the turn and what was said stays', async ({ page, provider, server }) => {
  const session = await server.create(undefined, { agentID: 'writer' });
  await signIn(page, server, `/sessions/${session.id}`);
  await page.getByLabel('Message', { exact: true }).fill('go');
  await button(page, 'Send').click();
  await shows(page, piece(0));
  await button(page, 'Stop').click();
  await shows(page, 'Stopped.');
  expect((await server.session(session.id)).activity.type).toBe('idle');
  await expect(page.locator('.caret')).toHaveCount(0);
  provider.release(PIECES.length);
  await expect(button(page, 'Stop')).toHaveCount(0);
  expect(await textOf(page)).not.toContain(piece(3));
});

test('server killed in mid-stream and the page shows all once', async ({
  page,
  provider,
  server,
}) => {
  const session = await server.create(undefined, { agentID: 'writer' });
  await signIn(page, server, `/sessions/${session.id}`);
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt`, { text: 'go' });
  await shows(page, piece(0));
  await server.kill();
  await shows(page, 'Connection lost');
  provider.release(2 * PIECES.length);
  await server.start();
  await shows(page, WHOLE, 60_000);
  await server.atRest(session.id);
  await expect(page.locator('.caret')).toHaveCount(0);
  for (const text of PIECES) await once(page, text.trim());
  await expect(page.getByText('Connection lost')).toHaveCount(0);
});

test('file that is attached is sent and shown by its name', async ({ page, server }) => {
  const session = await server.create();
  await signIn(page, server, `/sessions/${session.id}`);
  await page.getByLabel('Files', { exact: true }).setInputFiles({
    name: 'budget.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from('a,b\n1,2\n'),
  });
  await shows(page, 'budget.csv');
  await page.getByLabel('Message', { exact: true }).fill('read this');
  await button(page, 'Send').click();
  await shows(page, 'You said: read this');
  await expect(page.locator('.th').getByText('budget.csv').first()).toBeVisible();
  await accessible(page, 'a message with a file');
});

test('past state shows what was known and answers nothing', async ({ page, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  const { seq } = await server.session(session.id);
  await server.decide(call, true);
  await server.atRest(session.id);
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'dangerous A:');
  await page.goto(`${server.url}/sessions/${session.id}?at=${seq}`);
  await shows(page, 'This is the past.');
  await shows(page, 'Asleep since');
  expect(await textOf(page)).not.toContain('dangerous A:');
  await expect(page.locator('textarea')).toHaveCount(0);
  await accessible(page, 'a past state');
  await page.locator('.past').getByRole('link', { name: 'Back to now' }).click();
  await shows(page, 'dangerous A:');
});

test('time travel by the slider and a fork from what it shows', async ({ page, server }) => {
  const session = await server.create('the first message');
  const { seq } = await server.session(session.id);
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt?wait=20`, { text: 'second' });
  await signIn(page, server, `/sessions/${session.id}?at=${seq}`);
  await shows(page, 'You said: the first message');
  expect(await textOf(page)).not.toContain('You said: second');
  const slider = page.getByRole('slider');
  await slider.fill('1');
  await expect(page).toHaveURL(/at=1$/);
  await expect(page.getByText('You said: the first message')).toHaveCount(0);
  await slider.fill(String(seq));
  await shows(page, 'You said: the first message');
  await button(page, 'Fork from here').click();
  await shows(page, 'Forked. This is the new session.');
  await expect(page).not.toHaveURL(new RegExp(session.id));
  await shows(page, 'You said: the first message');
  expect(await textOf(page)).not.toContain('You said: second');
  await page.getByLabel('Message', { exact: true }).fill('another way');
  await button(page, 'Send').click();
  await shows(page, 'You said: another way');
  // The first session knows nothing of it.
  await page.goto(`${server.url}/sessions/${session.id}`);
  await shows(page, 'You said: second');
  expect(await textOf(page)).not.toContain('another way');
});

test('link to a message leads to it and a fork from it leaves out the rest', async ({
  page,
  server,
}) => {
  const session = await server.create('one');
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt?wait=20`, { text: 'two' });
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'You said: two');
  const message = page.locator('.msg').filter({ hasText: 'You said: one' });
  await message.locator('[aria-label^=Message]').click();
  await button(message, 'Copy link').click();
  const link = `${server.url}/sessions/${session.id}#${await message.getAttribute('id')}`;
  await expect.poll(() => copied(page)).toBe(link);
  await message.locator('[aria-label^=Message]').click();
  await button(message, 'Fork from here').click();
  await expect(page).not.toHaveURL(new RegExp(session.id));
  await shows(page, 'You said: one');
  expect(await textOf(page)).not.toContain('You said: two');
});

test('timeline is exported as SVG, PNG and text', async ({ browser, page, server }) => {
  const session = await server.create('deploy shop', { title: 'Deploy <the> & shop' });
  const [call] = await server.openCalls(session.id);
  await server.advance(7200);
  await server.result(String(call?.id), { version: 2 });
  await server.atRest(session.id);
  await signIn(page, server, `/sessions/${session.id}/timeline`);
  await shows(page, 'Fold sleeps');
  const files: Record<string, Buffer> = {};
  for (const kind of ['SVG', 'PNG', 'Text']) {
    await page.locator('summary').filter({ hasText: 'Export' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('details[open]').getByRole('button', { name: kind, exact: true }).click(),
    ]);
    files[download.suggestedFilename().split('.').at(-1) ?? ''] = readFileSync(
      await download.path(),
    );
  }
  expect(Object.keys(files).sort()).toEqual(['png', 'svg', 'txt']);
  expect(files['png']?.subarray(1, 4).toString()).toBe('PNG');
  // Wider than a picture of nothing, and not all of one colour.
  expect(files['png']?.readUInt32BE(16)).toBeGreaterThan(900);
  expect(files['png']?.length).toBeGreaterThan(5000);
  expect(files['txt']?.toString()).toContain('deploy');
  expect(files['txt']?.toString()).toContain('☾');
  // The drawing stands alone: it loads nothing, and says in words what it shows.
  const svg = String(files['svg']);
  expect(svg).toContain('<title>');
  expect(svg).toContain('<desc>');
  expect(svg).toContain('Deploy &lt;the&gt; &amp; shop');
  expect(svg).not.toContain('var(--');
  // The service worker would ask the server for the file.
  const context = await browser.newContext({ serviceWorkers: 'block' });
  const alone = await context.newPage();
  await alone.route('**/drawing.svg', (route) =>
    route.fulfill({ contentType: 'image/svg+xml', body: svg }),
  );
  await alone.goto(`${server.url}/drawing.svg`);
  expect(await alone.evaluate(() => document.documentElement.nodeName)).toBe('svg');
  expect(await alone.evaluate(() => document.querySelector('parsererror'))).toBeNull();
  await context.close();
});

test('timeline is a picture, a list, and grows while it is open', async ({ page, server }) => {
  const session = await server.create('deploy shop');
  const call = await server.openCall(session.id);
  await signIn(page, server, `/sessions/${session.id}/timeline`);
  await expect(page.getByRole('group', { name: 'Picture of the session' })).toBeVisible();
  await accessible(page, 'timeline');
  await button(page, 'List').click();
  await shows(page, 'deploy');
  await accessible(page, 'timeline as a list');
  await button(page, 'To scale').click();
  await expect(button(page, 'To scale')).toHaveAttribute('aria-pressed', 'true');
  await server.result(call.id, 'live');
  await shows(page, /first|woke|woken/);
});

test('keys fork at the message, copy its link and open its actions', async ({ page, server }) => {
  const session = await server.create('one');
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt?wait=20`, { text: 'two' });
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'You said: two');
  await page.keyboard.press('?');
  await shows(page.locator('dialog'), 'Keyboard');
  const listed = await page.locator('dialog dt').allInnerTexts();
  for (const key of ['/', 's', '[', ']', 'f', 'y', '.'])
    expect(listed.map((one) => one.trim()).filter((one) => one === key)).toHaveLength(1);
  await page.keyboard.press('Escape');
  await expect(page.locator('dialog')).toHaveCount(0);
  const message = page.locator('.msg').filter({ hasText: 'You said: one' });
  await message.locator('summary[aria-label^=Message]').focus();
  await page.keyboard.press('y');
  await shows(page, 'Link copied.');
  const link = `${server.url}/sessions/${session.id}#${await message.getAttribute('id')}`;
  await expect.poll(() => copied(page)).toBe(link);
  await page.keyboard.press('.');
  await expect(button(message, 'Copy link')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(message.locator('summary[aria-label^=Message]')).toBeFocused();
  await page.keyboard.press('f');
  await shows(page, 'Forked. This is the new session.');
  await shows(page, 'You said: one');
  expect(await textOf(page)).not.toContain('You said: two');
});

test('what comes while the reader is above waits behind a count', async ({ page, server }) => {
  const session = await server.create('x '.repeat(8000));
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'You said:');
  await page.locator('.th').hover();
  await page.mouse.wheel(0, -20_000);
  const first = page.locator('.msg').first();
  await expect(first).toBeInViewport();
  // The wheel has stopped.
  await expect.poll(() => page.locator('.cv').evaluate((one) => one.scrollTop)).toBe(0);
  const before = await first.boundingBox();
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt?wait=20`, { text: 'two' });
  await button(page, '2 new').waitFor();
  await expect.poll(() => first.boundingBox()).toEqual(before);
  await button(page, '2 new').click();
  await expect(page.locator('.th').getByText('You said: two')).toBeInViewport();
  await expect(page.locator('.jump')).toHaveCount(0);
});

test('long outcome of a tool is shown whole when asked for', async ({ page, server }) => {
  const session = await server.create('deploy shop');
  const call = await server.openCall(session.id);
  await server.result(call.id, `${'line of a log\n'.repeat(1000)}the last line`);
  await server.atRest(session.id);
  await signIn(page, server, `/sessions/${session.id}`);
  const card = page.locator('.tc');
  await card.locator('summary').click();
  await expect(card).not.toContainText('the last line');
  await button(card, 'Show all 14,013 characters').click();
  await expect(card.locator('.out')).toContainText('the last line');
  await accessible(page, 'a long outcome');
});

test.describe('tool that makes files', () => {
  test.use({ config: 'tools = ["artifact_emit"]\n' });
  const PIXEL =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

  test('files of an outcome are in its card', async ({ page, provider, server }) => {
    const files = [
      { name: 'chart.png', mime: 'image/png', base64: PIXEL },
      { name: 'rows.csv', mime: 'text/csv', text: 'a,b' },
    ];
    provider.says = (request) => {
      const file = files[request.split('"role":"tool"').length - 1];
      return file ? [{ tool: 'artifact_emit', input: file }] : ['Made.'];
    };
    const session = await server.create('go', { agentID: 'writer' });
    await signIn(page, server, `/sessions/${session.id}`);
    await shows(page, 'Made.');
    const cards = page.locator('.tc');
    await expect(cards).toHaveCount(2);
    for (const summary of await cards.locator('summary').all()) await summary.click();
    const image = cards.nth(0).getByAltText('chart.png');
    await expect(image).toBeVisible();
    const width = (): Promise<number> =>
      image.evaluate((one: HTMLImageElement) => one.naturalWidth);
    await expect.poll(width).toBe(1);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      cards.nth(1).getByRole('link', { name: 'rows.csv' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('rows.csv');
    expect(readFileSync(await download.path(), 'utf8')).toBe('a,b');
    await accessible(page, 'a tool with files');
  });
});
