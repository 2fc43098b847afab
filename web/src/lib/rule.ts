// The standing rule that a person makes with an approval, and rules in words.
import type { Rule, RuleRequest } from 'dormouse-client';
import { exactly, list, rows, visible } from './text';

export type Scope = 'call' | 'session' | 'project';
export interface Choice {
  scope: Scope;
  /** Arguments that must be equal; all of them: nothing may differ. */
  match: string[];
  /** The last day, "2026-12-24"; empty: none. */
  until: string;
}

const DAY = 86_400_000;
export const PROPOSED_DAYS = 30;
export const MOST_DAYS = 365;

/** The day that many days ahead, as a date field has it. */
export function day(now: number, days: number): string {
  const date = new Date(now + days * DAY);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export const namesOf = (input: unknown): string[] =>
  input !== null && typeof input === 'object' && !Array.isArray(input) ? Object.keys(input) : [];

export const onlyThis = (now: number): Choice => ({
  scope: 'call',
  match: [],
  until: day(now, PROPOSED_DAYS),
});

/** Milliseconds from now to the end of the day; null: it is no day, or none that can be chosen. */
export function left(until: string, now: number): number | null {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(until);
  if (!parts) return null;
  const end = new Date(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]), 23, 59, 59);
  const ms = end.getTime() - now;
  return ms >= 1000 && ms <= (MOST_DAYS + 1) * DAY ? ms : null;
}

/** What is wrong with the choice; null: it can be sent. */
export function problem(choice: Choice, input: unknown, now: number): string | null {
  if (choice.scope === 'call') return null;
  if (namesOf(input).length > 0 && choice.match.length === 0)
    return 'Choose at least one argument that must be the same.';
  if (choice.scope === 'project' && left(choice.until, now) === null)
    return `Choose a last day, at most ${MOST_DAYS} days ahead.`;
  return null;
}

/** The request's rule; undefined: none. REQUIRES: no problem. */
export function request(choice: Choice, input: unknown, now: number): RuleRequest | undefined {
  if (choice.scope === 'call') return undefined;
  const names = namesOf(input);
  const some = names.length > 0 && choice.match.length < names.length;
  return {
    scope: choice.scope,
    ...(some ? { match: names.filter((name) => choice.match.includes(name)) } : {}),
    ...(choice.scope === 'project' ? { forMs: left(choice.until, now) ?? 0 } : {}),
  };
}

/** "service = shop · environment = production; the others may differ". */
export function condition(rule: Pick<Rule, 'input' | 'match'>): string {
  const chosen = rule.match as string[] | null;
  const shown = rows(rule.input)
    .filter(([name]) => !chosen || chosen.includes(name))
    .map(([name, value]) => `${visible(name)} = ${exactly(value).replaceAll(/\s+/g, ' ')}`);
  const text = shown.length > 0 ? shown.join(' · ') : 'no arguments';
  return chosen ? `${text}; the others may differ` : text;
}

/** What the choice allows, in one sentence. */
export function meaning(choice: Choice, input: unknown, tool: string, agent: string): string {
  const names = namesOf(input);
  const same =
    names.length === 0 || choice.match.length === names.length
      ? 'exactly these arguments'
      : `the same ${list(names.filter((name) => choice.match.includes(name)).map(visible))}`;
  const where = choice.scope === 'session' ? 'in this session' : `by ${agent} in this project`;
  return `Calls of ${tool} ${where} with ${same} then run without a question.`;
}
