// Foreign pages in the browser of a signed-in person read nothing and change nothing. Each attack is tried from another
// site, from another port of the same host (which SameSite does not stop), and by a name that resolves to another address
// a moment later (DNS rebinding).
import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PendingCall } from '../../../clients/typescript/src/index.ts';
import { button, expect, signIn, shows, test as base, type Page } from './page.ts';
import type { Server } from './server.ts';

const FOREIGN = ['evil.example', '127.0.0.1', 'localhost'];
const LIST = '/api/projects/default/sessions';

interface Attack {
  port: number;
  call: PendingCall;
  /** A page of alice, who is signed in; its policy blocks no scripts. */
  own: Page;
  everything: () => Promise<Record<string, string>>;
  fromEvil: (act: (evil: Page, host: string) => Promise<void>) => Promise<void>;
}

const test = base.extend<{ attack: Attack; evil: HttpServer }>({
  // eslint-disable-next-line no-empty-pattern -- Playwright wants a pattern
  evil: async ({}, use) => {
    const evil = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<!doctype html><title>evil</title><body>evil</body>');
    });
    await new Promise<void>((done) => evil.listen(0, '0.0.0.0', done));
    await use(evil);
    evil.closeAllConnections();
    evil.close();
  },
  attack: async ({ page, server, evil }, use) => {
    const call = await server.openCall((await server.create('deploy A')).id);
    await signIn(page, server);
    await page.goto(`${server.url}/healthz`);
    const { port } = evil.address() as AddressInfo;
    await use({
      port,
      call,
      own: page,
      everything: () => everything(server),
      fromEvil: async (act) => {
        for (const host of FOREIGN) {
          const one = await page.context().newPage();
          await one.goto(`http://${host}:${port}/`);
          expect(await one.title(), host).toBe('evil');
          await act(one, host);
          await one.close();
        }
      },
    });
  },
});

// The attacks are refused, and the browser says so.
test.use({ faults: /./ });

/** Everything that an attack could have changed. */
async function everything(server: Server): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of [LIST, '/async-tool/pending', '/api/tokens']) {
    const answer = await server.api.call('GET', path);
    expect(answer.status).toBe(200);
    found[path] = answer.text;
  }
  return found;
}

interface Sent {
  url: string;
  method: string;
  body: string | null;
  kind: string;
  mode: RequestMode;
}

/** How a request ends for the page that sends it. */
const send = (page: Page, sent: Sent): Promise<string> =>
  page.evaluate(
    ({ url, method, body, kind, mode }) =>
      fetch(url, {
        method,
        mode,
        credentials: 'include',
        ...(body === null ? {} : { body }),
        headers: kind ? { 'Content-Type': kind } : {},
      }).then(
        (answer) => `${answer.type} ${answer.status}`,
        () => 'refused',
      ),
    sent,
  );

/** Sends a form from the page; the text before its '=' makes it JSON. */
const sendForm = (page: Page, url: string, kind: string, value: string): Promise<void> =>
  page.evaluate(
    ([action, enctype, text]) => {
      const form = document.createElement('form');
      form.method = 'POST';
      form.action = String(action);
      form.enctype = String(enctype);
      const field = document.createElement('textarea');
      field.name = `${String(text).slice(0, -1)},"x":"`;
      field.value = '"}';
      form.append(field);
      document.body.append(form);
      form.submit();
    },
    [url, kind, value],
  );

const resultBody = (call: PendingCall): string =>
  `{"pendingID":"${call.id}","result":{"output":"evil"}}`;

test('the cookie works on our own page', async ({ attack }) => {
  const result = await send(attack.own, {
    url: '/async-tool/result',
    method: 'POST',
    body: resultBody(attack.call),
    kind: 'application/json',
    mode: 'cors',
  });
  expect(result).toBe('basic 200');
});

test('a foreign page sends and nothing changes', async ({ attack, server }) => {
  const before = await attack.everything();
  const tries = [
    ['POST', '/async-tool/result', resultBody(attack.call)],
    ['POST', LIST, '{"agent":"demo","prompt":"evil"}'],
    ['POST', '/api/tokens', '{"name":"evil","role":"admin"}'],
    ['POST', '/sign-out', ''],
    ['DELETE', `/api/sessions/${attack.call.sessionID}`, null],
  ] as const;
  const kinds = ['text/plain', 'application/json', 'application/x-www-form-urlencoded'];
  await attack.fromEvil(async (evil, host) => {
    for (const [method, path, body] of tries)
      for (const kind of kinds)
        for (const mode of ['no-cors', 'cors'] as const) {
          const result = await send(evil, { url: server.url + path, method, body, kind, mode });
          expect(['opaque 0', 'refused'], `${host} ${path} ${kind} ${mode}`).toContain(result);
        }
    await evil.evaluate(
      ([url, body]) => navigator.sendBeacon(String(url), String(body)),
      [`${server.url}/async-tool/result`, resultBody(attack.call)],
    );
  });
  expect(await attack.everything()).toEqual(before);
});

