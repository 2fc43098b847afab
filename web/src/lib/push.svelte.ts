// Notifications of this browser: the subscription at its push service, and the devices that the server knows.
import type { Device, DeviceTest } from 'dormouse-client';
import { client } from './api';
import { router } from './router.svelte';

/** Why this browser gets none; `off`: it can, and a person must want it. */
export type Notifications = 'loading' | 'server-off' | 'unsupported' | 'blocked' | 'off' | 'on';

/** "Firefox on Android", as a person knows a browser. */
export function deviceLabel(agent: string): string {
  const known = (names: [RegExp, string][]): string =>
    names.find(([pattern]) => pattern.test(agent))?.[1] ?? '';
  const browser = known([
    [/Edg/, 'Edge'],
    [/OPR\//, 'Opera'],
    [/Firefox|FxiOS/, 'Firefox'],
    [/Chrome|CriOS/, 'Chrome'],
    [/Safari/, 'Safari'],
  ]);
  const system = known([
    [/Android/, 'Android'],
    [/iPhone/, 'iPhone'],
    [/iPad/, 'iPad'],
    [/Windows/, 'Windows'],
    [/Mac OS X/, 'macOS'],
    [/Linux/, 'Linux'],
  ]);
  return `${browser || 'A browser'}${system ? ` on ${system}` : ''}`;
}

/** Whether a subscription was made with this key of the server, which is in base64url. */
export function hasKey(subscription: PushSubscription, key: string): boolean {
  const bytes = new Uint8Array(subscription.options.applicationServerKey ?? new ArrayBuffer(0));
  const text = btoa(String.fromCharCode(...bytes));
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '') === key;
}

/** The service worker of a click on a notification says what to open. */
export function openFromWorker(message: unknown): void {
  const to = (message as { open?: unknown } | null)?.open;
  if (typeof to === 'string' && /^\/(?!\/)/.test(to)) router.go(to);
}

async function pushes(): Promise<PushManager | null> {
  if (!('serviceWorker' in navigator) || !('PushManager' in window)) return null;
  return (await navigator.serviceWorker.getRegistration())?.pushManager ?? null;
}

class Push {
  state = $state<Notifications>('loading');
  devices = $state.raw<Device[]>([]);
  private key: string | null = null;

  async load(): Promise<void> {
    const { key, items } = await client.call('listDevices');
    this.key = key;
    this.devices = items;
    this.state = await this.look();
  }

  private async look(): Promise<Notifications> {
    if (!this.key) return 'server-off';
    const manager = await pushes();
    if (!manager) return 'unsupported';
    if (Notification.permission === 'denied') return 'blocked';
    const own = await manager.getSubscription();
    const known = this.devices.some((one) => one.current);
    return own && hasKey(own, this.key) && known ? 'on' : 'off';
  }

  /** Asks the person, then the push service, then the server. */
  async enable(): Promise<void> {
    const manager = await pushes();
    if (!manager || !this.key) return;
    if ((await Notification.requestPermission()) !== 'granted') {
      this.state = await this.look();
      return;
    }
    const old = await manager.getSubscription();
    if (old && !hasKey(old, this.key)) await old.unsubscribe();
    const own = await manager.subscribe({
      userVisibleOnly: true,
      applicationServerKey: this.key,
    });
    const { endpoint = '', keys = {} } = own.toJSON();
    const { p256dh = '', auth = '' } = keys;
    const label = deviceLabel(navigator.userAgent);
    await client.call('createDevice', { body: { endpoint, p256dh, auth, label } });
    await this.load();
  }

  async remove(device: Device): Promise<void> {
    await client.call('deleteDevice', { path: { id: device.id } });
    if (device.current) await (await (await pushes())?.getSubscription())?.unsubscribe();
    await this.load();
  }

  async test(device: Device): Promise<DeviceTest> {
    const answer = await client.call('testDevice', { path: { id: device.id } });
    if (answer.removed) await this.load();
    return answer;
  }
}

export const push = new Push();
