// Measures the page, in front of the real server, and prints a line of docs/benchmarks.md for each figure. Nothing is
// asserted but sizes (web/test/browser/size.spec.ts): times depend on the machine. tools/page_figures.sh runs it.
import { existsSync } from 'node:fs';
import { expect, shows, signIn, test as base, type Page } from '../browser/page.ts';
import { createSessions } from '../browser/many.ts';

const ROUNDS = 10;
const print = (what: string, wanted: string, value: string): void =>
  console.log(`| ${what} | ${wanted} | ${value} |`);
const middle = (list: number[]): number =>
  [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN;
const longest = (list: number[]): number => Math.max(...list);

const test = base.extend({ verified: false });

test('time until the page can be used', async ({ page, server }) => {
  for (let number = 0; number < 20; number += 1) await server.create(`approve ${number}`);
  await signIn(page, server);
  await shows(page, 'Approve…');
  const session = await page.context().newCDPSession(page);
  for (const rate of [1, 4]) {
    await session.send('Emulation.setCPUThrottlingRate', { rate });
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      await session.send('Network.clearBrowserCache');
      await page.goto('about:blank');
      await page.goto(`${server.url}/`, { waitUntil: 'commit' });
      await page.waitForFunction(() =>
        [...document.querySelectorAll('button')].some(
          (one) => one.innerText.trim() === 'Approve…' && !one.disabled,
        ),
      );
      // The clock of the page: the tools of the test are not slowed down with it.
      times.push(await page.evaluate(() => performance.now()));
    }
    const slow = rate === 1 ? '' : `, CPU ${rate} × slower`;
    print(
      `from the request of \`/\` to a usable "Approve…"${slow}, empty cache`,
      rate === 1 ? '' : '1,000 ms',
      `${Math.round(middle(times))} ms (longest ${Math.round(longest(times))})`,
    );
  }
});

test('time from a durable event to its paint', async ({ page, server }) => {
  const session = await server.create();
  await signIn(page, server, `/sessions/${session.id}`);
  await expect(page.getByLabel('Message', { exact: true })).toBeVisible();
  const times: number[] = [];
  for (let round = 0; round < 2 * ROUNDS; round += 1) {
    const text = `measured ${round}.`;
    const painted = page.evaluate(
      (wanted) =>
        new Promise<number>((done) => {
          const look = (): void => {
            if (!document.querySelector('.th')?.textContent.includes(wanted))
              return void requestAnimationFrame(look);
            // The next frame begins when this one has been painted.
            requestAnimationFrame(() => done(Date.now()));
          };
          look();
        }),
      `You said: ${text}`,
    );
    await server.api.ok('POST', `/api/sessions/${session.id}/prompt?wait=20`, { text });
    const end = await painted;
    type Events = { items: { type: string; at: number }[] };
    const { seq } = await server.session(session.id);
    const events = await server.api.ok<Events>(
      'GET',
      `/api/sessions/${session.id}/events?after=${seq - 2}`,
    );
    times.push(end - (events.items.at(-1)?.at ?? 0));
  }
  print(
    'from the time of the event (before its sync) to the frame that shows it',
    '100 ms',
    `${Math.round(middle(times))} ms (longest ${Math.round(longest(times))})`,
  );
});

/** Returns when what the page does first is over. */
const idle = (page: Page): Promise<void> =>
  page.evaluate(() => new Promise((done) => requestIdleCallback(() => done())));

/** Frames while a box scrolls; the longest pause between two. Each of them moves it, at an end the other way: a frame
 * without work would count as a fast one. */
const frames = (
  page: Page,
  selector: string,
  by: number,
): Promise<{ fps: number; pause: number }> =>
  page.evaluate(
    ([wanted, step]) =>
      new Promise((done, failed) => {
        const box = [...document.querySelectorAll(String(wanted))].find(
          (one) => one.scrollHeight > one.clientHeight + 200,
        );
        if (!box) throw new Error('nothing scrolls');
        const begin = performance.now();
        let way = Number(step);
        const moved = (): boolean => {
          const before = box.scrollTop;
          box.scrollBy(0, way);
          return box.scrollTop !== before;
        };
        let [count, last, pause] = [0, begin, 0];
        const next = (now: number): void => {
          count += 1;
          pause = Math.max(pause, now - last);
          last = now;
          if (!moved()) {
            way = -way;
            if (!moved()) return failed(new Error('the box does not scroll'));
          }
          if (now - begin < 4000) requestAnimationFrame(next);
          else done({ fps: (count / (now - begin)) * 1000, pause });
        };
        requestAnimationFrame(next);
      }),
    [selector, by] as const,
  );

