import { client } from './api';
import { feed } from './feed.svelte';
import { me } from './me.svelte';
import type { Listed } from './words';

const PAGE = 200;

/** The sessions of the project, newest first, as far as they were read; and each one that somebody asked for. */
class Sessions {
  ids = $state.raw<string[]>([]);
  known = $state<Record<string, Listed>>({});
  next = $state<string | null>(null);
  loaded = $state(false);
  counts = $state.raw<Record<string, number> | null>(null);
  error = $state.raw<unknown>(null);
  busy = false;
  private project = '';
  private asked = new Set<string>();
  private stale = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor() {
    feed.listen((news) => {
      const event = 'event' in news ? news.event : null;
      const id = event ? event.sessionID : 'call' in news ? news.call.sessionID : '';
      if (event && (event.type as string) === 'session_deleted') return this.remove(id);
      if (event && !event.activity && !/^(session|status|turn)/.test(event.type as string)) return;
      this.touch(id, event !== null && (event.type as string) === 'session_created');
    });
  }

  async load(project: string): Promise<void> {
    if (this.project !== project) {
      Object.assign(this, { ids: [], known: {}, next: null, loaded: false, project });
    }
    await this.page(null);
  }

  more(): Promise<void> {
    return this.next === null ? Promise.resolve() : this.page(this.next);
  }

  private async page(cursor: string | null): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      const found = await client.call('listSessions', {
        path: { project: this.project },
        query: { limit: PAGE, cursor: cursor ?? undefined },
      });
      for (const one of found.items) this.known[one.id] = one;
      const ids = found.items.map((one) => one.id);
      const before = cursor === null ? [] : this.ids;
      this.ids = [...before, ...ids.filter((id) => !before.includes(id))];
      this.next = found.next;
      this.counts = (found as { counts?: Record<string, number> }).counts ?? null;
      this.error = null;
    } catch (error) {
      if (!me.refused(error)) this.error = error;
    } finally {
      this.busy = false;
      this.loaded = true;
    }
  }

  /** One session, asked for once; null until it is there. */
  get(id: string): Listed | null {
    if (!this.known[id] && !this.asked.has(id)) {
      this.asked.add(id);
      void client.call('getSession', { path: { id } }).then(
        (one) => (this.known[id] = one),
        () => {},
      );
    }
    return this.known[id] ?? null;
  }

  put(session: Listed): void {
    this.known[session.id] = session;
    if (!this.ids.includes(session.id)) this.ids = [session.id, ...this.ids];
  }

  remove(id: string): void {
    delete this.known[id];
    this.ids = this.ids.filter((one) => one !== id);
  }

  /** Reads sessions again that have changed, a few at a time and at most five times a second. */
  private touch(id: string, created: boolean): void {
    if (!created && !this.known[id]) return;
    this.stale.add(id);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      const ids = [...this.stale].slice(0, 20);
      for (const one of ids) {
        this.stale.delete(one);
        void client.call('getSession', { path: { id: one } }).then(
          (session) => this.put(session),
          () => {},
        );
      }
    }, 200);
  }
}

export const sessions = new Sessions();
