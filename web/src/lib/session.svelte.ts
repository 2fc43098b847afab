// One session, live: its journal from the newest part on, folded into a conversation.
import { Refusal, type Event } from 'dormouse-client';
import { client } from './api';
import { Folder, type Conversation } from './conversation.svelte';
import { inbox } from './inbox.svelte';
import { me } from './me.svelte';
import { offline } from './offline';
import { sessions } from './sessions.svelte';
import { Stream, type LinkState } from './stream';
import { isOpen, type Call, type Listed } from './words';

const PAGE = 200;
/** So many of the newest events are read at first. */
const FIRST = 1000;

/** A session whose present state is not shown. */
const then = (session: Listed): Listed => ({
  ...session,
  status: 'active',
  activity: { type: 'idle' },
  error: null,
  lastTurn: null,
});

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
  /** When it was kept, while it is shown from what this browser keeps; 0: it is not. */
  kept = $state(0);
  private keeping: ReturnType<typeof setTimeout> | null = null;
  private refreshing: ReturnType<typeof setTimeout> | null = null;

  /** `until`: the last event that is shown, of a state in the past; null: all, and those that come. */
  constructor(
    readonly id: string,
    readonly until: number | null = null,
  ) {}

  async open(): Promise<void> {
    try {
      const session = await client.call('getSession', { path: { id: this.id } });
      sessions.known[this.id] = session;
      this.session = this.until === null ? session : then(session);
      const last = Math.min(this.until ?? session.seq, session.seq);
      this.before = Math.max(session.historyAfter ?? 0, last - FIRST);
      // All of it before any of it is shown: what is shown is followed from then on.
      const calls = this.until === null ? this.pending() : Promise.resolve();
      const [events] = await Promise.all([this.read(this.before, last), calls]);
      if (this.closed) return;
      this.show(events);
      if (this.until !== null) return void (this.state = { kind: 'live' });
      this.keep();
      this.follow();
    } catch (error) {
      if (me.refused(error) || this.closed) return;
      if (error instanceof Refusal || !(await this.showKept())) this.error = error;
    }
  }

  /** Shows what this browser keeps of it, and continues from there when the server answers again. */
  private async showKept(): Promise<boolean> {
    const kept = this.until === null ? await offline.get(this.id) : null;
    if (!kept || this.closed) return false;
    this.session = kept.session;
    this.before = kept.before;
    this.calls = kept.calls;
    this.kept = kept.at;
    this.show(kept.events);
    this.follow();
    return true;
  }

  /** Keeps it for reading offline, once after several events. */
  private keep(): void {
    if (this.until !== null) return;
    this.keeping ??= setTimeout(() => {
      this.keeping = null;
      const { id, session, events, calls, before } = this;
      if (!session || !me.signedIn) return;
      void offline.keep({ id, at: Date.now(), session, events, calls, before });
    }, 1000);
  }

  close(): void {
    this.closed = true;
    if (this.keeping) clearTimeout(this.keeping);
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
      const first = Math.max(this.session?.historyAfter ?? 0, last - FIRST);
      const events = await this.read(first, last);
      // The journal does not have what a model is writing.
      const draft = this.view?.draft ?? null;
      this.before = first;
      this.show([...events, ...this.events]);
      this.folder.view.draft = draft;
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
      onState: (state) => {
        this.state = state;
        if (state.kind === 'live' && this.kept > 0) this.later();
      },
    });
    this.stream.open();
  }

  private frame(event: Event, type: string): void {
    // Earlier events have changed, or are gone.
    if (type === 'reset' || type === 'redacted') return void this.open();
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
    this.kept = 0;
    this.keep();
  }

  private async pending(): Promise<void> {
    const list = await client.call('listPending', {
      query: { sessionID: this.id, limit: PAGE, view: 'inbox' } as never,
    });
    this.calls = list.items.filter(isOpen);
    for (const call of list.items) inbox.put(call);
  }
}
