#!/usr/bin/env node
// Measures the page: `node dev/figures.mjs --to URL --token TOKEN`, in front of a running server (dev/serve.mjs serves
// `dist/`). Prints the bytes of the first load, the time until it can be used with a CPU four times slower, the time
// from a durable event to its paint, and the frames a second of list and conversation.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { serve } from './serve.mjs';

const given = process.argv.slice(2);
const option = (name) => (given.includes(name) ? given[given.indexOf(name) + 1] : '');
const [to, token] = [option('--to'), option('--token')];
if (!to || !token) throw new Error('say where the server is: --to URL --token TOKEN');
const DIST = new URL('../dist/', import.meta.url);
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const api = async (method, path, body) => {
  const answer = await fetch(to + path, { method, headers, body: body && JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};
const print = (name, value) => console.log(`${name.padEnd(52)} ${value}`);
const middle = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

function firstLoad() {
  const page = readFileSync(new URL('index.html', DIST), 'utf8');
  const names = [...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)];
  const files = ['index.html', ...names.map((match) => match[1])];
  const size = (file) => statSync(new URL(`${file}.br`, DIST)).size;
  print('first load, brotli', `${files.reduce((sum, file) => sum + size(file), 0)} bytes`);
  const all = readdirSync(DIST, { recursive: true }).filter((file) => String(file).endsWith('.br'));
  const whole = all.reduce((sum, file) => sum + statSync(new URL(String(file), DIST)).size, 0);
  print('all files of the page, brotli (added to the binary)', `${whole} bytes`);
}

const program = ['chromium-headless-shell', 'chromium']
  .map((name) => {
    try {
      return execFileSync('which', [name]).toString().trim();
    } catch {
      return '';
    }
  })
  .find(Boolean);
firstLoad();
const server = await serve({ to, token });
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });

async function interactive() {
  const times = [];
  for (let round = 0; round < 5; round += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    const begin = Date.now();
    await page.goto(`${base}/sessions`, { waitUntil: 'commit' });
    await page.waitForFunction(
      () => !document.querySelector('[aria-busy=true]') && document.querySelector('nav a'),
    );
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => done())));
    times.push(Date.now() - begin);
    await context.close();
  }
  print('can be used, 4 × slower CPU, median of 5', `${middle(times)} ms`);
}

/** A prompt makes durable events; the page paints the message that it is. */
async function paint() {
  const session = await api('POST', '/api/projects/default/sessions', { agentID: 'demo' });
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(`${base}/sessions/${session.id}`);
  await page.waitForSelector('textarea');
  await page.waitForTimeout(500);
  const times = [];
  for (let round = 0; round < 10; round += 1) {
    const text = `measured ${round}`;
    const seen = page.evaluate(
      (wanted) =>
        new Promise((done) => {
          const look = () =>
            document.querySelector('.th')?.textContent.includes(wanted)
              ? done(performance.timeOrigin + performance.now())
              : requestAnimationFrame(look);
          look();
        }),
      text,
    );
    await api('POST', `/api/sessions/${session.id}/prompt`, { text });
    const { items } = await api('GET', `/api/sessions/${session.id}/events?limit=200`);
    const event = items.findLast(
      (one) => one.type === 'input_received' && JSON.stringify(one.data).includes(text),
    );
    times.push((await seen) - event.at);
    await page.waitForTimeout(150);
  }
  print('from a durable event to its paint, median of 10', `${Math.round(middle(times))} ms`);
  print('the longest of them', `${Math.round(Math.max(...times))} ms`);
  return session.id;
}

async function frames(path, selector, what) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(base + path);
  await page.waitForSelector(selector);
  await page.waitForTimeout(500);
  const found = await page.evaluate(
    (wanted) =>
      new Promise((done) => {
        const list = [...document.querySelectorAll(wanted)].find(
          (one) => one.scrollHeight > one.clientHeight,
        );
        const begin = performance.now();
        let count = 0;
        let way = 60;
        const step = (now) => {
          count += 1;
          if (list) {
            const before = list.scrollTop;
            list.scrollTop += way;
            if (list.scrollTop === before) way = -way;
          }
          if (now - begin < 3000) requestAnimationFrame(step);
          else done({ rate: (count / (now - begin)) * 1000, scrolls: Boolean(list) });
        };
        requestAnimationFrame(step);
      }),
    selector,
  );
  print(
    `frames a second while ${what} scrolls${found.scrolls ? '' : ' (it fits the screen)'}`,
    found.rate.toFixed(0),
  );
  await page.close();
}

await interactive();
const session = await paint();
await frames('/sessions', '.body', 'the list');
await frames(`/sessions/${session}`, '.cv, .cv *, .th', 'the conversation');
await browser.close();
server.close();
process.exit(0);
