import type { Event } from 'dormouse-client';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  ALL_BYTES,
  LIST_MAX,
  Offline,
  SESSION_BYTES,
  fitted,
  type Kept,
  type Shelf,
} from '../src/lib/offline';
import { forget, load, save } from '../src/lib/storage';
import type { Listed } from '../src/lib/words';

class Memory implements Shelf {
  kept = new Map<string, Kept>();
  get = (id: string) => Promise.resolve(this.kept.get(id) ?? null);
  put = (one: Kept) => Promise.resolve(void this.kept.set(one.id, one));
  remove = (id: string) => Promise.resolve(void this.kept.delete(id));
  list = () => Promise.resolve([...this.kept.values()]);
  clear = () => Promise.resolve(this.kept.clear());
}
const event = (seq: number, bytes: number): Event =>
  ({ seq, type: 'note', data: { text: 'x'.repeat(bytes) } }) as unknown as Event;
const one = (id: string, at: number, events: Event[]) => ({
  id,
  at,
  session: { id } as Listed,
  events,
  calls: [],
  before: 0,
});

describe('offline', () => {
  beforeEach(() => localStorage.clear());

  it('history_that_is_too_long_keeps_its_newest_part', () => {
    const events = [event(1, 600), event(2, 600), event(3, 600)];
    const kept = fitted(events, 0, 1400);
    expect(kept.events.map((item) => item.seq)).toEqual([2, 3]);
    expect(kept.before).toBe(1);
    expect(fitted(events, 0, 10_000)).toEqual({ events, before: 0 });
    expect(fitted([], 7, 10)).toEqual({ events: [], before: 7 });
  });
  it('all_histories_together_are_bounded_and_the_oldest_go_first', async () => {
    const shelf = new Memory();
    const offline = new Offline(shelf);
    const count = Math.ceil(ALL_BYTES / SESSION_BYTES) + 3;
    for (let index = 0; index < count; index += 1)
      await offline.keep(one(`ses_${index}`, index, [event(1, SESSION_BYTES - 1000)]));
    const bytes = [...shelf.kept.values()].reduce((sum, item) => sum + item.bytes, 0);
    expect(bytes).toBeLessThanOrEqual(ALL_BYTES);
    expect(shelf.kept.has('ses_0')).toBe(false);
    expect(shelf.kept.has(`ses_${count - 1}`)).toBe(true);
  });
  it('list_keeps_the_newest_sessions_of_a_project', () => {
    const offline = new Offline(new Memory());
    const all = Array.from({ length: 80 }, (_, index) => ({ id: `ses_${index}` }) as Listed);
    offline.keepList('shop', all);
    expect(offline.list('shop')).toHaveLength(LIST_MAX);
    expect(offline.list('other')).toEqual([]);
  });
  it('sign_out_removes_lists_and_histories', async () => {
    const shelf = new Memory();
    const offline = new Offline(shelf);
    offline.keepList('shop', [{ id: 'ses_1' } as Listed]);
    save('draft:ses_1', 'a text');
    await offline.keep(one('ses_1', 1, [event(1, 10)]));
    forget('list:');
    await offline.clear();
    expect(offline.list('shop')).toEqual([]);
    expect(await offline.get('ses_1')).toBeNull();
    expect(load('draft:ses_1', '')).toBe('a text');
    forget();
    expect(load('draft:ses_1', '')).toBe('');
  });
  it('browser_that_keeps_nothing_is_no_error', async () => {
    const refuses = () => Promise.reject(new Error('forbidden'));
    const offline = new Offline({
      get: refuses,
      put: refuses,
      remove: refuses,
      list: refuses,
      clear: refuses,
    });
    await offline.keep(one('ses_1', 1, []));
    expect(await offline.get('ses_1')).toBeNull();
    await offline.remove('ses_1');
    await offline.clear();
  });
});
