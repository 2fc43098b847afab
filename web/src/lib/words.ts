// From what the API says to what a person reads: state, icon and word.
import type { PendingCall, Session } from 'dormouse-client';
import type { IconName } from './icons';
import { markdown, type Inline } from './markdown';
import { list, visible } from './text';
import { clock, duration } from './time';

export type State = 'wait' | 'run' | 'sleep' | 'fail' | 'done' | 'doubt' | 'neut';
export interface Word {
  state: State;
  icon: IconName;
  text: string;
}

/** A pending call, with what the inbox shows beside it where the server was asked for that. */
export type Call = PendingCall;

/** A call whose attempt was cut off, or the question about it. */
export const isDoubt = (call: Call): boolean => call.inDoubt || call.doubtQuestion === true;

export interface Person {
  name: string | null;
  role: string | null;
}

/** The agent of a session; a session without one holds a call that a program outside made. */
export const agentName = (agentID: string): string => (agentID === 'none' ? 'No agent' : agentID);

const HUMAN = new Set(['approval', 'user_input', 'elicitation', 'budget']);
const ROLES: Record<string, string> = {
  'role:read': 'people who may read',
  'role:answer': 'people who may answer',
  'role:operate': 'operators',
  'role:admin': 'administrators',
};
const RANK = ['read', 'answer', 'operate', 'admin'];

export const isHuman = (call: PendingCall): boolean => HUMAN.has(call.reason) || call.inDoubt;
/** A budget is used up: people raise it or end the turn. */
export const isBudget = (call: PendingCall): boolean => call.reason === 'budget';
/** A person approves or denies it as it is. */
export const isDecided = (call: PendingCall): boolean =>
  call.reason === 'approval' || isBudget(call);
export const isOpen = (call: PendingCall): boolean =>
  call.status === 'waiting' || call.status === 'processing';

/** Whether `role` contains `needed`; null: it is not known yet. */
export function may(role: string | null, needed: string): boolean {
  return RANK.indexOf(role ?? '') >= RANK.indexOf(needed);
}

/** "you", "carol", "people who may answer". */
export function who(name: string, me: string | null): string {
  const plain = name.replace(/^(token|user):/, '');
  return plain === me ? 'you' : (ROLES[name] ?? plain);
}

export function isMine(call: Call, me: Person): boolean {
  if (call.mine !== undefined) return call.mine;
  if (!isHuman(call) || !may(me.role, 'answer')) return false;
  return call.answer.from.some((one) => {
    if (one.startsWith('role:')) return may(me.role, one.slice(5));
    return one.replace(/^(token|user):/, '') === me.name;
  });
}

/** The claim of somebody else on a call that this person may answer otherwise. */
export function othersClaim(call: Call, me: Person): NonNullable<Call['claim']> | null {
  const { claim } = call;
  if (!claim || call.status !== 'processing' || who(claim.by, me.name) === 'you') return null;
  const { mine: _, ...rest } = call;
  return isMine(rest, me) ? claim : null;
}

export function askedOf(call: Call, me: Person): string {
  return list(
    call.answer.from.map((one) => who(one, me.name)),
    'or',
  );
}

const SETTLED: Record<string, Word> = {
  failed: { state: 'fail', icon: 'circle-x', text: 'Failed' },
  expired: { state: 'neut', icon: 'timer-off', text: 'Expired' },
  cancelled: { state: 'neut', icon: 'circle-slash', text: 'Cancelled' },
};

export function callWord(call: Call, me: Person, now: number): Word {
  if (call.status === 'completed') {
    if (call.decision && !call.decision.approved) {
      return { state: 'neut', icon: 'ban', text: isBudget(call) ? 'Turn ended' : 'Denied' };
    }
    const approved = call.reason === 'approval' ? 'Approved' : 'Done';
    return { state: 'done', icon: 'circle-check', text: isBudget(call) ? 'Raised' : approved };
  }
  const settled = SETTLED[call.status];
  if (settled) return settled;
  if (isDoubt(call)) return { state: 'doubt', icon: 'circle-question-mark', text: 'In doubt' };
  if (call.status === 'processing') {
    const by = call.claim ? who(call.claim.by, me.name) : '';
    return { state: 'neut', icon: 'user-lock', text: by ? `Claimed by ${by}` : 'Claimed' };
  }
  if (call.reason === 'handoff') {
    const at = call.timeout === null ? '' : ` until ${clock(call.timeout, now)}`;
    return { state: 'sleep', icon: 'alarm-clock', text: `Timer${at}` };
  }
  if (!isHuman(call)) return { state: 'sleep', icon: 'moon', text: 'Waits for a job' };
  const question = !isDecided(call);
  if (isMine(call, me)) {
    return question
      ? { state: 'wait', icon: 'message-circle-question-mark', text: 'A question for you' }
      : { state: 'wait', icon: 'hand', text: 'Waits for you' };
  }
  return { state: 'neut', icon: 'users', text: `Waits for ${askedOf(call, me)}` };
}

