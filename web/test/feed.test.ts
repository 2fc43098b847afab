import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

// Each tab is the module loaded again; locks and channels are what they share.
type Tab = { feed: (typeof import('../src/lib/feed.svelte'))['feed']; seen: number[] };
const encoder = new TextEncoder();

class Channel {
  static all = new Set<Channel>();
  onmessage: ((message: { data: unknown }) => void) | null = null;
  constructor(readonly name: string) {
    Channel.all.add(this);
  }
  postMessage(data: unknown): void {
    for (const other of Channel.all)
      if (other !== this && other.name === this.name) other.onmessage?.({ data });
  }
  close(): void {
    Channel.all.delete(this);
  }
}

class Locks {
  private waiting: (() => Promise<unknown>)[] = [];
  private held = false;
  request(_: string, { signal }: { signal: AbortSignal }, run: () => Promise<unknown>) {
    return new Promise<void>((done, failed) => {
      const take = (): Promise<unknown> => run().then(() => done());
      signal.addEventListener('abort', () => {
        this.waiting = this.waiting.filter((one) => one !== take);
        failed(new DOMException('aborted'));
      });
      this.waiting.push(take);
      void this.next();
    });
  }
  private async next(): Promise<void> {
    if (this.held) return;
    const take = this.waiting.shift();
    if (!take) return;
    this.held = true;
    await take();
    this.held = false;
    void this.next();
  }
}

/** A project's events: each stream begins after its cursor, or at the newest one. */
class Server {
  events: number[] = [];
  streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  cursors: string[] = [];

  private frame = (seq: number): Uint8Array =>
    encoder.encode(
      `id: ${seq}\nevent: turn_started\ndata: {"seq":${seq},"type":"turn_started","sessionID":"s","data":{}}\n\n`,
    );
  emit(seq: number): void {
    this.events.push(seq);
    for (const stream of this.streams) stream.enqueue(this.frame(seq));
  }
  answer(url: string, init: RequestInit): Response {
    const query = new URL(url, 'http://x').searchParams;
    if (query.has('limit'))
      return new Response('{}', { headers: { 'content-type': 'application/json' } });
    const cursor = new Headers(init.headers).get('last-event-id');
    this.cursors.push(cursor ?? query.get('after') ?? '');
    let own: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        own = controller;
        this.streams.add(controller);
        if (cursor === null)
          return controller.enqueue(encoder.encode(`id: ${this.events.at(-1) ?? 0}\n\n`));
        for (const seq of this.events)
          if (seq > Number(cursor)) controller.enqueue(this.frame(seq));
      },
    });
    init.signal?.addEventListener('abort', () => {
      this.streams.delete(own);
      try {
        own.error(new DOMException('aborted'));
      } catch {
        // It has ended.
      }
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  }
}

describe('feed', { timeout: 60_000 }, () => {
  let server: Server;
  beforeEach(() => {
    server = new Server();
    vi.stubGlobal('BroadcastChannel', Channel);
    vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) =>
      Promise.resolve(server.answer(url, init)),
    );
    Object.defineProperty(navigator, 'locks', { value: new Locks(), configurable: true });
  });
  afterEach(() => {
    vi.unstubAllGlobals();
    Channel.all.clear();
  });

  async function tab(): Promise<Tab> {
    vi.resetModules();
    const { feed } = await import('../src/lib/feed.svelte');
    const seen: number[] = [];
    feed.listen((news) => 'event' in news && seen.push(news.event.seq));
    feed.start('shop');
    await settle();
    return { feed, seen };
  }
  // Everything here is promises: they have run after a few rounds of the event loop.
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 20; ++round) await new Promise((done) => setImmediate(done));
  };

  it('tabs_share_one_stream_and_each_sees_every_event_once', async () => {
    const tabs = [await tab(), await tab(), await tab()];
    server.emit(1);
    server.emit(2);
    await settle();
    expect(server.streams.size).toBe(1);
    for (const one of tabs) expect(one.seen).toEqual([1, 2]);
    for (const one of tabs) one.feed.stop();
  });
  it('next_tab_continues_at_the_place_of_the_one_that_closed', async () => {
    const [first, second, third] = [await tab(), await tab(), await tab()];
    server.emit(1);
    await settle();
    first.feed.stop();
    server.emit(2); // before the next tab has a stream
    await settle();
    server.emit(3);
    await settle();
    expect(server.streams.size).toBe(1);
    expect(server.cursors).toEqual(['now', '1']);
    expect(second.seen).toEqual([1, 2, 3]);
    expect(third.seen).toEqual([1, 2, 3]);
    second.feed.stop();
    server.emit(4);
    await settle();
    expect(third.seen).toEqual([1, 2, 3, 4]);
    third.feed.stop();
  });
  it('tab_without_news_yet_knows_the_place_from_the_one_that_leads', async () => {
    const first = await tab();
    server.emit(1);
    await settle();
    const second = await tab();
    first.feed.stop();
    server.emit(2);
    await settle();
    expect(second.seen).toEqual([2]);
    second.feed.stop();
  });
});