test('a foreign form sends and nothing changes', async ({ attack, server }) => {
  const before = await attack.everything();
  const kinds = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'];
  for (const path of ['/async-tool/result', '/api/mail', '/api/links', `/a/${attack.call.id}`])
    for (const kind of kinds)
      await attack.fromEvil(async (evil, host) => {
        await sendForm(evil, server.url + path, kind, resultBody(attack.call));
        await evil.waitForURL((url) => url.host === `127.0.0.1:${server.port}`);
        expect(await evil.locator('body').innerText(), host).not.toContain('"receipt"');
      });
  expect(await attack.everything()).toEqual(before);
});

test('a foreign page reads nothing', async ({ attack, server }) => {
  const events = `/api/sessions/${attack.call.sessionID}/events`;
  await attack.fromEvil(async (evil, host) => {
    for (const path of [LIST, events, '/async-tool/pending'])
      for (const mode of ['no-cors', 'cors'] as const) {
        const read = { url: server.url + path, method: 'GET', body: null, kind: '', mode };
        expect(['opaque 0', 'refused'], `${host} ${path}`).toContain(await send(evil, read));
      }
    const opened = await evil.evaluate(
      (url) =>
        new Promise<string>((done) => {
          const stream = new EventSource(url, { withCredentials: true });
          stream.onopen = () => done('open');
          stream.onerror = () => done('closed');
          stream.onmessage = () => done('read');
        }),
      server.url + events,
    );
    expect(opened, host).toBe('closed');
    const script = await evil.evaluate(
      (url) =>
        new Promise<string>((done) => {
          const one = document.createElement('script');
          one.onload = () => done('ran');
          one.onerror = () => done('refused');
          one.src = url;
          document.head.append(one);
        }),
      server.url + LIST,
    );
    expect(script, host).toBe('refused');
  });
});

test('no page of ours is in a frame', async ({ attack, server }) => {
  await attack.fromEvil(async (evil, host) => {
    for (const path of ['/sign-in', '/', '/sessions', `/a/${attack.call.id}`]) {
      await evil.evaluate(
        (url) =>
          new Promise<void>((done) => {
            const frame = document.createElement('iframe');
            frame.onload = () => done();
            frame.src = url;
            document.body.replaceChildren(frame);
          }),
        server.url + path,
      );
      const inside = evil.frames().filter((one) => one !== evil.mainFrame());
      const shown = inside.map((one) => one.url()).filter((url) => url.startsWith('http'));
      expect(shown, `${host} ${path}`).toEqual([]);
    }
  });
});

test('signed-in person denies at the link of the decision', async ({ attack, server }) => {
  const session = await server.create('approve X');
  const call = await server.openCall(session.id);
  await attack.fromEvil(async (evil) => {
    // A link on a foreign page leads a signed-in person to the decision.
    await evil.evaluate((url) => (location.href = url), `${server.url}/a/${call.id}`);
    await expect(button(evil, 'Deny…')).toBeVisible();
  });
  const page = await attack.own.context().newPage();
  await page.goto(`${server.url}/a/${call.id}`);
  await button(page, 'Deny…').click();
  await page.locator('#reason').fill('not on a friday');
  await button(page, 'Deny the call').click();
  await shows(page, 'Denied');
  await server.atRest(session.id);
  expect(await server.lastText(session.id)).toContain('denied: not on a friday');
  await expect(button(page, 'Deny…')).toHaveCount(0);
});

test('DNS rebinding is refused', async ({ attack, browser, server }) => {
  const before = await attack.everything();
  // The error page is not the attacker's: without its policy it stands for one that is.
  const context = await browser.newContext({ bypassCSP: true });
  const page = await context.newPage();
  await page.goto(`http://rebound.example:${server.port}${LIST}`);
  expect(await page.locator('body').innerText()).toContain('wrong_host');
  for (const [method, path, body] of [
    ['GET', LIST, null],
    ['GET', '/sign-in', null],
    ['POST', '/async-tool/result', resultBody(attack.call)],
    ['POST', LIST, '{"agent":"demo","prompt":"evil"}'],
  ] as const) {
    const sent = { url: path, method, body, kind: 'application/json', mode: 'cors' as const };
    expect(await send(page, sent), path).toBe('basic 421');
  }
  await context.close();
  expect(await attack.everything()).toEqual(before);
});

test('foreign page cannot sign in another person', async ({ attack, server }) => {
  const code = (await server.link('mallory')).url.split('#')[1] ?? '';
  const url = `${server.url}/sign-in`;
  const body = `{"code":"${code}"}`;
  await attack.fromEvil(async (evil) => {
    await send(evil, { url, method: 'POST', body, kind: 'text/plain', mode: 'no-cors' });
    await sendForm(evil, url, 'text/plain', body);
    await evil.waitForURL((now) => now.host === `127.0.0.1:${server.port}`);
  });
  type Tokens = { items: { name: string; kind?: string }[] };
  const { items } = await server.api.ok<Tokens>('GET', '/api/tokens');
  const names = items.filter((one) => one.kind === 'cookie').map((one) => one.name);
  expect(names).toContain('alice');
  expect(names).not.toContain('mallory');
});
