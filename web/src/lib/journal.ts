// Reads the members of events, which the API types as any value; their names are those of docs/reference/events.md.
import type { Event } from 'dormouse-client';

export type Data = Record<string, unknown>;

export const text = (data: Data, key: string): string | null => {
  const value = data[key];
  return typeof value === 'string' ? value : null;
};
export const number = (data: Data, key: string): number | null => {
  const value = data[key];
  return typeof value === 'number' ? value : null;
};
export const record = (data: Data, key: string): Data | null => {
  const value = data[key];
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? (value as Data)
    : null;
};
export const array = (data: Data, key: string): Data[] => {
  const value = data[key];
  return Array.isArray(value) ? (value as Data[]) : [];
};

export const typeOf = (event: Event): string => event.type as string;

const PEOPLE = new Set(['approval', 'user_input', 'elicitation', 'budget']);
export type WaitKind = 'person' | 'job' | 'timer';

export function waitKind(reason: string | null): WaitKind {
  if (reason === 'handoff') return 'timer';
  return reason !== null && PEOPLE.has(reason) ? 'person' : 'job';
}

/** "token:alice" and "webhook:ci" as names; the runtime has none. */
export function actor(by: string | null): string {
  return by === null || by === 'runtime' ? '' : by.replace(/^[a-z]+:/, '');
}

export interface Wake {
  at: number;
  icon:
    'hand' | 'webhook' | 'plug-zap' | 'alarm-clock' | 'mail' | 'list-tree' | 'clock-alert' | 'user';
  name: string;
  verb: string;
  /** What a prompt says. */
  text?: string;
}

function submittedWake(event: Event, kind: WaitKind): Wake {
  const data = event.data as Data;
  const receipt = record(data, 'receipt') ?? {};
  const by = text(receipt, 'by');
  const decision = record(data, 'decision');
  const base = { at: event.at, name: actor(by) };
  if (kind === 'timer') return { ...base, icon: 'alarm-clock', name: 'timer', verb: 'time is up' };
  if (by?.startsWith('webhook')) return { ...base, icon: 'webhook', verb: 'webhook' };
  if (decision) {
    return { ...base, icon: 'hand', verb: decision['approved'] === false ? 'denied' : 'approved' };
  }
  if (text(data, 'error') !== null) return { ...base, icon: 'plug-zap', verb: 'failed' };
  if (kind === 'person') return { ...base, icon: 'hand', verb: 'answered' };
  return { ...base, icon: 'plug-zap', verb: 'result' };
}

/** What an event that ends a sleep says of its cause; null of one that cannot wake. */
export function wakeOf(event: Event, kind: WaitKind): Wake | null {
  const data = event.data as Data;
  const by = actor(text(data, 'by'));
  switch (typeOf(event)) {
    case 'submitted':
      return submittedWake(event, kind);
    case 'expired':
      return { at: event.at, icon: 'clock-alert', name: 'deadline', verb: 'passed' };
    case 'cancelled':
      return { at: event.at, icon: 'hand', name: by || 'call', verb: 'cancelled' };
    case 'input_received':
      return {
        at: event.at,
        icon: 'user',
        name: by || 'prompt',
        verb: 'prompt',
        text: array(data, 'parts').flatMap((part) => text(part, 'text') ?? [])[0] ?? '',
      };
    case 'mail_received':
    case 'mail_released':
      return {
        at: event.at,
        icon: 'mail',
        name: text(data, 'fromAlias') ?? (by || 'mail'),
        verb: 'mail',
      };
    case 'task_changed':
      return { at: event.at, icon: 'list-tree', name: 'task', verb: text(data, 'status') ?? '' };
    case 'tool_finished':
      return { at: event.at, icon: 'plug-zap', name: 'tool', verb: 'finished' };
    default:
      return null;
  }
}