/** The heading of a call: the question of its gate or tool, else what it waits for. */
const BREAK = /\n\s*\n|\n(?=\s{0,6}(?:[-*+]|\d{1,9}[.)])\s|\s*(?:```|~~~|>))/;
const plain = (parts: Inline[]): string =>
  parts.map((one) => ('inside' in one ? plain(one.inside) : one.text)).join('');

/** The heading of a question in Markdown, and what follows it. Empty: it begins with a list or code. */
export function headline(message: string): { title: string; rest: string } {
  const text = message.trim();
  const end = /^#{1,6}\s/.test(text) ? text.search(/\n|$/) : text.search(BREAK);
  const first = end < 0 ? text : text.slice(0, end);
  const [node] = markdown(first);
  if (!node || !('inside' in node) || node.kind === 'quote') return { title: '', rest: text };
  return { title: visible(plain(node.inside)), rest: end < 0 ? '' : text.slice(end).trim() };
}

/** An agent wrote the question, so it may be Markdown; an approval rule's is plain text. */
export const isAsked = (call: Call): boolean => isHuman(call) && !isDecided(call) && !isDoubt(call);

/** Those who are asked may pass a call on; an admin may always. */
export const canReassign = (call: Call, me: Person): boolean =>
  isOpen(call) &&
  isHuman(call) &&
  !isDoubt(call) &&
  (may(me.role, 'admin') || (call.status === 'waiting' && isMine(call, me)));

export function question(call: Call): string {
  if (call.message && isAsked(call)) return headline(call.message).title || `${call.tool} asks`;
  if (call.message && call.doubtQuestion !== true) return visible(call.message);
  if (isDoubt(call)) return `Did ${call.tool} finish?`;
  if (call.reason === 'approval') return `Run ${call.tool}?`;
  if (isHuman(call)) return `${call.tool} asks`;
  return call.reason === 'handoff' ? `${call.tool} waits` : `${call.tool} waits for its result`;
}

/** A session, with what a list of them shows. */
export interface Listed extends Session {
  waits?: { reason: string; human: boolean; inDoubt: boolean; mine: boolean } | null;
}

/** Why the session or its last turn failed. */
export const lastError = (session: Session): Session['error'] =>
  session.error ?? session.lastTurn?.error ?? null;

export function sessionWord(session: Listed, calls: Call[], me: Person, now: number): Word {
  if (session.status === 'paused') return { state: 'neut', icon: 'circle-pause', text: 'Paused' };
  if (session.status === 'error') return { state: 'fail', icon: 'circle-x', text: 'Failed' };
  if (session.status === 'completed') {
    return { state: 'neut', icon: 'circle-check', text: 'Ended' };
  }
  const { activity } = session;
  if (activity.type === 'busy') return { state: 'run', icon: 'loader-circle', text: 'Running' };
  if (activity.type === 'retry') {
    const left = activity.next === null ? '' : ` in ${duration(activity.next - now, 1)}`;
    return { state: 'run', icon: 'loader-circle', text: `Tries again${left}` };
  }
  if (activity.type === 'waiting_async') return waitingWord(calls, me, now);
  if (lastError(session)) return { state: 'fail', icon: 'circle-x', text: 'Failed' };
  return { state: 'neut', icon: 'circle', text: 'Idle' };
}

function waitingWord(calls: Call[], me: Person, now: number): Word {
  const doubt = calls.find(isDoubt);
  if (doubt) return callWord(doubt, me, now);
  const mine = calls.find((one) => isMine(one, me));
  if (mine) return { ...callWord(mine, me, now), text: 'Waits for you' };
  const human = calls.find(isHuman);
  if (human) {
    return { state: 'wait', icon: 'hand', text: `Waits for ${askedOf(human, me)}` };
  }
  const timer = calls.length > 0 && calls.every((one) => one.reason === 'handoff');
  return { state: 'sleep', icon: timer ? 'alarm-clock' : 'moon', text: 'Asleep' };
}

/** Whether labels fit a filter of the form `name` or `name:value`; an empty one fits all. */
export function hasLabel(labels: Record<string, string>, wanted: string): boolean {
  if (wanted === '') return true;
  const [name = '', ...value] = wanted.split(':');
  return name in labels && (value.length === 0 || labels[name] === value.join(':'));
}
