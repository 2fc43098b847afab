// Every view at every size, in both colour schemes: it fits the screen, and axe finds nothing.
import { mkdirSync } from 'node:fs';
import type { Browser } from '@playwright/test';
import type { PendingCall, Session } from '../../../clients/typescript/src/index.ts';
import { accessible, expect, shows, signIn, still, test, within, type Page } from './page.ts';
import type { Server } from './server.ts';

test.use({
  config: `
[[gate]]
id = "deploys"
tools = ["approve_deploy"]
ask = "Deploy {input.target} to production?"
timeout = "2h"
`,
});

interface World {
  call: PendingCall;
  question: PendingCall;
  job: PendingCall;
  done: Session;
  tasks: Session;
}

async function world(server: Server): Promise<World> {
  const session = await server.create('approve A');
  const done = await server.create('deploy B', { title: 'Deploy the shop', alias: 'shop' });
  await server.result((await server.openCall(done.id)).id, { version: 2 });
  await server.atRest(done.id);
  const question = await server.create('ask Where? | north | south');
  const job = await server.create('deploy C');
  const tasks = await server.create('background report half of it');
  const mail = { to: 'shop', text: 'Is it live?', from: tasks.id };
  await server.api.ok('POST', '/api/mail', mail);
  const ruled = await server.openCall((await server.create('approve D')).id);
  const { id: pendingID, inputDigest } = ruled;
  const rule = { scope: 'session' };
  await server.api.call('POST', '/async-tool/decision', {
    pendingID,
    inputDigest,
    approved: true,
    rule,
  });
  return {
    call: await server.openCall(session.id),
    question: await server.openCall(question.id),
    job: await server.openCall(job.id),
    done,
    tasks,
  };
}

/** Each view: its name, its address, and a text that is there once it has its data. */
const views = ({
  call,
  question,
  job,
  done,
  tasks,
}: World): [string, string, string | RegExp][] => [
  ['inbox', '/', 'Allow dangerous'],
  ['decision', `/?open=${call.id}`, 'Approve…'],
  ['question', `/?open=${question.id}`, 'Send answer'],
  ['job', `/?open=${job.id}`, 'Enter result…'],
  ['decided', '/decided', /Approved|Nothing/],
  ['answer', `/a/${call.id}`, 'Approve…'],
  ['sessions', '/sessions', 'Deploy the shop'],
  ['no-session', '/sessions?q=nothing-like-it', 'No session matches'],
  ['session', `/sessions/${done.id}`, 'version'],
  ['session-asleep', `/sessions/${job.sessionID}`, 'Asleep'],
  ['timeline', `/sessions/${done.id}/timeline`, 'deploy'],
  ['calls', `/sessions/${done.id}/calls`, 'deploy'],
  ['session-tasks', `/sessions/${tasks.id}/tasks`, 'report half of it'],
  ['session-mail', `/sessions/${done.id}/mail`, 'Is it live?'],
  ['tasks', '/tasks', 'report half of it'],
  ['mail', '/mail', 'Is it live?'],
  ['operate', '/operate', 'Wait for people'],
  ['deliveries', '/operate/deliveries', /deliver/i],
  ['rules', '/operate/rules', /rule/i],
  ['access', '/operate/access', 'alice'],
  ['audit', '/operate/audit', 'verified'],
  ['nodes', '/operate/nodes', 'This server'],
  ['configuration', '/operate/config', 'A secret is shown'],
  ['you', '/you', 'alice'],
  ['not-found', '/nowhere', 'The link is incomplete'],
  ['no-session-there', '/sessions/ses_AAAAAAE', 'does not exist'],
];

const SIZES = [
  { name: 'small phone', width: 360, height: 760, isMobile: true },
  { name: 'phone', width: 390, height: 844, isMobile: true },
  { name: 'tablet', width: 768, height: 1024, isMobile: false },
  { name: 'desk', width: 1440, height: 900, isMobile: false },
];
const SHOTS = process.env['DORMOUSE_SHOTS'];
if (SHOTS) mkdirSync(SHOTS, { recursive: true });

const fits = (page: Page, view: string, width: number): Promise<void> =>
  expect
    .poll(
      () => page.evaluate(() => document.documentElement.scrollWidth),
      `${view} is as wide as the screen`,
    )
    .toBeLessThanOrEqual(width);

const open = async (
  page: Page,
  server: Server,
  [view, path, seen]: [string, string, string | RegExp],
  width: number,
): Promise<void> => {
  await page.goto(server.url + path);
  await shows(page, seen);
  await expect(page.locator('.skel')).toHaveCount(0);
  await fits(page, view, width);
};

/** What axe finds does not differ at the narrowest and the widest screen. */
async function viewsFit(
  browser: Browser,
  server: Server,
  { width, height, isMobile }: { width: number; height: number; isMobile: boolean },
): Promise<void> {
  const whole = await world(server);
  const options = { viewport: { width, height }, isMobile, hasTouch: isMobile };
  await within(browser, options, async (page) => {
    await signIn(page, server);
    for (const view of views(whole)) await open(page, server, view, width);
  });
}

test('views fit the narrowest phone', ({ browser, server }) =>
  viewsFit(browser, server, { width: 320, height: 568, isMobile: true }));

test('views fit the widest desk', ({ browser, server }) =>
  viewsFit(browser, server, { width: 2560, height: 1440, isMobile: false }));

test('nothing moves for those who want no motion', async ({ page, server, provider }) => {
  const session = await server.create(undefined, { agentID: 'writer' });
  await signIn(page, server, `/sessions/${session.id}`);
  await server.api.ok('POST', `/api/sessions/${session.id}/prompt`, { text: 'go' });
  await expect(page.locator('.caret')).toBeVisible();
  const moving = (): Promise<number> =>
    page.evaluate(
      () => document.getAnimations().filter((one) => one.playState === 'running').length,
    );
  await expect.poll(moving, 'the caret blinks').toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expect.poll(moving).toBe(0);
  provider.release(1000);
  await server.atRest(session.id);
});

for (const { name, width, height, isMobile } of SIZES) {
  test(`views fit a ${name} and pass axe`, async ({ browser, server }) => {
    test.setTimeout(180_000);
    const whole = await world(server);
    const options = { viewport: { width, height }, isMobile, hasTouch: isMobile };
    await within(browser, { ...options, reducedMotion: 'reduce' }, async (page) => {
      await page.goto(`${server.url}/sign-in`);
      for (const scheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: scheme });
        await accessible(page, `sign-in ${scheme}`);
      }
      await signIn(page, server);
      for (const one of views(whole)) {
        const [view] = one;
        await open(page, server, one, width);
        for (const scheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme: scheme });
          if (SHOTS) {
            await still(page);
            await page.screenshot({ path: `${SHOTS}/${view}-${width}-${scheme}.png` });
          }
          // Only the colours differ from scheme to scheme.
          await accessible(page, `${view} ${scheme}`, scheme === 'dark' ? 'color-contrast' : '');
        }
      }
    });
  });
}
