// One session, live: its journal from the newest part on, folded into a conversation.
import type { Event } from 'dormouse-client';
import { client } from './api';
import { Folder, type Conversation } from './conversation.svelte';
import { inbox } from './inbox.svelte';
import { me } from './me.svelte';
import { sessions } from './sessions.svelte';
import { Stream, type LinkState } from './stream';
import { isOpen, type Call, type Listed } from './words';

const PAGE = 200;
/** So many of the newest events are read at first. */
const FIRST = 1000;

export class LiveSession {
  session = $state.raw<Listed | null>(null);
  calls = $state.raw<Call[]>([]);
  events = $state.raw<Event[]>([]);
  view = $state.raw<Conversation | null>(null);
  error = $state.raw<unknown>(null);
  state = $state.raw<LinkState>({ kind: 'connecting' });
  /** The first event that is here, less one; 0: all of it is. */
  before = $state(0);
  earlier = $state(false);
  private folder = new Folder();
  private stream: Stream | null = null;
  private closed = false;
  private refreshing: ReturnType<typeof setTimeout> | null = null;

  constructor(readonly id: string) {}

  async open(): Promise<void> {
    try {
      this.session = await client.call('getSession', { path: { id: this.id } });
      sessions.known[this.id] = this.session;
      this.before = Math.max(this.session.historyAfter ?? 0, this.session.seq - FIRST);
      const events = await this.read(this.before, this.session.seq);
      if (this.closed) return;
      this.show(events);
      await this.pending();
      this.follow();
    } catch (error) {
      if (!me.refused(error)) this.error = error;
    }
  }

  close(): void {
    this.closed = true;
    this.stream?.close();
    if (this.refreshing) clearTimeout(this.refreshing);
  }

  retry(): void {
    this.stream?.retry();
  }

  /** Events after `after`, up to and with `last`. */
  private async read(after: number, last: number): Promise<Event[]> {
    const events: Event[] = [];
    let at = after;
    while (at < last && !this.closed) {
      const page = await client.call('listEvents', {
        path: { id: this.id },
        query: { after: at, limit: PAGE } as never,
      });
      if (page.items.length === 0) break;
      events.push(...page.items);
      at = page.items.at(-1)?.seq ?? last;
    }
    return events.filter((one) => one.seq <= last);
  }

  private show(events: Event[]): void {
    this.folder = new Folder();
    if (this.before > 0) this.folder.view.agentID = this.session?.agentID ?? '';
    for (const event of events) this.folder.add(event);
    this.events = events;
    this.view = this.folder.view;
  }

  /** Reads the part before what is shown. */
  async back(): Promise<void> {
    if (this.earlier || this.before === 0) return;
    this.earlier = true;
    try {
      const last = this.before;
      this.before = Math.max(this.session?.historyAfter ?? 0, last - FIRST);
      this.show([...(await this.read(this.before, last)), ...this.events]);
    } catch (error) {
      me.refused(error);
    } finally {
      this.earlier = false;
    }
  }

  private follow(): void {
    this.stream = new Stream({
      client,
      path: `/api/sessions/${encodeURIComponent(this.id)}/events`,
      after: String(this.events.at(-1)?.seq ?? 0),
      onFrame: ({ event, type }) => this.frame(event, type),
      onState: (state) => (this.state = state),
    });
    this.stream.open();
  }

  private frame(event: Event, type: string): void {
    if (type === 'reset') return void this.open();
    if (type === 'delta') {
      const data = 'data' in event ? event : { data: event };
      return this.folder.add({ ...(data as Event), type: 'delta' as never });
    }
    if (event.seq <= (this.events.at(-1)?.seq ?? 0)) return;
    this.events = [...this.events, event];
    this.folder.add(event);
    this.later();
  }

  /** The session's own object and its calls, read again once after several events. */
  private later(): void {
    this.refreshing ??= setTimeout(() => {
      this.refreshing = null;
      void this.refresh().catch(() => {});
    }, 120);
  }

  async refresh(): Promise<void> {
    this.session = await client.call('getSession', { path: { id: this.id } });
    sessions.known[this.id] = this.session;
    await this.pending();
  }

  private async pending(): Promise<void> {
    const list = await client.call('listPending', { query: { sessionID: this.id, limit: PAGE } });
    this.calls = list.items.filter(isOpen);
    for (const call of list.items) inbox.put(call);
  }
}
