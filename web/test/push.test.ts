import { mount, tick, unmount } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { me } from '../src/lib/me.svelte';
import { deviceLabel, openFromWorker, push } from '../src/lib/push.svelte';
import { router } from '../src/lib/router.svelte';
import { toasts } from '../src/lib/toasts.svelte';
import Notifications from '../src/parts/Notifications.svelte';

const KEY = 'BP-_';
const BYTES = new Uint8Array([0x04, 0xff, 0xbf]);
const device = (id: string, current: boolean) => ({
  id,
  label: id === 'dev_1' ? 'Firefox on Android' : 'Edge on Windows',
  service: 'push.example.net',
  current,
  time: { created: Date.now() },
});

/** A browser's Push API and the server's list of devices. */
class World {
  key: string | null = KEY;
  items = [device('dev_2', false)];
  permission: NotificationPermission = 'default';
  subscription: { unsubscribe: () => Promise<boolean> } | null = null;
  test: unknown = { taken: true, status: 201, why: null, removed: false };
  sent: { method: string; path: string; body: unknown }[] = [];

  subscribe(bytes = BYTES) {
    const made = {
      options: { applicationServerKey: bytes.buffer },
      toJSON: () => ({
        endpoint: 'https://push.example.net/s3cret',
        keys: { p256dh: 'P', auth: 'A' },
      }),
      unsubscribe: () => {
        this.subscription = null;
        return Promise.resolve(true);
      },
    };
    this.subscription = made;
    return made;
  }
  answer(path: string, init: RequestInit = {}): Response {
    const method = init.method ?? 'GET';
    const text = typeof init.body === 'string' ? init.body : '';
    if (method !== 'GET')
      this.sent.push({ method, path, body: text ? (JSON.parse(text) as unknown) : null });
    if (path.endsWith('/test')) return Response.json(this.test);
    if (method === 'POST') {
      this.items = [...this.items, device('dev_1', true)];
      return Response.json(this.items[1], { status: 201 });
    }
    if (method === 'DELETE') {
      this.items = this.items.filter((one) => !path.endsWith(one.id));
      return new Response(null, { status: 204 });
    }
    return Response.json({ key: this.key, items: this.items });
  }
}

const button = (name: string): HTMLButtonElement | undefined =>
  [...document.querySelectorAll('button')].find(
    (one) => one.getAttribute('aria-label') === name || one.textContent?.trim() === name,
  );
const text = (): string => document.body.textContent ?? '';

describe('notifications of /you', () => {
  let world: World;
  let shown: Record<string, unknown>;
  beforeEach(() => {
    world = new World();
    me.role = 'answer';
    toasts.list = [];
    push.state = 'loading';
    push.devices = [];
    vi.stubGlobal('fetch', (path: string, init?: RequestInit) =>
      Promise.resolve(world.answer(path, init)),
    );
    vi.stubGlobal('PushManager', class {});
    vi.stubGlobal('Notification', {
      get permission() {
        return world.permission;
      },
      requestPermission: () => Promise.resolve((world.permission = 'granted')),
    });
    const pushManager = {
      getSubscription: () => Promise.resolve(world.subscription),
      subscribe: () => Promise.resolve(world.subscribe()),
    };
    Object.defineProperty(navigator, 'serviceWorker', {
      configurable: true,
      value: { getRegistration: () => Promise.resolve({ pushManager }) },
    });
  });
  afterEach(() => {
    void unmount(shown);
    Reflect.deleteProperty(navigator, 'serviceWorker');
    vi.unstubAllGlobals();
  });
  async function show(): Promise<void> {
    shown = mount(Notifications, { target: document.body });
    await vi.waitFor(() => expect(push.state).not.toBe('loading'));
    await tick();
  }
  const shows = (what: string) =>
    vi.waitFor(() => expect(toasts.list.map((one) => one.text)).toContain(what));

  it('are switched on for this browser', async () => {
    await show();
    expect(text()).not.toContain('this browser ·');
    button('Notify this browser')?.click();
    await shows('This browser gets notifications.');
    expect(world.sent).toEqual([
      {
        method: 'POST',
        path: '/api/devices',
        body: {
          endpoint: 'https://push.example.net/s3cret',
          p256dh: 'P',
          auth: 'A',
          label: deviceLabel(navigator.userAgent),
        },
      },
    ]);
    expect(text()).toContain('this browser ·');
    expect(button('Notify this browser')).toBeUndefined();
  });

  it('replace a subscription with another key of the server', async () => {
    world.subscribe(new Uint8Array([1, 2, 3]));
    const old = world.subscription;
    await show();
    button('Notify this browser')?.click();
    await shows('This browser gets notifications.');
    expect(world.subscription).not.toBe(old);
  });

  it('can be tested', async () => {
    await show();
    button('Send a test to Edge on Windows')?.click();
    await shows('Sent. It should appear within seconds.');
    expect(world.sent[0]?.path).toBe('/api/devices/dev_2/test');
    world.test = { taken: false, status: 503, why: 'the service answered 503', removed: false };
    await vi.waitFor(() => expect(button('Send a test to Edge on Windows')?.disabled).toBe(false));
    button('Send a test to Edge on Windows')?.click();
    await shows('Not sent: the service answered 503.');
  });

  it('end for a browser that is removed', async () => {
    world.items = [device('dev_1', true), device('dev_2', false)];
    world.subscribe();
    world.permission = 'granted';
    await show();
    button('Remove Firefox on Android')?.click();
    await shows('Firefox on Android gets no notifications any more.');
    expect(world.items.map((one) => one.id)).toEqual(['dev_2']);
    expect(world.subscription).toBeNull();
    expect(button('Notify this browser')).toBeDefined();
  });

  it.each([
    ['This server sends no notifications', () => (world.key = null)],
    ['Notifications of this site are blocked', () => (world.permission = 'denied')],
    ['This browser gets none from here', () => Reflect.deleteProperty(navigator, 'serviceWorker')],
  ])('say why there are none: %s', async (why, make) => {
    make();
    await show();
    await vi.waitFor(() => expect(text()).toContain(why));
    expect(button('Notify this browser')).toBeUndefined();
    expect(button('Remove Edge on Windows')).toBeDefined();
  });
});

describe('a click on a notification', () => {
  it('opens a path of the page and nothing else', () => {
    openFromWorker({ open: '/?open=pnd_1' });
    expect(router.query.get('open')).toBe('pnd_1');
    for (const other of [{ open: '//evil.example/' }, { open: 'https://evil.example/' }, 'x', null])
      openFromWorker(other);
    expect(location.href).toBe(`${location.origin}/?open=pnd_1`);
  });
});

describe('the name of a browser', () => {
  it.each([
    ['Mozilla/5.0 (Android 15; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0', 'Firefox on Android'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0',
      'Edge on Windows',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Safari/604.1',
      'Safari on iPhone',
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36',
      'Chrome on Linux',
    ],
    ['curl/8', 'A browser'],
  ])('%s', (agent, label) => expect(deviceLabel(agent)).toBe(label));
});
