// Texts of models, tools, mail and files are text: nothing of them runs, loads or looks like the page.
import {
  accessible,
  button,
  expect,
  PHONE,
  shows,
  signIn,
  test,
  textOf,
  type Page,
} from './page.ts';

const BAD = '<img src=x onerror="window.hacked=1">';
const DRAWING = `<svg xmlns="http://www.w3.org/2000/svg" onload="window.hacked=1"><script>window.hacked=1</script></svg>`;
const HOSTILE =
  `${BAD}<script>window.hacked=1</script> [link](javascript:window.hacked=1) ` +
  '![image](http://evil.example/x.png) <a href="http://evil.example">x</a>';

/** Opens what is folded; then nothing has run, and nothing is there that could. */
async function harmless(page: Page, what: string): Promise<void> {
  await page.evaluate(() => {
    for (const one of document.querySelectorAll<HTMLElement>('[aria-expanded=false]')) one.click();
  });
  // A planted image fails before this one, and its script runs.
  await page.evaluate(
    () =>
      new Promise<void>((done) => {
        const image = new Image();
        image.onerror = () => done();
        image.src = 'data:x';
      }),
  );
  expect(await page.evaluate('window.hacked'), what).toBeUndefined();
  const planted = await page.evaluate(() =>
    [...document.querySelectorAll('*')]
      .filter(
        (one) =>
          [...one.attributes].some((attribute) => attribute.name.startsWith('on')) ||
          // The icon with the number of what waits is drawn by the page.
          (/^(javascript|data):/i.test(one.getAttribute('href') ?? '') &&
            !one.matches('head > link[rel=icon][href^="data:image/png;"]')) ||
          (one.getAttribute('src') ?? '').includes('evil'),
      )
      .map((one) => one.outerHTML),
  );
  expect(planted, what).toEqual([]);
}

test('hostile texts run nothing anywhere', async ({ page, provider, server }) => {
  const loaded: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url) && !request.url().startsWith('data:'))
      loaded.push(request.url());
  });
  provider.says = () => [HOSTILE];
  const waiting = await server.create(`ask ${BAD} is it so?`, { title: HOSTILE });
  const call = await server.openCall(waiting.id);
  const job = await server.create('deploy A');
  await server.result((await server.openCall(job.id)).id, { page: HOSTILE });
  const writer = await server.create(undefined, { agentID: 'writer', alias: 'scribe' });
  const data = Buffer.from(HOSTILE).toString('base64');
  const parts = [
    { type: 'text', text: `be hostile ${HOSTILE}` },
    { type: 'file', mime: 'text/html', name: `${BAD}.html`, data },
    {
      type: 'file',
      mime: 'image/svg+xml',
      name: `${BAD}.svg`,
      data: Buffer.from(DRAWING).toString('base64'),
    },
  ];
  await server.api.ok('POST', `/api/sessions/${writer.id}/prompt?wait=20`, { parts });
  await server.api.ok('POST', '/api/mail', { to: 'scribe', text: HOSTILE });
  const task = await server.create(`background report ${HOSTILE}`);
  await signIn(page, server);
  for (const [path, seen] of [
    ['/', 'is it so?'],
    [`/?open=${call.id}`, 'is it so?'],
    ['/sessions', 'onerror'],
    [`/sessions/${waiting.id}`, 'onerror'],
    [`/sessions/${waiting.id}/timeline`, 'onerror'],
    [`/sessions/${job.id}`, 'deploy'],
    [`/sessions/${job.id}/timeline`, 'deploy'],
    [`/sessions/${job.id}/calls`, 'deploy'],
    [`/sessions/${writer.id}`, 'onerror'],
    [`/sessions/${writer.id}/mail`, 'onerror'],
    ['/mail', 'onerror'],
    [`/sessions/${task.id}/tasks`, 'onerror'],
    ['/tasks', 'onerror'],
    ['/operate/audit', 'verified'],
    [`/a/${call.id}`, 'is it so?'],
  ] as const) {
    await page.goto(server.url + path);
    await expect(page.getByText(seen).filter({ visible: true }).first(), path).toBeVisible();
    await harmless(page, path);
  }
  expect(loaded, 'no other host is asked for anything').toEqual([]);
});

