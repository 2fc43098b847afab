// From what the API says to what a person reads: state, icon and word.
import type { PendingCall, Session } from 'dormouse-client';
import type { IconName } from './icons';
import { list } from './text';
import { clock, duration } from './time';

export type State = 'wait' | 'run' | 'sleep' | 'fail' | 'done' | 'doubt' | 'neut';
export interface Word {
  state: State;
  icon: IconName;
  text: string;
}

/** What a later server adds to a pending call; the page does without it. */
export interface Call extends PendingCall {
  agentID?: string;
  sessionTitle?: string | null;
  requestedBy?: { type: string; name: string | null } | null;
  gate?: { id?: string; alwaysAsk?: boolean } | null;
  onDeadline?: 'deny' | 'done' | 'tell' | null;
  lastText?: string | null;
  claim?: { by: string; until: number } | null;
  mine?: boolean;
  /** It asks what became of an attempt that was cut off. The page finds this out itself. */
  doubtQuestion?: boolean;
}

/** A call whose attempt was cut off, or the question about it. */
export const isDoubt = (call: Call): boolean => call.inDoubt || call.doubtQuestion === true;

export interface Person {
  name: string | null;
  role: string | null;
}

const HUMAN = new Set(['approval', 'user_input', 'elicitation']);
const ROLES: Record<string, string> = {
  'role:read': 'people who may read',
  'role:answer': 'people who may answer',
  'role:operate': 'operators',
  'role:admin': 'administrators',
};
const RANK = ['read', 'answer', 'operate', 'admin'];

export const isHuman = (call: PendingCall): boolean => HUMAN.has(call.reason) || call.inDoubt;
export const isOpen = (call: PendingCall): boolean =>
  call.status === 'waiting' || call.status === 'processing';

/** Whether `role` contains `needed`; a role that nobody knows is taken for the widest. */
export function may(role: string | null, needed: string): boolean {
  return role === null || RANK.indexOf(role) >= RANK.indexOf(needed);
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
    return me.name === null || one.replace(/^(token|user):/, '') === me.name;
  });
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
      return { state: 'neut', icon: 'ban', text: 'Denied' };
    }
    const approved = call.reason === 'approval';
    return { state: 'done', icon: 'circle-check', text: approved ? 'Approved' : 'Done' };
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
  const question = call.reason !== 'approval';
  if (isMine(call, me)) {
    return question
      ? { state: 'wait', icon: 'message-circle-question-mark', text: 'A question for you' }
      : { state: 'wait', icon: 'hand', text: 'Waits for you' };
  }
  return { state: 'neut', icon: 'users', text: `Waits for ${askedOf(call, me)}` };
}

/** The heading of a call: the question of its gate or tool, else what it waits for. */
export function question(call: Call): string {
  if (call.message && call.doubtQuestion !== true) return call.message;
  if (isDoubt(call)) return `Did ${call.tool} finish?`;
  if (call.reason === 'approval') return `Run ${call.tool}?`;
  if (isHuman(call)) return `${call.tool} asks`;
  return call.reason === 'handoff' ? `${call.tool} waits` : `${call.tool} waits for its result`;
}

/** What a later server adds to a session. */
export interface Listed extends Session {
  cost?: { amount: number; currency: string } | null;
  lastError?: { code: string; message: string } | null;
  waits?: { reason: string; human: boolean; inDoubt: boolean; mine: boolean } | null;
}

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
  if (session.lastError) return { state: 'fail', icon: 'circle-x', text: 'Failed' };
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
