import { Refusal, type Operations } from 'dormouse-client';
import { client } from './api';
import { feed } from './feed.svelte';
import { me } from './me.svelte';
import { offline } from './offline';
import type { Listed } from './words';

const PAGE = 200;
/** Counts are read again at most so often. */
const COUNT_EVERY_MS = 1000;

type Counts = NonNullable<Operations['listSessions']['answer']['counts']>;

/** What the list is narrowed to; the server looks at all sessions of the project for it. */
export type Filter = Pick<Operations['listSessions']['query'], 'q' | 'state' | 'agentID'>;

/** The sessions of the project, newest first, as far as they were read; and each one that somebody asked for. */
class Sessions {
  ids = $state.raw<string[]>([]);
  known = $state<Record<string, Listed>>({});
  next = $state<string | null>(null);
  loaded = $state(false);
  /** How many the project has, and how many of them are in which state; null: not known. */
  counts = $state.raw<Counts | null>(null);
  error = $state.raw<unknown>(null);
  /** The server did not answer: these are the sessions that this browser keeps. */
  kept = $state(false);
  busy = false;
  private project = '';
  private filter: Filter = {};
  private asked = new Set<string>();
  private stale = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | null = null;
  private counters = 0;
  private counting: ReturnType<typeof setTimeout> | null = null;

  constructor() {
    feed.listen((news) => {
      const { event } = news;
      if (event.projectID !== this.project) return;
      const { sessionID: id } = event;
      const type = event.type as string;
      if (type === 'session_deleted') {
        this.countAgain();
        return this.remove(id);
      }
      if (!event.activity && !/^(session|status|turn)/.test(type)) return;
      this.countAgain();
      this.touch(id, type === 'session_created');
    });
  }

  /** Keeps the counts true until the function that is returned is called. */
  count(): () => void {
    this.counters += 1;
    return () => void (this.counters -= 1);
  }

  private countAgain(): void {
    if (this.counters === 0) return;
    this.counting ??= setTimeout(() => {
      this.counting = null;
      const { project } = this;
      void client
        .call('listSessions', { path: { project }, query: { limit: 1, counts: true } })
        .then((found) => {
          if (project === this.project) this.counts = found.counts ?? null;
        })
        .catch(() => {}); // with the next event, or with the list
    }, COUNT_EVERY_MS);
  }

  async load(project: string, filter: Filter = {}): Promise<void> {
    if (this.project !== project) {
      Object.assign(this, { ids: [], known: {}, next: null, loaded: false, counts: null, project });
    }
    this.filter = filter;
    this.busy = false; // what an earlier filter asked for is not waited for
    await this.page(null);
  }

  more(): Promise<void> {
    return this.next === null ? Promise.resolve() : this.page(this.next);
  }

  private async page(cursor: string | null): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    const { filter } = this;
    try {
      const found = await client.call('listSessions', {
        path: { project: this.project },
        query: {
          limit: PAGE,
          cursor: cursor ?? undefined,
          counts: cursor === null ? true : undefined,
          ...filter,
        },
      });
      if (filter !== this.filter) return;
      for (const one of found.items) this.known[one.id] = one;
      const ids = found.items.map((one) => one.id);
      const before = cursor === null ? [] : this.ids;
      this.ids = [...before, ...ids.filter((id) => !before.includes(id))];
      this.next = found.next;
      this.kept = false;
      if (cursor === null && !filter.q && !filter.state && !filter.agentID)
        offline.keepList(this.project, found.items);
      if (found.counts) this.counts = found.counts;
      this.error = null;
    } catch (error) {
      if (filter !== this.filter || me.refused(error)) return;
      if (cursor === null && !(error instanceof Refusal) && this.showKept()) return;
      this.error = error;
    } finally {
      if (filter === this.filter) this.busy = false;
      this.loaded = true;
    }
  }

  /** Shows the sessions of this browser; false: it keeps none. */
  private showKept(): boolean {
    const list = offline.list(this.project);
    if (list.length === 0) return false;
    for (const one of list) this.known[one.id] ??= one;
    if (this.ids.length === 0) this.ids = list.map((one) => one.id);
    this.next = null;
    this.error = null;
    this.kept = true;
    return true;
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