test('frames while the list and a conversation scroll', async ({ page, server }) => {
  const begin = Date.now();
  await createSessions(server, 100_000);
  print('creating 100,000 sessions over HTTP', '', `${Math.round((Date.now() - begin) / 1000)} s`);
  await signIn(page, server, '/you');
  const start = Date.now();
  await page.goto(`${server.url}/sessions`);
  await expect(page.locator('.body tbody tr').nth(10)).toBeVisible();
  print('first rows of 100,000 sessions', '', `${Date.now() - start} ms`);
  await idle(page);
  const list = await frames(page, '.body', 60);
  print(
    'list of 100,000 sessions, scrolling',
    '55 frames/s',
    `${list.fps.toFixed(0)} frames/s (longest pause ${list.pause.toFixed(0)} ms)`,
  );
  const messages = Array.from({ length: 10_000 }, (_, number) => ({
    role: number % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `Message ${number}: ${'words and words '.repeat(10)}` }],
  }));
  const session = await server.api.ok<{ id: string }>('POST', '/api/projects/default/import', {
    agentID: 'demo',
    messages,
  });
  await page.goto(`${server.url}/sessions/${session.id}`);
  await shows(page, 'Message 9999');
  await idle(page);
  const talk = await frames(page, '*', -60);
  print(
    'conversation of 10,000 messages, scrolling',
    '55 frames/s',
    `${talk.fps.toFixed(0)} frames/s (longest pause ${talk.pause.toFixed(0)} ms)`,
  );
});

const LIGHTHOUSE = new URL('./node_modules/lighthouse/core/index.js', import.meta.url);

test('Lighthouse', async ({ playwright, server, launchOptions }) => {
  test.skip(!existsSync(LIGHTHOUSE), 'not installed: tools/page_figures.sh installs it');
  for (let number = 0; number < 3; number += 1) await server.create(`approve ${number}`);
  const session = await server.create('deploy shop', { title: 'Deploy the shop' });
  const port = 9000 + (process.pid % 900);
  const browser = await playwright.chromium.launch({
    ...launchOptions,
    args: [...(launchOptions.args ?? []), `--remote-debugging-port=${port}`],
  });
  const token = await server.tokenOf('alice', 'admin');
  const { default: lighthouse } = (await import(LIGHTHOUSE.href)) as {
    default: (url: string, flags: object) => Promise<{ lhr: Report }>;
  };
  interface Report {
    categories: Record<string, { score: number; auditRefs: { id: string; weight: number }[] }>;
    audits: Record<string, { score: number | null; title: string }>;
  }
  for (const path of ['/', '/sessions', `/sessions/${session.id}`, '/sign-in']) {
    const { lhr } = await lighthouse(server.url + path, {
      port,
      output: 'json',
      logLevel: 'error',
      onlyCategories: ['accessibility', 'best-practices'],
      disableStorageReset: true,
      extraHeaders: path === '/sign-in' ? {} : { authorization: `Bearer ${token.token}` },
    });
    const scores = Object.values(lhr.categories).map((one) => Math.round(one.score * 100));
    const wrong = Object.values(lhr.categories)
      .flatMap((one) => one.auditRefs.filter((audit) => audit.weight > 0))
      .map((audit) => lhr.audits[audit.id])
      .filter((audit) => audit && audit.score !== null && audit.score < 1)
      .map((audit) => audit?.title);
    const where = path.replace(session.id, 'ID');
    print(
      `Lighthouse of \`${where}\`: accessibility, best practices`,
      '100, 100',
      [scores.join(', '), ...wrong].join('; '),
    );
  }
  await browser.close();
});
