import type { PendingCall, PendingCallList } from 'dormouse-client';
import { client } from './api';
import { EVERY_PROJECT, feed } from './feed.svelte';
import { me } from './me.svelte';
import { sessions } from './sessions.svelte';
import { time } from './clock.svelte';
import { visible } from './text';
import { startOfDay } from './time';
import { agentName, isHuman, isMine, isOpen, type Call } from './words';

const PAGES = 5;
const PAGE = 200;
const DECIDED = 30;

export interface Group {
  key: string;
  title: string;
  calls: Call[];
  /** How many there are, if that is known to be more. */
  count: number;
}

/** Sorts by deadline; what has none comes last, older first. */
function byDeadline(a: Call, b: Call): number {
  const [x, y] = [a.timeout ?? Infinity, b.timeout ?? Infinity];
  return x === y ? a.time.created - b.time.created : x - y;
}

class Inbox {
  calls = $state<Record<string, Call>>({});
  /** Settled while the person looked: they stay in place until the next navigation. */
  kept = $state<string[]>([]);
  decided = $state.raw<Call[]>([]);
  loaded = $state(false);
  more = $state(false);
  error = $state.raw<unknown>(null);
  private waiting = new Set<string>();

  constructor() {
    feed.listen((news) => {
      const id = (news.event.data as { pendingID?: unknown }).pendingID;
      if (typeof id === 'string') this.read(id);
    });
  }

  mine = $derived(this.open((call) => isMine(call, me)));
  others = $derived(this.open((call) => isHuman(call) && !isMine(call, me)));
  jobs = $derived(this.open((call) => !isHuman(call)));

  groups = $derived<Group[]>(
    [
      { key: 'mine', title: 'For you', calls: this.mine, count: this.mine.length },
      { key: 'others', title: 'For others', calls: this.others, count: this.others.length },
      { key: 'jobs', title: 'Waits for jobs', calls: this.jobs, count: this.jobs.length },
      { key: 'decided', title: 'Decided today', calls: this.today(), count: 0 },
    ].filter((group) => group.calls.length > 0),
  );

  private open(wanted: (call: Call) => boolean): Call[] {
    return this.marked()
      .filter((call) => (isOpen(call) || this.kept.includes(call.id)) && wanted(call))
      .sort(byDeadline);
  }

  /** With the questions about cut-off attempts marked; the attempts themselves are shown by their question. */
  private marked(): Call[] {
    const calls = Object.values(this.calls);
    const key = (call: Call): string => `${call.sessionID} ${call.callID}`;
    const cut = new Set(calls.filter((one) => one.inDoubt && isOpen(one)).map(key));
    if (cut.size === 0) return calls;
    const asks = (one: Call): boolean =>
      one.reason === 'elicitation' && one.continuation === 'reentry' && cut.has(key(one));
    const asked = new Set(calls.filter((one) => isOpen(one) && asks(one)).map(key));
    return calls
      .filter((one) => !(one.inDoubt && asked.has(key(one))))
      .map((one) => (asks(one) ? { ...one, doubtQuestion: true } : one));
  }

  /** One call as the inbox shows it. */
  find(id: string): Call | undefined {
    return this.marked().find((one) => one.id === id) ?? this.calls[id];
  }

  private today(): Call[] {
    const settled = Object.values(this.calls).filter(
      (call) => !isOpen(call) && isHuman(call) && !this.kept.includes(call.id),
    );
    const all = [...settled, ...this.decided.filter((one) => !this.calls[one.id])];
    return all.sort((a, b) => (b.time.completed ?? 0) - (a.time.completed ?? 0)).slice(0, DECIDED);
  }

  /** Of all projects of the person. */
  async load(): Promise<void> {
    try {
      await this.pages();
      const today = await this.ask({
        changedSince: startOfDay(time.now),
        status: 'completed',
        limit: DECIDED,
      });
      this.decided = today.items.filter(isHuman);
      this.error = null;
    } catch (error) {
      if (!me.refused(error)) this.error = error;
    }
    this.loaded = true;
  }

  private async pages(): Promise<void> {
    let cursor: string | undefined;
    const found: Record<string, Call> = {};
    for (let page = 0; page < PAGES; page += 1) {
      const list = await this.ask({ limit: PAGE, cursor });
      for (const call of list.items) found[call.id] = call;
      cursor = list.next ?? undefined;
      if (!cursor) break;
    }
    this.more = cursor !== undefined;
    this.calls = found;
  }

  /** With what the inbox shows beside a call. */
  private ask(query: Record<string, string | number | undefined>): Promise<PendingCallList> {
    return client.call('listPending', {
      query: { project: EVERY_PROJECT, view: 'inbox', ...query } as never,
    });
  }

  /** Reads one call again, soon and once for several events. */
  read(id: string): void {
    if (this.waiting.has(id)) return;
    this.waiting.add(id);
    setTimeout(() => {
      this.waiting.delete(id);
      void this.fetch(id).catch(() => {});
    }, 30);
  }

  async fetch(id: string): Promise<Call> {
    const call = await client.call('getPending', {
      path: { id },
      query: { view: 'inbox' } as never,
    });
    this.put(call);
    return this.calls[id] ?? call;
  }

  put(call: PendingCall): void {
    const before = this.calls[call.id];
    if (before && isOpen(before) && !isOpen(call) && !this.kept.includes(call.id)) {
      this.kept = [...this.kept, call.id];
    }
    if (before || isOpen(call) || isHuman(call)) this.calls[call.id] = { ...before, ...call };
  }

  /** The next navigation takes settled items out of the groups. */
  tidy(): void {
    if (this.kept.length > 0) this.kept = [];
  }

  /** The agent, and its project if the person has several. */
  origin(call: Call): string {
    const { agent } = this.about(call);
    return me.choices.length > 1 ? `${agent} · ${call.projectID}` : agent;
  }

  /** Agent and title, which a server of today tells in the session alone. */
  about(call: Call): { agent: string; title: string } {
    const session = call.agentID === undefined ? sessions.get(call.sessionID) : null;
    return {
      agent: agentName(call.agentID ?? session?.agentID ?? 'agent'),
      title: visible(call.sessionTitle ?? session?.title ?? 'Session'),
    };
  }
}

export const inbox = new Inbox();
