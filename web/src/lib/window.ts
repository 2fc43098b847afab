// Which messages of a long conversation are drawn, and which of them a link names. Own code, because a virtual list
// would have to measure each message, and what is not in the document is found by no search and no link of the browser.
import type { Message } from './conversation.svelte';

/** So many messages are added at a time. */
export const STEP = 120;
/** At most so many are drawn. */
export const MOST = 3 * STEP;

/** The messages from `from` on, before `to`; `to` is null where the newest ones are drawn, too. */
export interface Window {
  from: number;
  to: number | null;
}

export const newest = (length: number): Window => ({ from: Math.max(0, length - STEP), to: null });

const bounded = (from: number, to: number, length: number): Window => ({
  from,
  to: to >= length ? null : to,
});

export function earlier({ from, to }: Window, length: number): Window {
  const first = Math.max(0, from - STEP);
  return bounded(first, Math.min(to ?? length, first + MOST), length);
}

export function later({ from, to }: Window, length: number): Window {
  const last = Math.min(length, (to ?? length) + STEP);
  return bounded(Math.max(from, last - MOST), last, length);
}

export function around(index: number, length: number): Window {
  const from = Math.max(0, index - STEP / 2);
  return bounded(from, from + MOST, length);
}

/** After messages were added in front: the same messages as before. */
export const shifted = ({ from, to }: Window, by: number): Window => ({
  from: from + by,
  to: to === null ? null : to + by,
});

/**
 * Where the message of a link is; -1: it is not here (yet). An agent's message has no id of its own: a link names it by an
 * event, and it is the message which that event belongs to.
 */
export function place(messages: readonly Message[], id: string): number {
  const exact = messages.findIndex((one) => one.id === id);
  const seq = Number(/^agent-(\d+)$/.exec(id)?.[1] ?? NaN);
  if (exact >= 0 || Number.isNaN(seq)) return exact;
  return messages.findLastIndex((one) => one.role === 'agent' && one.seq <= seq);
}
