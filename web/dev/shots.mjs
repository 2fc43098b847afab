#!/usr/bin/env node
// Screenshots of every view of the built page, at phone and desk size, light and dark, and axe on each.
// `node dev/shots.mjs FOLDER [NAME...] [--to URL --token TOKEN]`; without --to the fake server answers.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from '@playwright/test';
import { fake, ids } from './fake.mjs';
import { serve } from './serve.mjs';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const PROGRAMS = ['chromium-headless-shell', 'chromium'];
const SIZES = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 } };
const EDIT = async (page) => {
  await page.keyboard.press('e');
  await page.getByLabel('replicas').fill('6');
  await page.getByRole('button', { name: 'Done' }).click();
};
/** Each view: its address, and what is done there before the picture. */
const VIEWS = {
  inbox: ['/', null],
  'inbox-edit': [`/?open=${ids.deploy}`, EDIT],
  'inbox-refund': [`/?open=${ids.refund}`, null],
  'inbox-question': [`/?open=${ids.question}`, null],
  'inbox-job': [`/?open=${ids.job}`, null],
  'inbox-doubt': [`/?open=${ids.doubt}`, null],
  'inbox-late': [`/?open=${ids.late}`, null],
  decision: [`/a/${ids.deploy}`, null],
  'decision-approve': [
    `/a/${ids.deploy}`,
    (page) => page.getByRole('button', { name: 'Approve' }).first().click(),
  ],
  'decision-deny': [
    `/a/${ids.deploy}`,
    (page) => page.getByRole('button', { name: 'Deny' }).first().click(),
  ],
  sessions: ['/sessions', null],
  'sessions-none': ['/sessions?q=invoice-missing', null],
  session: [`/sessions/${ids.ship}`, null],
  'session-past': [`/sessions/${ids.ship}?at=8`, null],
  'session-asleep': [`/sessions/${ids.asleep}`, null],
  timeline: [`/sessions/${ids.ledger}/timeline`, null],
  calls: [`/sessions/${ids.ledger}/calls`, null],
  'session-tasks': [`/sessions/${ids.review}/tasks`, null],
  'session-mail': [`/sessions/${ids.review}/mail`, null],
  tasks: ['/tasks', null],
  mail: ['/mail', null],
  operate: ['/operate', null],
  deliveries: ['/operate/deliveries', null],
  rules: ['/operate/rules', null],
  access: ['/operate/access', null],
  audit: ['/operate/audit', null],
  nodes: ['/operate/nodes', null],
  config: ['/operate/config', null],
  you: ['/you', null],
  shortcuts: ['/', (page) => page.keyboard.press('?')],
  'not-found': ['/nowhere', null],
  connection: [
    `/sessions/${ids.ship}`,
    async (page, world) => {
      world.cut(true);
      await page.waitForTimeout(3600);
    },
  ],
};

const program = PROGRAMS.map((name) => {
  try {
    return execFileSync('which', [name]).toString().trim();
  } catch {
    return '';
  }
}).find(Boolean);

const given = process.argv.slice(2);
const option = (name) => (given.includes(name) ? given.splice(given.indexOf(name), 2)[1] : '');
const [to, token, only] = [option('--to'), option('--token'), option('--only')];
const [folder = '/tmp/web-shots', ...names] = given;
mkdirSync(folder, { recursive: true });

const world = fake();
const server = await serve(to ? { to, token } : { fake: world });
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox'] });
let findings = 0;

async function look(name, size, scheme) {
  const [path, act] = VIEWS[name];
  const context = await browser.newContext({
    viewport: SIZES[size],
    deviceScaleFactor: 1,
    colorScheme: scheme,
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
    bypassCSP: false,
    hasTouch: size === 'phone',
  });
  const page = await context.newPage();
  page.on('pageerror', (error) => console.log(`${name} ${size}: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !/Failed to load resource|ERR_/.test(text))
      console.log(`${name} ${size}: ${text}`);
  });
  world.cut(false);
  await page.goto(base + path);
  await page
    .waitForFunction(
      () => !document.querySelector('[aria-busy=true]') && document.querySelector('h1'),
      null,
      { timeout: 8000 },
    )
    .catch(() => console.log(`${name} ${size}: not ready`));
  await page.waitForTimeout(250);
  if (act) await act(page, world);
  await page.waitForTimeout(500);
  await page.screenshot({ path: `${folder}/${name}-${size}-${scheme}.png` });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth + 1);
  if (wide) console.log(`${name} ${size}: wider than the screen`);
  const session = await context.newCDPSession(page);
  await session.send('Page.setBypassCSP', { enabled: true });
  // Evaluated by the debugger, which the policy of the page does not concern.
  const { result } = await session.send('Runtime.evaluate', {
    expression: `${AXE};axe.run(document,{resultTypes:['violations']}).then((r)=>JSON.stringify(r.violations.map((v)=>v.id+': '+v.nodes.slice(0,3).map((n)=>n.target.join(' ')+' '+(n.failureSummary||'').split('\\n')[1]).join(' | '))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  for (const finding of JSON.parse(result.value ?? '[]')) {
    findings += 1;
    console.log(`${name} ${size} ${scheme}: ${finding}`);
  }
  await context.close();
}

for (const name of names.length > 0 ? names : Object.keys(VIEWS)) {
  for (const size of Object.keys(SIZES)) {
    for (const scheme of ['light', 'dark']) {
      if (only && only !== `${size}-${scheme}`) continue;
      await look(name, size, scheme).catch((error) => {
        findings += 1;
        console.log(`${name} ${size} ${scheme}: ${error.message.split('\n')[0]}`);
      });
    }
  }
}
await browser.close();
server.closeAllConnections();
server.close();
console.log(findings === 0 ? 'axe: no finding' : `${findings} findings`);
process.exitCode = findings === 0 ? 0 : 1;
