// A list of 100,000 sessions and a conversation of 10,000 messages: bounded work, whatever their length. Times and
// frames are measured by tools/page_figures.sh; here only what holds on any machine.
import { createSessions } from './many.ts';
import { button, expect, shows, signIn, test, textOf, type Page } from './page.ts';

const MANY = 100_000;

/** Scrolls a box from frame to frame; how far it came, what was drawn and asked for meanwhile. */
const scroll = (
  page: Page,
  selector: string,
  by: number,
): Promise<{ way: number; elements: number; requests: number }> =>
  page.evaluate(
    ([wanted, step]) =>
      new Promise((done) => {
        const box = [...document.querySelectorAll(String(wanted))].find(
          (one) => one.scrollHeight > one.clientHeight + 200,
        );
        const begin = box?.scrollTop ?? 0;
        const before = performance.getEntriesByType('resource').length;
        let [frames, elements] = [0, 0];
        const next = (): void => {
          frames += 1;
          box?.scrollBy(0, Number(step));
          elements = Math.max(elements, document.querySelectorAll('*').length);
          if (frames < 120) return void requestAnimationFrame(next);
          done({
            way: Math.abs((box?.scrollTop ?? begin) - begin),
            elements,
            requests: performance.getEntriesByType('resource').length - before,
          });
        };
        requestAnimationFrame(next);
      }),
    [selector, by] as const,
  );

test.describe('with many sessions', () => {
  // Each of them would be verified at the end; other tests do that with fewer.
  test.use({ verified: false });

  test('list of 100,000 sessions scrolls, is searched and filtered', async ({ page, server }) => {
    test.setTimeout(240_000);
    const requests: string[] = [];
    await createSessions(server, MANY);
    const asleep = await server.create('deploy A', { title: 'The one that sleeps' });
    await signIn(page, server, '/you');
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(`${server.url}/sessions`);
    await shows(page, 'The one that sleeps');
    expect(requests.length).toBeLessThan(60);
    const rows = page.locator('.body tbody tr');
    expect(await rows.count()).toBeLessThan(200);

    const seen = await scroll(page, '.body', 400);
    expect(seen.way).toBeGreaterThan(10_000);
    expect(seen.elements, 'only what is seen is drawn').toBeLessThan(3000);
    expect(seen.requests).toBeLessThan(100);
    expect(await rows.count()).toBeLessThan(200);

    await page.goto(`${server.url}/sessions?q=Session%20000017`);
    await shows(page, 'Session 000017', 120_000);
    await expect(rows).toHaveCount(1);
    await page.goto(`${server.url}/sessions?state=sleep`);
    await shows(page, 'The one that sleeps', 120_000);
    expect(await page.locator('.body').innerText()).not.toContain('Session 0');
    const link = page.locator('.body a').first();
    await expect(link).toHaveAttribute('href', `/sessions/${asleep.id}`);
  });
});

test('conversation of 10,000 messages shows its end and goes back', async ({ page, server }) => {
  const messages = Array.from({ length: 10_000 }, (_, number) => ({
    role: number % 2 === 0 ? 'user' : 'assistant',
    parts: [{ type: 'text', text: `Message ${number}: ${'words and words '.repeat(10)}` }],
  }));
  const session = await server.api.ok<{ id: string }>('POST', '/api/projects/default/import', {
    agentID: 'demo',
    messages,
  });
  await signIn(page, server, `/sessions/${session.id}`);
  await shows(page, 'Message 9999', 60_000);
  // The end is in view, and only the newest part is drawn.
  await expect(page.locator('.msg').last()).toBeInViewport();
  expect(await page.locator('*').count()).toBeLessThan(20_000);
  expect(await textOf(page)).not.toContain('Message 9000:');
  const seen = await scroll(page, '*', -400);
  expect(seen.way).toBeGreaterThan(2000);
  expect(seen.elements).toBeLessThan(20_000);
  await button(page, 'Show earlier messages').click();
  await shows(page, /^Message 9800/);
  await page.getByLabel('Message', { exact: true }).fill('the newest');
  await button(page, 'Send').click();
  await shows(page, 'You said: the newest');
});
