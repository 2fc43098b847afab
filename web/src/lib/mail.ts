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

/** The name of a session in mail, where it has no alias. */
export const named = (session: { id: string; alias: string | null }): string =>
  session.alias ?? shortID(session.id);

export function received(mail: Mail, self: string): Letter {
  const by = mail.by as unknown as By;
  const fromAgent = Boolean(mail.from.sessionID);
  return {
    id: mail.id,
    conversation: mail.conversation,
    replyTo: mail.replyTo,
    agent: fromAgent,
    from: fromAgent ? party(mail.from, 'agent') : (by.name ?? 'a person'),
    to: mail.to.alias ?? self,
    text: mail.text,
    hops: mail.hops,
    at: mail.time.created,
    read: mail.time.read,
    delivered: mail.time.delivered,
    quarantined: mail.status === 'quarantined',
    expired: mail.status === 'expired',
    reason: mail.reason,
    failed: 0,
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
    conversation: mail.conversation,
    replyTo: mail.replyTo,
    agent: fromAgent,
    from: fromAgent ? (mail.from.alias ?? self) : (by.name ?? 'a person'),
    to: party(mail.to, several),
    text: mail.text,
    hops: mail.hops,
    at: mail.time.created,
    read: null,
    delivered: null,
    quarantined: mail.status === 'quarantined',
    expired: false,
    reason: null,
    failed: mail.failed ?? 0,
  };
}

export interface Thread {
  id: string;
  letters: { letter: Letter; depth: number }[];
  last: number;
}

/** Conversations, the one with the newest mail first; each answer stands below what it answers. */
export function threads(letters: readonly Letter[]): Thread[] {
  const found = new Map<string, Letter[]>();
  const known = new Map(letters.map((one) => [one.id, one]));
  const seen = new Set<string>();
  for (const one of letters) {
    // On its way it can be in two lists.
    const place = `${one.id} ${one.to}`;
    if (seen.has(place)) continue;
    seen.add(place);
    const key = beginning(one, known);
    const thread = found.get(key);
    if (thread) thread.push(one);
    else found.set(key, [one]);
  }
  return [...found]
    .map(([id, all]) => ({
      id,
      letters: nested(all),
      last: all.reduce((newest, one) => Math.max(newest, one.at), 0),
    }))
    .sort((a, b) => b.last - a.last);
}

/** An answer that no mail woke begins a conversation of its own; here it is in that of what it answers. */
function beginning(letter: Letter, known: ReadonlyMap<string, Letter>): string {
  const passed = new Set<Letter>();
  let one: Letter | undefined = letter;
  let key = letter.conversation;
  while (one && !passed.has(one)) {
    passed.add(one);
    key = one.conversation;
    one = one.replyTo === null ? undefined : known.get(one.replyTo);
  }
  return key;
}

function nested(letters: Letter[]): Thread['letters'] {
  const ids = new Set(letters.map((one) => one.id));
  const answers = new Map<string, Letter[]>();
  // An answer to a mail that is not here begins on the left.
  for (const one of [...letters].sort((a, b) => a.at - b.at)) {
    const above = one.replyTo !== null && ids.has(one.replyTo) ? one.replyTo : '';
    answers.set(above, [...(answers.get(above) ?? []), one]);
  }
  const out: Thread['letters'] = [];
  const open = (answers.get('') ?? []).map((letter) => ({ letter, depth: 0 })).reverse();
  const done = new Set<string>();
  for (let next = open.pop(); next; next = open.pop()) {
    out.push(next);
    const { id } = next.letter;
    if (done.has(id)) continue; // one mail to several receivers
    done.add(id);
    const { depth } = next;
    for (const letter of [...(answers.get(id) ?? [])].reverse())
      open.push({ letter, depth: depth + 1 });
  }
  // Answers in a circle hang on nothing.
  for (const letter of letters) if (!done.has(letter.id)) out.push({ letter, depth: 0 });
  return out;
}

export interface Edge {
  from: string;
  to: string;
  count: number;
  quarantined: boolean;
}

/** Who writes to whom, and how often. */
export function edges(letters: readonly Letter[]): Edge[] {
  const found = new Map<string, Edge>();
  for (const { from, to, quarantined, failed } of letters) {
    if (failed > 0) continue; // it reached nobody, or others than those it names
    const key = `${from}\n${to}`;
    const edge = found.get(key) ?? { from, to, count: 0, quarantined: false };
    edge.count += 1;
    edge.quarantined ||= quarantined;
    found.set(key, edge);
  }
  return [...found.values()];
}

/** The names of a graph, those with the most mail first; `rest`: how many have no place of their own. */
export function busiest(lines: readonly Edge[], most: number): { names: string[]; rest: number } {
  const counts = new Map<string, number>();
  for (const { from, to, count } of lines)
    for (const name of [from, to]) counts.set(name, (counts.get(name) ?? 0) + count);
  const all = [...counts].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  // A place for one is no longer than one for "1 other".
  if (all.length <= most) return { names: all, rest: 0 };
  return { names: all.slice(0, most - 1), rest: all.length - most + 1 };
}

/** With all names but these as one. */
export function grouped(lines: readonly Edge[], names: readonly string[], other: string): Edge[] {
  const kept = new Set(names);
  const found = new Map<string, Edge>();
  for (const line of lines) {
    const [from, to] = [line.from, line.to].map((one) => (kept.has(one) ? one : other)) as [
      string,
      string,
    ];
    if (from === other && to === other) continue;
    const key = `${from}\n${to}`;
    const edge = found.get(key) ?? { from, to, count: 0, quarantined: false };
    edge.count += line.count;
    edge.quarantined ||= line.quarantined;
    found.set(key, edge);
  }
  return [...found.values()];
}
