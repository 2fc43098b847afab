// The mail of a project: what is not delivered yet, and the inboxes of its sessions, newest sessions first.
import type { Mail } from 'dormouse-client';
import type { Letter } from '../parts/MailItem.svelte';
import { client } from './api';
import { feed } from './feed.svelte';
import { named, received, sent } from './mail';
import { me } from './me.svelte';
import { sessions } from './sessions.svelte';
import { shortID } from './text';
import type { Listed } from './words';

/** Inboxes that are read for one page, and how many of them at once. */
const SESSIONS = 50;
const AT_ONCE = 4;
const PAGE = 200;
const PAGES = 5;

/** The mail that a session got, oldest first. */
export async function readInbox(id: string): Promise<Mail[]> {
  const found: Mail[] = [];
  let after: number | null = 0;
  for (let page = 0; page < PAGES && after !== null; page += 1) {
    const query = { limit: PAGE, after };
    const list: { items: Mail[]; next: number | null } = await client.call('listInbox', {
      path: { id },
      query: query as never,
    });
    found.push(...list.items);
    after = list.next;
  }
  return found;
}

/** Who did not get a mail, and why; the first of them, if they are many. */
export async function failuresOf(id: string): Promise<{ to: string; why: string }[]> {
  const state = await client.call('getMail', { path: { id }, query: { limit: PAGE } as never });
  return state.receivers
    .filter((one) => one.status === 'failed')
    .map((one) => ({
      to: one.alias ?? (one.sessionID ? shortID(one.sessionID) : 'a session'),
      why: one.reason ?? 'no reason is known',
    }));
}

export class ProjectMail {
  loaded = $state(false);
  error = $state.raw<unknown>(null);
  /** The next page of sessions; null: there is none. */
  next = $state.raw<string | null>(null);
  busy = $state(false);
  read = $state(0);
  private waiting = $state.raw<Letter[]>([]);
  private inboxes = $state.raw<Record<string, Letter[]>>({});
  letters = $derived([...Object.values(this.inboxes).flat(), ...this.waiting]);

  constructor(readonly project: string) {}

  /** Follows what comes; the function that is returned ends it. */
  follow(): () => void {
    return feed.listen((news) => {
      const { event } = news;
      const type = String(event.type);
      if (!type.startsWith('mail')) return;
      void this.undelivered();
      void this.again(event.sessionID);
    });
  }

  async load(): Promise<void> {
    this.error = null;
    await this.attempt(async () => {
      await this.undelivered();
      await this.sessions(null);
    });
    this.loaded = true;
  }

  more(): Promise<void> {
    return this.attempt(() => this.sessions(this.next));
  }

  private async attempt(what: () => Promise<void>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    try {
      await what();
    } catch (problem) {
      if (!me.refused(problem)) this.error = problem;
    }
    this.busy = false;
  }

  private async undelivered(): Promise<void> {
    const query = { project: this.project };
    const list = await client.call('listMail', { query: query as never });
    this.waiting = list.items.map((one) => sent(one, 'agent'));
  }

  private async sessions(cursor: string | null): Promise<void> {
    const page = await client.call('listSessions', {
      path: { project: this.project },
      query: { limit: SESSIONS, cursor: cursor ?? undefined },
    });
    const left = [...page.items];
    const work = async (): Promise<void> => {
      for (let one = left.shift(); one; one = left.shift()) await this.inbox(one);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    this.read += page.items.length;
    this.next = page.next;
  }

  private async inbox(session: Pick<Listed, 'id' | 'alias'>): Promise<void> {
    const query = { sessionID: session.id };
    const [mails, out] = await Promise.all([
      readInbox(session.id),
      client.call('listMail', { query: query as never }),
    ]);
    // What was delivered is in the inbox of its receiver; what was not is only with its sender.
    const failed = out.items.filter((one) => (one.failed ?? 0) > 0);
    const letters = [
      ...mails.map((one) => received(one, named(session))),
      ...failed.map((one) => sent(one, named(session))),
    ];
    this.inboxes = { ...this.inboxes, [session.id]: letters };
  }

  private async again(id: string): Promise<void> {
    const session = sessions.known[id] ?? { id, alias: null };
    // Read again with the next mail, or with the page.
    await this.inbox(session).catch(() => {});
  }
}
