// Answers of a person, with what they typed kept until the server confirms it.
import { Refusal, type RuleRequest, type SubmissionAnswer } from 'dormouse-client';
import { client } from './api';
import { stringify } from './exact';
import { filePart, type Attached } from './files';
import { inbox } from './inbox.svelte';
import { load, save } from './storage';
import { visible } from './text';
import { clock } from './time';
import { toasts } from './toasts.svelte';
import type { Schema } from './schema';
import { isBudget, isOpen, who, type Call } from './words';
import { me } from './me.svelte';

export interface Draft {
  comment: string;
  reason: string;
  answer: string;
  /** The arguments as edited; undefined: as the agent asked. */
  arguments?: unknown;
  /** Of which arguments the edit is. */
  digest?: string;
}

export const emptyDraft = (): Draft => ({ comment: '', reason: '', answer: '' });

export const draftOf = (id: string): Draft => load<Draft>(`draft:${id}`, emptyDraft());
export const keepDraft = (id: string, draft: Draft): void =>
  save(`draft:${id}`, stringify(draft) === stringify(emptyDraft()) ? null : draft);

/** What became of an answer that did not count. */
export interface Late {
  title: string;
  text: string;
  kind: 'late' | 'expired' | 'changed' | 'conflict' | 'not-asked' | 'failed';
  error: unknown;
}

const verb = (call: Call): string => {
  if (call.decision) return call.decision.approved ? 'approved' : 'denied';
  return call.status === 'failed'
    ? 'failed'
    : call.status === 'cancelled'
      ? 'cancelled'
      : 'answered';
};

export function lateText(call: Call, now: number): Pick<Late, 'title' | 'kind'> {
  const at = clock(call.receipt?.at ?? call.time.completed ?? now, now);
  if (call.status === 'expired') return { kind: 'expired', title: `Expired at ${at}.` };
  const by = call.receipt?.by.name;
  return {
    kind: 'late',
    title: `Already ${verb(call)}${by ? ` by ${who(by, me.name)}` : ''} at ${at}.`,
  };
}

async function explain(call: Call, error: unknown, now: number): Promise<Late> {
  if (!(error instanceof Refusal)) {
    return {
      kind: 'failed',
      title: 'The server did not answer.',
      error,
      text: 'Your answer was not sent. It is kept here and you can send it again.',
    };
  }
  if (error.code === 'input_changed') {
    await inbox.fetch(call.id).catch(() => {});
    return {
      kind: 'changed',
      title: 'The arguments changed while you were reading',
      error,
      text: 'Nothing was approved. Read the new ones.',
    };
  }
  if (error.code === 'not_an_answerer' || error.status === 403) {
    return { kind: 'not-asked', title: 'You are not asked here', error, text: error.message };
  }
  if ([409, 410].includes(error.status)) {
    const fresh = await inbox.fetch(call.id).catch(() => call);
    if (!isOpen(fresh)) {
      const kind =
        error.code === 'expired' ? 'Nobody answered in time.' : 'Your answer was not applied.';
      return { ...lateText(fresh, now), error, text: kind };
    }
  }
  const errors = error.problem['errors'] as { pointer: string; message: string }[] | undefined;
  if (error.code === 'invalid_result' && errors && errors.length > 0) {
    const where = errors.map((one) => `${one.pointer.slice(1) || 'It'} ${one.message}`).join('; ');
    return {
      kind: 'failed',
      title: 'This answer does not fit',
      error,
      text: `${visible(where)}. Nothing was sent to the agent; your answer is kept here.`,
    };
  }
  if (error.status === 503) {
    return {
      kind: 'failed',
      title: 'The server cannot write at the moment',
      error,
      text: 'Your answer was not sent. It is kept here and you can send it again.',
    };
  }
  return {
    kind: 'failed',
    title: error.problem.title ?? 'The server refused this',
    error,
    text: `${error.message} Your answer is kept here.`,
  };
}

/** Sends an answer; null when it counted. `said` null: nothing is said. */
async function send(
  call: Call,
  request: Promise<SubmissionAnswer>,
  said: string | null,
  now: number,
): Promise<Late | null> {
  try {
    const answer = await request;
    save(`draft:${call.id}`, null);
    const fresh = await inbox.fetch(call.id).catch(() => call);
    // The same answer of another person came first: this one has no effect.
    const by = answer.duplicate ? fresh.receipt?.by.name : null;
    if (by && by !== me.name)
      return { ...lateText(fresh, now), error: null, text: 'Your answer was not applied.' };
    if (said === null) return null;
    if (answer.outcome === 'counted')
      toasts.say('Your approval is counted. Others must agree too.');
    else if (answer.duplicate) toasts.say('This result was already accepted. Nothing changed.');
    else toasts.say(said, { to: `/sessions/${call.sessionID}`, text: 'Open' });
    return null;
  } catch (error) {
    if (me.refused(error)) return null;
    return explain(call, error, now);
  }
}