test('file of an outsider is downloaded and never shown as a page', async ({ page, server }) => {
  const session = await server.create();
  const data = Buffer.from(DRAWING).toString('base64');
  const file = { type: 'file', mime: 'image/svg+xml', name: 'drawing.svg', data };
  const parts = [{ type: 'text', text: 'look' }, file];
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt?wait=20`, { parts });
  await signIn(page, server, `/sessions/${session.id}`);
  const link = page.locator('.th a').filter({ hasText: 'drawing.svg' });
  await expect(link).toBeVisible();
  const address = new URL(String(await link.getAttribute('href')), server.url).href;
  const answer = await page.request.get(address);
  expect(answer.headers()['content-disposition']).toMatch(/^attachment/);
  expect(answer.headers()['x-content-type-options']).toBe('nosniff');
  expect(answer.headers()['content-security-policy']).toMatch(/default-src 'none'|sandbox/);
});

test.describe('with a tool that people approve', () => {
  test.use({
    config: `tools = ["run"]

[[tool]]
name = "run"
kind = "command"
command = ["cat"]

[[gate]]
id = "runs"
tools = ["run"]
ask = "Run {input.what}?"
`,
  });

  test('claim of the agent cannot look like a decision', async ({ page, provider, server }) => {
    const text =
      '# Approve now\n\n[Approve…](http://evil.example/approve) **What will run** <button>Approve…</button>';
    provider.says = (request) =>
      request.includes('"role":"tool"')
        ? ['Done.']
        : [text, { tool: 'run', input: { what: 'tests' } }];
    provider.release(10);
    await server.create('go', { agentID: 'writer' });
    await signIn(page, server);
    await shows(page, 'Run tests?');
    const claim = page.locator('.claim').first();
    await expect(claim).toContainText('Approve now');
    await expect(claim.locator('h1, h2, h3, button, a[href], img')).toHaveCount(0);
    await shows(page, /not checked/);
  });

  test('control and bidi characters of arguments are spelt out', async ({
    page,
    provider,
    server,
  }) => {
    const input = { what: 'safe\u202Etxt.exe\u200B', 'no\u202Ete': 1 };
    provider.says = (request) =>
      request.includes('"role":"tool"') ? ['Done.'] : [{ tool: 'run', input }];
    await server.create('go', { agentID: 'writer' });
    await signIn(page, server);
    await shows(page.locator('.exec'), 'U+202E');
    await shows(page.locator('.exec'), 'U+200B');
    const text = await page.locator('.exec').innerText();
    expect(text).not.toMatch(/[\u202A-\u202E\u200B]/u);
    // Nor in the question, the lists, the confirmation and the names of the arguments.
    await button(page, 'Approve…').click();
    await shows(page, 'Run this once?');
    expect(await textOf(page)).not.toMatch(/[\u202A-\u202E\u200B]/u);
    expect(await page.title()).not.toMatch(/[\u202A-\u202E\u200B]/u);
    await shows(page.locator('.sum'), 'no⟨U+202E⟩te');
  });

  test('long argument fits a phone, is read to its end, and is whole on paper', async ({
    page,
    provider,
    server,
  }) => {
    const what = Array.from({ length: 60 }, (_, line) => `line ${line}`).join('\n');
    provider.says = (request) =>
      request.includes('"role":"tool"') ? ['Done.'] : [{ tool: 'run', input: { what } }];
    const title = 'A title that is much longer than the window is wide: '.repeat(5);
    const { id } = await server.create('go', { agentID: 'writer', title: title.slice(0, 200) });
    await page.setViewportSize(PHONE.viewport);
    const call = await server.openCall(id);
    await signIn(page, server, `/a/${call.id}`);
    const value = page.locator('.long-value');
    expect((await value.boundingBox())?.width).toBeGreaterThan(200);
    await expect(button(page, 'Approve…')).toBeDisabled();
    await accessible(page, 'a long argument');
    await button(page, 'I have read all of it').click();
    await expect(button(page, 'Approve…')).toBeEnabled();
    await page.emulateMedia({ media: 'print' });
    expect(await value.evaluate((one) => one.scrollHeight - one.clientHeight)).toBe(0);
    await expect(button(page, 'Approve…')).toBeHidden();
    await page.emulateMedia({ media: 'screen' });
    for (const size of [PHONE.viewport, { width: 1440, height: 900 }]) {
      await page.setViewportSize(size);
      await page.goto(`${server.url}/sessions/${id}`);
      await expect(page.locator('.sh h1')).toBeInViewport({ ratio: 1 });
      expect(
        await page.evaluate(() =>
          Math.max(
            ...[...document.querySelectorAll('.sh *')].map(
              (one) => one.getBoundingClientRect().right - innerWidth,
            ),
          ),
        ),
      ).toBeLessThanOrEqual(0);
    }
  });

  test('what is approved is what is shown, to the last digit and space', async ({
    page,
    provider,
    server,
  }) => {
    const raw =
      '{"what":"pay","account":12345678901234567891,"lines":"one\\n  two","list":["a, b","c"],"code":"5"}';
    provider.says = (request) =>
      request.includes('"role":"tool"') ? ['Done.'] : [{ tool: 'run', input: raw }];
    const session = await server.create('go', { agentID: 'writer' });
    await signIn(page, server);
    await button(page, 'Approve…').click();
    const sum = page.locator('.sum');
    for (const text of ['12345678901234567891', '["a, b", "c"]', '"5"']) await shows(sum, text);
    expect(await sum.innerText()).toContain('one\n  two');
    await button(page, 'Back').click();
    // An edit of one argument changes no other.
    await page.keyboard.press('e');
    await expect(page.getByLabel('account')).toHaveValue('12345678901234567891');
    await page.locator('#f-what').fill('refund');
    await button(page, 'Done').click();
    await button(page, 'Approve with 1 change…').click();
    await button(page, 'Approve with 1 change and run').click();
    await shows(page, 'Approved');
    await server.atRest(session.id);
    const events = await server.api.call('GET', `/api/sessions/${session.id}/events`);
    expect(events.text).toContain('12345678901234567891');
    expect(events.text).not.toContain('12345678901234567000');
    expect(events.text).toMatch(/"what":"refund"/);
  });
});
