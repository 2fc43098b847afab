import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';

const source = readFileSync('public/service-worker.js', 'utf8');
const ORIGIN = 'https://dormouse.example';

interface Asked {
  method?: string;
  mode?: string;
}
interface Answered {
  text: string;
  ok?: boolean;
  type?: string;
  redirected?: boolean;
}
type Said = Answered & { clone: () => Said };

/** A browser with the worker in it: its caches, its network and what a page of it asks for. */
class Browser {
  readonly kept = new Map<string, Map<string, Said>>();
  online = true;
  answers = new Map<string, Answered>();
  private readonly listeners = new Map<string, (event: unknown) => void>();

  constructor() {
    const path = (request: string | { url: string }): string =>
      new URL(typeof request === 'string' ? request : request.url, ORIGIN).pathname;
    const caches = {
      keys: () => Promise.resolve([...this.kept.keys()]),
      delete: (name: string) => Promise.resolve(this.kept.delete(name)),
      match: (request: string | { url: string }) =>
        Promise.resolve(
          [...this.kept.values()].map((one) => one.get(path(request))).find((one) => one),
        ),
      open: (name: string) => {
        const cache = this.kept.get(name) ?? new Map<string, Said>();
        this.kept.set(name, cache);
        return Promise.resolve({
          put: (request: string | { url: string }, said: Said) => cache.set(path(request), said),
        });
      },
    };
    const fetch = (request: string | { url: string }): Promise<Said> => {
      if (!this.online) return Promise.reject(new TypeError('no connection'));
      const found = this.answers.get(path(request)) ?? { text: `server: ${path(request)}` };
      const said: Said = {
        ok: true,
        type: 'basic',
        redirected: false,
        ...found,
        clone: () => said,
      };
      return Promise.resolve(said);
    };
    const self = {
      location: { origin: ORIGIN },
      clients: { claim: () => Promise.resolve() },
      addEventListener: (type: string, listener: (event: unknown) => void) =>
        this.listeners.set(type, listener),
    };
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the worker is a script of its own
    new Function('self', 'caches', 'fetch', source)(self, caches, fetch);
  }

  /** What the worker answers; `null`: it leaves the request to the browser. */
  async ask(path: string, { method = 'GET', mode = 'cors' }: Asked = {}): Promise<string | null> {
    let answer: Promise<Said> | null = null;
    const waits: Promise<unknown>[] = [];
    this.listeners.get('fetch')?.({
      request: { url: ORIGIN + path, method, mode },
      respondWith: (given: Promise<Said>) => (answer = given),
      waitUntil: (given: Promise<unknown>) => waits.push(given),
    });
    await Promise.all(waits);
    return answer ? (await (answer as Promise<Said>)).text : null;
  }
  view(path: string): Promise<string | null> {
    return this.ask(path, { mode: 'navigate' });
  }
  async send(type: string, data?: string): Promise<void> {
    const waits: Promise<unknown>[] = [];
    const event = { data, waitUntil: (given: Promise<unknown>) => waits.push(given) };
    this.listeners.get(type)?.(event);
    await Promise.all(waits);
  }
  paths(): string[] {
    return [...this.kept.values()].flatMap((one) => [...one.keys()]).sort();
  }
}

describe('service worker', () => {
  let browser: Browser;
  beforeEach(() => {
    browser = new Browser();
  });

  it('keeps neither the inbox nor what the API says', async () => {
    await browser.send('message', 'keep');
    await browser.view('/');
    await browser.view('/sessions/ses_1');
    await browser.ask('/api/me');
    await browser.ask('/assets/a-1.js');
    expect(browser.paths()).toEqual(['/assets/a-1.js', '/index.html']);
  });

  it('gives the page offline, and never a file that it does not know', async () => {
    await browser.send('message', 'keep');
    browser.online = false;
    expect(await browser.view('/')).toBe('server: /index.html');
    expect(await browser.view('/sessions?q=x')).toBe('server: /index.html');
    await expect(browser.ask('/assets/b-2.js')).rejects.toThrow('no connection');
  });

  it('leaves the pages that the server draws to the server', async () => {
    await browser.send('message', 'keep');
    for (const path of ['/a/pnd_1', '/c/x', '/api/me', '/sign-in', '/sign-in?next=/'])
      expect(await browser.view(path)).toBeNull();
  });

  it.each([
    ['POST', '/sign-out'],
    ['DELETE', '/sign-in'],
  ])('forgets the page at %s %s', async (method, path) => {
    await browser.send('message', 'keep');
    expect(await browser.ask(path, { method })).toBeNull();
    expect(browser.paths()).toEqual([]);
    browser.online = false;
    await expect(browser.view('/')).rejects.toThrow('no connection');
  });

  it('forgets the page when the server leads to the sign-in', async () => {
    await browser.send('message', 'keep');
    browser.answers.set('/sessions', { text: '', ok: false, type: 'opaqueredirect' });
    await browser.view('/sessions');
    expect(browser.paths()).toEqual([]);
  });

  it('keeps the page of nobody that the server refuses', async () => {
    browser.answers.set('/index.html', { text: 'broken', ok: false });
    await browser.send('message', 'keep');
    expect(browser.paths()).toEqual([]);
  });

  it('drops what an earlier release kept', async () => {
    browser.kept.set('dormouse-page', new Map());
    await browser.send('activate');
    expect(browser.kept.size).toBe(0);
  });
});
