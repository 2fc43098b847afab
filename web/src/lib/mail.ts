import type { Mail, SentMail } from 'dormouse-client';
import type { Letter } from '../parts/MailItem.svelte';
import { shortID } from './text';

interface Party {
  sessionID?: string | null;
  alias?: string | null;
}
interface By {
  name: string | null;
}

const party = (one: Party | undefined, otherwise: string): string =>
  one?.alias ?? (one?.sessionID ? shortID(one.sessionID) : otherwise);

export function received(mail: Mail, self: string): Letter {
  const by = mail.by as unknown as By;
  const fromAgent = Boolean(mail.from.sessionID);
  return {
    id: mail.id,
    agent: fromAgent,
    from: fromAgent ? party(mail.from, 'agent') : (by.name ?? 'a person'),
    to: mail.to.alias ?? self,
    text: mail.text,
    hops: mail.hops,
    at: mail.time.created,
    read: mail.time.read,
    delivered: mail.time.delivered,
    held: mail.status === 'quarantined',
    expired: mail.status === 'expired',
    reason: mail.reason,
  };
}

export function sent(mail: SentMail, self: string): Letter {
  const by = mail.by as unknown as By;
  const fromAgent = Boolean(mail.from.sessionID);
  const several =
    mail.receivers === undefined
      ? ''
      : mail.receivers === 1
        ? 'one session'
        : `${mail.receivers} sessions`;
  return {
    id: mail.id,
    agent: fromAgent,
    from: fromAgent ? (mail.from.alias ?? self) : (by.name ?? 'a person'),
    to: party(mail.to, several),
    text: mail.text,
    hops: mail.hops,
    at: mail.time.created,
    read: null,
    delivered: null,
    held: mail.status === 'quarantined',
    expired: false,
    reason: null,
  };
}

export interface Edge {
  from: string;
  to: string;
  count: number;
  held: boolean;
}

/** Who writes to whom, and how often. */
export function edges(letters: Letter[]): Edge[] {
  const found = new Map<string, Edge>();
  for (const { from, to, held } of letters) {
    const key = `${from}\n${to}`;
    const edge = found.get(key) ?? { from, to, count: 0, held: false };
    edge.count += 1;
    edge.held ||= held;
    found.set(key, edge);
  }
  return [...found.values()];
}