/** The budget's form asks for an amount: a number, or a time in words. */
const formOfRaise = (call: Call): Schema & { default?: unknown } =>
  (call.form as Schema | null)?.properties?.['raise'] ?? {};
export const raiseText = (call: Call, draft: Draft): string =>
  draft.answer || String(formOfRaise(call).default ?? '');
export const raiseLabel = (call: Call): string => visible(formOfRaise(call).title ?? 'Raise by');
function raiseOf(call: Call, draft: Draft): unknown {
  const text = raiseText(call, draft);
  const number = Number(text);
  const typed = formOfRaise(call).type !== 'string' && text.trim() !== '';
  return typed && Number.isFinite(number) ? number : text;
}

const submit = (
  call: Call,
  approved: boolean,
  draft: Draft,
  rule?: RuleRequest,
): Promise<SubmissionAnswer> => {
  const reason = approved ? draft.comment : draft.reason;
  const body = {
    pendingID: call.id,
    approved,
    inputDigest: call.inputDigest,
    ...(reason.trim() ? { reason } : {}),
    ...(approved && draft.arguments !== undefined ? { arguments: draft.arguments } : {}),
    ...(rule ? { rule } : {}),
    ...(approved && isBudget(call) ? { content: { raise: raiseOf(call, draft) } } : {}),
  };
  return client.call('submitDecision', { body });
};

export function decide(
  call: Call,
  approved: boolean,
  draft: Draft,
  now: number,
  rule?: RuleRequest,
): Promise<Late | null> {
  const runs = `Approved. ${call.tool} runs now${rule ? ', and later calls like it do, too' : ''}.`;
  const budget = approved ? 'The budget is raised, and the session continues.' : 'The turn ended.';
  const tool = approved ? runs : 'Denied. The agent got your reason.';
  const said = isBudget(call) ? budget : tool;
  return send(call, submit(call, approved, draft, rule), said, now);
}

/** One of several: what became of all is said once. */
export const decideOne = (
  call: Call,
  approved: boolean,
  draft: Draft,
  now: number,
): Promise<Late | null> => send(call, submit(call, approved, draft), null, now);

export function doubt(
  call: Call,
  action: 'run_again' | 'succeeded' | 'give_up',
  output: unknown,
  now: number,
): Promise<Late | null> {
  const content = output === undefined ? { action } : { action, output };
  const body = {
    pendingID: call.id,
    approved: true,
    inputDigest: call.inputDigest,
    content,
  };
  const said = {
    run_again: `${call.tool} runs again.`,
    succeeded: 'Result entered.',
    give_up: 'Reported as failed.',
  };
  return send(call, client.call('submitDecision', { body }), said[action], now);
}

export function answer(
  call: Call,
  output: unknown,
  now: number,
  said = 'Answer sent.',
  files: Attached[] = [],
): Promise<Late | null> {
  const body = {
    pendingID: call.id,
    result: { output },
    ...(files.length > 0 ? { files: files.map(filePart) } : {}),
  };
  return send(call, client.call('submitResult', { body }), said, now);
}

export function fail(call: Call, error: string, now: number): Promise<Late | null> {
  return send(
    call,
    client.call('submitError', { body: { pendingID: call.id, error } }),
    'Failure reported.',
    now,
  );
}

export function cancel(call: Call, now: number): Promise<Late | null> {
  return send(call, client.call('cancelPending', { path: { id: call.id } }), 'Cancelled.', now);
}

export async function claim(call: Call, forMs: number): Promise<void> {
  try {
    const mine = await client.call('claimPending', { path: { id: call.id }, body: { forMs } });
    inbox.put(mine);
    toasts.say(forMs > 0 ? 'Claimed for 10 minutes.' : 'Released.');
  } catch (error) {
    toasts.say(error instanceof Error ? error.message : 'That did not work.');
  }
}

/** Asks other people instead; null when it was done, else why not. */
export async function reassign(call: Call, to: string[]): Promise<string | null> {
  try {
    const fresh = await client.call('reassignPending', { path: { id: call.id }, body: { to } });
    inbox.put(fresh);
    await inbox.fetch(call.id).catch(() => {});
    toasts.say(`Now ${to.map((one) => who(one, me.name)).join(', ')} can answer.`);
    return null;
  } catch (error) {
    if (me.refused(error)) return null;
    return error instanceof Error ? error.message : 'That did not work.';
  }
}
