// What this browser keeps to read without a connection: the newest sessions of a project as a list (LocalStorage), and
// the history of the sessions that were open last (IndexedDB). Both are bounded, and removed at sign-out.
import type { Event } from 'dormouse-client';
import { stringify } from './exact';
import { load, save } from './storage';
import type { Call, Listed } from './words';

/** One session as it was when the page last heard of it. */
export interface Kept {
  id: string;
  at: number;
  bytes: number;
  session: Listed;
  events: Event[];
  calls: Call[];
  before: number;
}

/** Where histories are kept. */
export interface Shelf {
  get(id: string): Promise<Kept | null>;
  put(one: Kept): Promise<void>;
  remove(id: string): Promise<void>;
  /** Of all that is kept, without the events. */
  list(): Promise<{ id: string; at: number; bytes: number }[]>;
  clear(): Promise<void>;
}

export const LIST_MAX = 50;
export const SESSION_BYTES = 1_000_000;
export const ALL_BYTES = 8_000_000;

const size = (value: unknown): number => stringify(value).length;

/** The newest events that fit; a history that begins later says so by `before`. */
export function fitted(
  events: Event[],
  before: number,
  most: number,
): { events: Event[]; before: number } {
  let total = 0;
  let from = events.length;
  while (from > 0) {
    total += size(events[from - 1]);
    if (total > most) break;
    from -= 1;
  }
  const cut = from === 0 ? before : (events[from - 1]?.seq ?? before);
  return { events: events.slice(from), before: cut };
}

export class Offline {
  constructor(private readonly shelf: Shelf) {}

  keepList(project: string, sessions: Listed[]): void {
    save(`list:${project}`, sessions.slice(0, LIST_MAX));
  }
  list(project: string): Listed[] {
    return load<Listed[]>(`list:${project}`, []);
  }

  async keep(one: Omit<Kept, 'bytes'>): Promise<void> {
    const kept = { ...one, ...fitted(one.events, one.before, SESSION_BYTES) };
    try {
      await this.shelf.put({ ...kept, bytes: size(kept.events) });
      await this.bound();
    } catch {
      // Without storage (a private window) nothing is kept.
    }
  }
  async get(id: string): Promise<Kept | null> {
    try {
      return await this.shelf.get(id);
    } catch {
      return null;
    }
  }
  async remove(id: string): Promise<void> {
    await this.shelf.remove(id).catch(() => {});
  }
  async clear(): Promise<void> {
    await this.shelf.clear().catch(() => {});
  }

  /** Those that were open longest ago go first. */
  private async bound(): Promise<void> {
    const all = (await this.shelf.list()).sort((a, b) => b.at - a.at);
    let total = 0;
    for (const one of all) {
      total += one.bytes;
      if (total > ALL_BYTES) await this.shelf.remove(one.id);
    }
  }
}

const NAME = 'dormouse';
const STORE = 'sessions';

const done = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((good, bad) => {
    request.onsuccess = () => good(request.result);
    request.onerror = () => bad(request.error ?? new Error('the browser keeps nothing'));
  });

/** A shelf in IndexedDB; opened when it is first used. */
export class Database implements Shelf {
  private opened: Promise<IDBDatabase> | null = null;

  private open(): Promise<IDBDatabase> {
    this.opened ??= new Promise((good, bad) => {
      const request = indexedDB.open(NAME, 1);
      request.onupgradeneeded = () => {
        const store = request.result.createObjectStore(STORE, { keyPath: 'id' });
        store.createIndex('size', ['at', 'bytes', 'id']);
      };
      request.onsuccess = () => {
        // Another tab signs out and removes the database.
        request.result.onversionchange = () => {
          request.result.close();
          this.opened = null;
        };
        good(request.result);
      };
      request.onerror = () => bad(request.error ?? new Error('the browser keeps nothing'));
    });
    return this.opened;
  }
  private async store(mode: IDBTransactionMode): Promise<IDBObjectStore> {
    return (await this.open()).transaction(STORE, mode).objectStore(STORE);
  }

  async get(id: string): Promise<Kept | null> {
    return ((await done((await this.store('readonly')).get(id))) as Kept | undefined) ?? null;
  }
  async put(one: Kept): Promise<void> {
    await done((await this.store('readwrite')).put(one));
  }
  async remove(id: string): Promise<void> {
    await done((await this.store('readwrite')).delete(id));
  }
  async list(): Promise<{ id: string; at: number; bytes: number }[]> {
    const index = (await this.store('readonly')).index('size');
    return new Promise((good, bad) => {
      const found: { id: string; at: number; bytes: number }[] = [];
      const request = index.openKeyCursor();
      request.onerror = () => bad(request.error ?? new Error('the browser keeps nothing'));
      request.onsuccess = () => {
        const at = request.result;
        if (!at) return good(found);
        const [time, bytes, id] = at.key as [number, number, string];
        found.push({ at: time, bytes, id });
        at.continue();
      };
    });
  }
  async clear(): Promise<void> {
    await done((await this.store('readwrite')).clear());
  }
}

export const offline = new Offline(new Database());
