import { describe, expect, it } from 'vitest';
import * as rule from '../src/lib/rule';

const now = new Date(2026, 10, 24, 14, 0).getTime();
const input = { service: 'shop', version: '2.41.0' };
const choice = (more: Partial<rule.Choice>): rule.Choice => ({
  ...rule.onlyThis(now),
  match: ['service', 'version'],
  ...more,
});

describe('rule', () => {
  it('this_call_only_is_proposed_and_makes_no_rule', () => {
    expect(rule.onlyThis(now)).toMatchObject({ scope: 'call', until: '2026-12-24' });
    expect(rule.request(choice({}), input, now)).toBeUndefined();
    expect(rule.problem(choice({ match: [] }), input, now)).toBeNull();
  });
  it('all_arguments_are_equal_unless_some_are_left_out', () => {
    expect(rule.request(choice({ scope: 'session' }), input, now)).toEqual({ scope: 'session' });
    expect(rule.request(choice({ scope: 'session', match: ['version'] }), input, now)).toEqual({
      scope: 'session',
      match: ['version'],
    });
  });
  it('rule_of_the_project_ends_with_its_last_day', () => {
    const made = rule.request(choice({ scope: 'project', until: '2026-11-25' }), input, now);
    expect(made).toEqual({ scope: 'project', forMs: (33 * 60 + 59) * 60_000 + 59_000 });
  });
  it('days_that_cannot_be_chosen_are_refused', () => {
    for (const until of ['', '2026-11-23', '2028-01-01', 'tomorrow', '2026-13-40x'])
      expect(rule.problem(choice({ scope: 'project', until }), input, now)).toContain('last day');
    expect(
      rule.problem(choice({ scope: 'project', until: rule.day(now, 0) }), input, now),
    ).toBeNull();
    const last = rule.day(now, rule.MOST_DAYS);
    expect(rule.problem(choice({ scope: 'project', until: last }), input, now)).toBeNull();
    expect(rule.left(last, now)).toBeLessThanOrEqual(31_622_400_000);
  });
  it('no_argument_at_all_is_refused', () => {
    expect(rule.problem(choice({ scope: 'session', match: [] }), input, now)).toContain('at least');
    expect(rule.problem(choice({ scope: 'session', match: [] }), [1], now)).toBeNull();
    expect(rule.request(choice({ scope: 'session', match: [] }), [1], now)).toEqual({
      scope: 'session',
    });
  });
  it('rule_in_words_spells_out_what_cannot_be_seen', () => {
    expect(rule.condition({ input, match: ['service'] } as never)).toBe(
      'service = shop; the others may differ',
    );
    expect(rule.condition({ input, match: null } as never)).toBe(
      'service = shop · version = 2.41.0',
    );
    expect(rule.condition({ input: {}, match: null } as never)).toBe('no arguments');
    expect(rule.condition({ input: { a: 'x\u202ey' }, match: null } as never)).toContain('U+202E');
    expect(
      rule.meaning(choice({ scope: 'project', match: ['version'] }), input, 'deploy', 'ops'),
    ).toBe(
      'Calls of deploy by ops in this project with the same version then run without a question.',
    );
  });
});
