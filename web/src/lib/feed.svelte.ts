// What happens in the projects of the person, for the whole page: one stream, shared by all tabs of the browser. The tab that holds the
// lock reads it and tells the others, with the place in the stream: the tab that follows it continues from there.
import type { Event } from 'dormouse-client';
import { client } from './api';
import { me } from './me.svelte';
import { Stream, type LinkState } from './stream';

export type News = { event: Event };
type Listener = (news: News) => void;
type Word = {
  project: string;
  news?: News;
  state?: LinkState;
  cursor?: string | null;
  hello?: true;
};

/** All that the person may see. */
export const EVERY_PROJECT = '*';

class Feed {
  state = $state.raw<LinkState>({ kind: 'connecting' });
  /** When the page last heard from the server. */
  heard = $state(Date.now());
  private listeners = new Set<Listener>();
  private stream: Stream | null = null;
  private channel: BroadcastChannel | null = null;
  private leads = false;
  /** The place in the stream up to which this tab knows everything. */
  private cursor: string | null = null;
  private project = '';
  private stopped = new AbortController();

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  start(project: string): void {
    if (project === this.project) return;
    this.stop();
    this.project = project;
    this.stopped = new AbortController();
    if (typeof BroadcastChannel === 'function') {
      this.channel = new BroadcastChannel('dormouse-feed');
      this.channel.onmessage = (message: MessageEvent<Word>) => this.receive(message.data);
      this.channel.postMessage({ project, hello: true } satisfies Word);
    }
    const { signal } = this.stopped;
    if (!navigator.locks) return void this.lead();
    navigator.locks
      .request(`dormouse-feed-${project}`, { signal }, () => {
        this.lead();
        return new Promise<void>((done) => signal.addEventListener('abort', () => done()));
      })
      .catch(() => {});
  }

  stop(): void {
    this.stopped.abort();
    this.stream?.close();
    this.channel?.close();
    this.stream = null;
    this.channel = null;
    this.leads = false;
    this.cursor = null;
    this.project = '';
  }

  retry(): void {
    this.stream?.retry();
  }

  private lead(): void {
    this.leads = true;
    const query = new URLSearchParams({ project: this.project });
    if (this.cursor === null) query.set('after', 'now');
    this.stream = new Stream({
      client,
      path: `/api/events?${query}`,
      after: this.cursor,
      onFrame: ({ event }) => this.tell({ event }),
      onState: (state) => this.set(state),
      onCursor: (cursor) => {
        this.cursor = cursor;
        this.channel?.postMessage({ project: this.project, cursor } satisfies Word);
      },
    });
    this.stream.open();
  }

  private tell(news: News): void {
    this.heard = Date.now();
    for (const listener of this.listeners) listener(news);
    this.channel?.postMessage({ project: this.project, news } satisfies Word);
  }

  private set(state: LinkState): void {
    this.state = state;
    if (state.kind === 'live') this.heard = Date.now();
    if (state.kind === 'ended' && state.reason === 'unauthenticated') me.signedIn = false;
    this.channel?.postMessage({ project: this.project, state } satisfies Word);
  }

  private receive(word: Word): void {
    if (word.project !== this.project) return;
    if (word.hello && this.leads) {
      const { project, state, cursor } = this;
      this.channel?.postMessage({ project, state, cursor } satisfies Word);
    }
    if (this.leads) return;
    if (word.cursor) this.cursor = word.cursor;
    if (word.state) this.state = word.state;
    if (word.news) {
      this.heard = Date.now();
      for (const listener of this.listeners) listener(word.news);
    }
  }
}

export const feed = new Feed();
