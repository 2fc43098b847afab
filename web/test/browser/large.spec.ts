// A list of 100,000 sessions and a conversation of 10,000 messages: bounded work, whatever their length. Times and
// frames are measured by dev/figures.mjs; here only what holds on any machine.
import { connect } from 'node:net';
import { button, expect, shows, signIn, test, textOf, type Page } from './page.ts';
import type { Server } from './server.ts';

const MANY = 100_000;
const CONNECTIONS = 64;

/** Creates the sessions `first`, `first + CONNECTIONS`, … by requests that do not wait for each other. */
async function create(server: Server, first: number): Promise<void> {
  const socket = connect(server.port, '127.0.0.1');
  const wanted = Math.ceil((MANY - first) / CONNECTIONS);
  const done = new Promise<void>((resolve, reject) => {
    let rest = '';
    let answered = 0;
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed after ${answered} of ${wanted}`)));
    socket.on('data', (chunk) => {
      const heads = (rest + chunk.toString('latin1')).split('HTTP/1.1 ');
      rest = `HTTP/1.1 ${heads.pop() ?? ''}`; // its status may not be there yet
      answered += heads.filter((one) => one.startsWith('201')).length;
      const bad = heads.find((one) => one !== '' && !one.startsWith('201'));
      if (bad) reject(new Error(bad));
      if (answered + 1 >= wanted && rest.includes('\r\n\r\n')) resolve();
    });
  });
  for (let number = first; number < MANY; number += CONNECTIONS) {
    const title = `Session ${String(number).padStart(6, '0')}`;
    const body = JSON.stringify({ agentID: 'demo', title });
    const request = [
      'POST /api/projects/default/sessions HTTP/1.1',
      `Host: 127.0.0.1:${server.port}`,
      `Authorization: Bearer ${server.api.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ];
    if (!socket.write(`${request.join('\r\n')}\r\n\r\n${body}`))
      await new Promise((next) => socket.once('drain', next));
  }
  await done;
  socket.destroy();
}

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
    const asked: string[] = [];
    await Promise.all(Array.from({ length: CONNECTIONS }, (_, first) => create(server, first)));
    const asleep = await server.create('deploy A', { title: 'The one that sleeps' });
    await signIn(page, server, '/you');
    page.on('request', (request) => asked.push(request.url()));
    await page.goto(`${server.url}/sessions`);
    await shows(page, 'The one that sleeps');
    expect(asked.length).toBeLessThan(60);
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
