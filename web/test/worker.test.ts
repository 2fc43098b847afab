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
  json?: unknown;
  ok?: boolean;
  type?: string;
  redirected?: boolean;
}
type CachedResponse = Omit<Answered, 'json'> & {
  clone: () => CachedResponse;
  json: () => Promise<unknown>;
};
interface Shown {
  title: string;
  tag: string;
  body?: string;
  silent?: boolean;
  renotify?: boolean;
  data: { open: string };
}

/** A browser with the worker in it: its caches, its network and what a page of it asks for. */
class Browser {
  readonly kept = new Map<string, Map<string, CachedResponse>>();
  online = true;
  answers = new Map<string, Answered>();
  requests: { path: string; method?: string; body?: string }[] = [];
  /** What a person sees, and the windows that are open: their addresses and what came to them. */
  shown: Shown[] = [];
  windows: { url: string; got: unknown[]; focused: boolean }[] = [];
  subscribed = true;
  subscription: unknown = null;
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
        const cache = this.kept.get(name) ?? new Map<string, CachedResponse>();
        this.kept.set(name, cache);
        return Promise.resolve({
          put: (request: string | { url: string }, response: CachedResponse) =>
            cache.set(path(request), response),
        });
      },
    };
    const fetch = (
      request: string | { url: string },
      init: { method?: string; body?: string } = {},
    ): Promise<CachedResponse> => {
      this.requests.push({ path: path(request), ...init });
      if (!this.online) return Promise.reject(new TypeError('no connection'));
      const found = this.answers.get(path(request)) ?? { text: `server: ${path(request)}` };
      const response: CachedResponse = {
        ok: true,
        type: 'basic',
        redirected: false,
        ...found,
        json: () => Promise.resolve(found.json),
        clone: () => response,
      };
      return Promise.resolve(response);
    };
    const self = {
      location: { origin: ORIGIN },
      clients: {
        claim: () => Promise.resolve(),
        matchAll: () =>
          Promise.resolve(
            this.windows.map((one) => ({
              url: one.url,
              postMessage: (message: unknown) => one.got.push(message),
              focus: () => Promise.resolve((one.focused = true)),
            })),
          ),
        openWindow: (to: string) =>
          Promise.resolve(this.windows.push({ url: ORIGIN + to, got: [], focused: true })),
      },
      registration: {
        // A notification replaces the one with its tag.
        showNotification: (title: string, options: Omit<Shown, 'title'>) => {
          this.shown = this.shown.filter((one) => one.tag !== options.tag);
          this.shown.push({ title, ...options });
          return Promise.resolve();
        },
        getNotifications: () =>
          Promise.resolve(
            this.shown.map((one) => ({
              close: () => (this.shown = this.shown.filter((other) => other !== one)),
            })),
          ),
        pushManager: {
          getSubscription: () =>
            Promise.resolve(
              this.subscribed ? { unsubscribe: () => (this.subscribed = false) } : null,
            ),
          subscribe: (options: unknown) => {
            this.subscription = options;
            const keys = { p256dh: 'P', auth: 'A' };
            return Promise.resolve({ toJSON: () => ({ endpoint: 'https://push/2', keys }) });
          },
        },
      },
      addEventListener: (type: string, listener: (event: unknown) => void) =>
        this.listeners.set(type, listener),
    };
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the worker is a script of its own
    new Function('self', 'caches', 'fetch', source)(self, caches, fetch);
  }

  /** What the worker answers; `null`: it leaves the request to the browser. */
  async ask(path: string, { method = 'GET', mode = 'cors' }: Asked = {}): Promise<string | null> {
    let answer: Promise<CachedResponse> | null = null;
    const waits: Promise<unknown>[] = [];
    this.listeners.get('fetch')?.({
      request: { url: ORIGIN + path, method, mode },
      respondWith: (given: Promise<CachedResponse>) => (answer = given),
      waitUntil: (given: Promise<unknown>) => waits.push(given),
    });
    await Promise.all(waits);
    return answer ? (await (answer as Promise<CachedResponse>)).text : null;
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
  async push(message: unknown): Promise<void> {
    const waits: Promise<unknown>[] = [];
    const data = { json: () => JSON.parse(message as string) as unknown };
    this.listeners.get('push')?.({
      data,
      waitUntil: (given: Promise<unknown>) => waits.push(given),
    });
    await Promise.all(waits);
  }
  async click(shown: Shown): Promise<void> {
    const waits: Promise<unknown>[] = [];
    const close = () => (this.shown = this.shown.filter((one) => one !== shown));
    this.listeners.get('notificationclick')?.({
      notification: { ...shown, close },
      waitUntil: (given: Promise<unknown>) => waits.push(given),
    });
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

  it('gives the page offline and no unknown file', async () => {
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

describe('notifications', () => {
  let browser: Browser;
  beforeEach(() => {
    browser = new Browser();
  });
  const question = {
    type: 'call',
    pendingID: 'pnd_1',
    headline: 'Approval wanted',
    settled: false,
    question: 'Deploy shop?',
    tool: 'deploy',
    agentID: 'ops',
    deadline: null as number | null,
    open: '/?open=pnd_1',
  };

  it('says what waits, and decides nothing', async () => {
    await browser.push(JSON.stringify(question));
    expect(browser.shown).toEqual([
      {
        title: 'Deploy shop?',
        body: 'Approval wanted\ndeploy · ops',
        tag: 'pnd_1',
        renotify: true,
        icon: '/icon.svg',
        data: { open: '/?open=pnd_1' },
      },
    ]);
    expect(browser.requests).toEqual([]);
  });

  it('says until when, with the day if it is another one', async () => {
    const today = new Date();
    await browser.push(JSON.stringify({ ...question, deadline: today.getTime() }));
    const hour = today.toLocaleString(undefined, { timeStyle: 'short' });
    expect(browser.shown[0]?.body).toBe(`Approval wanted\ndeploy · ops · until ${hour}`);
    await browser.push(JSON.stringify({ ...question, deadline: 0, question: '' }));
    expect(browser.shown[0]?.title).toBe('deploy');
    expect(browser.shown[0]?.body).toMatch(/until .*19(69|70)/);
  });

  it('replaces the question by its outcome, without a sound', async () => {
    await browser.push(JSON.stringify(question));
    await browser.push(JSON.stringify({ ...question, pendingID: 'pnd_2' }));
    await browser.push(JSON.stringify({ ...question, settled: true, headline: 'Approved by bob' }));
    expect(browser.shown.map((one) => [one.tag, one.title])).toEqual([
      ['pnd_2', 'Deploy shop?'],
      ['pnd_1', 'Approved by bob'],
    ]);
    expect(browser.shown[1]).toMatchObject({ body: 'Deploy shop?', silent: true });
    expect(browser.shown[1]).not.toHaveProperty('renotify');
  });

  it('shows a test, and a message that it cannot read', async () => {
    await browser.push(JSON.stringify({ type: 'test', open: '/you' }));
    await browser.push('not JSON');
    expect(browser.shown.map((one) => [one.title, one.data.open])).toEqual([
      ['Notifications reach this browser', '/you'],
      ['Something waits for you', '/'],
    ]);
  });

  it('opens the call in a new window', async () => {
    browser.windows = [{ url: `${ORIGIN}/a/pnd_9`, got: [], focused: false }];
    await browser.push(JSON.stringify(question));
    await browser.click(browser.shown[0]!);
    expect(browser.shown).toEqual([]);
    expect(browser.windows[1]).toEqual({ url: `${ORIGIN}/?open=pnd_1`, got: [], focused: true });
    expect(browser.windows[0]?.focused).toBe(false);
  });

  it('opens the call in the page that is open', async () => {
    browser.windows = [{ url: `${ORIGIN}/sessions`, got: [], focused: false }];
    await browser.push(JSON.stringify(question));
    await browser.click(browser.shown[0]!);
    expect(browser.windows).toEqual([
      { url: `${ORIGIN}/sessions`, got: [{ open: '/?open=pnd_1' }], focused: true },
    ]);
  });

  it('opens nothing of another site', async () => {
    await browser.push(JSON.stringify({ ...question, open: 'https://evil.example/x' }));
    await browser.click(browser.shown[0]!);
    expect(browser.windows[0]?.url).toBe(`${ORIGIN}/`);
  });

  it('ends with the sign-in', async () => {
    await browser.push(JSON.stringify(question));
    await browser.ask('/sign-in', { method: 'DELETE' });
    expect([browser.subscribed, browser.shown]).toEqual([false, []]);
    browser.subscribed = true;
    browser.answers.set('/you', { text: '', ok: false, type: 'opaqueredirect' });
    await browser.view('/you');
    expect(browser.subscribed).toBe(false);
  });

  it('tells the server its new address', async () => {
    browser.answers.set('/api/devices', { text: '', json: { key: 'K', items: [] } });
    await browser.send('pushsubscriptionchange');
    expect(browser.subscription).toEqual({ userVisibleOnly: true, applicationServerKey: 'K' });
    expect(browser.requests[1]).toMatchObject({ path: '/api/devices', method: 'POST' });
    expect(JSON.parse(browser.requests[1]?.body ?? '')).toEqual({
      endpoint: 'https://push/2',
      p256dh: 'P',
      auth: 'A',
    });
  });

  it('stays silent where the server sends nothing', async () => {
    browser.answers.set('/api/devices', { text: '', json: { key: null, items: [] } });
    await browser.send('pushsubscriptionchange');
    expect([browser.subscription, browser.requests.length]).toEqual([null, 1]);
  });
});
