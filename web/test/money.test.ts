import type { Event } from 'dormouse-client';
import { describe, expect, it } from 'vitest';
import { costText, money } from '../src/lib/money';
import { timeline } from '../src/lib/timeline';
import { timelineText } from '../src/lib/timeline-text';

describe('money', () => {
  it('amounts_have_two_decimals_and_small_ones_four', () => {
    expect(money(1_250_000, 'USD')).toBe('$1.25');
    expect(money(1_234_999, 'EUR')).toBe('EUR 1.23');
    expect(money(1_995_000, 'USD')).toBe('$2.00');
    expect(money(3_449, 'EUR')).toBe('EUR 0.0034');
    expect(money(9_960, 'USD')).toBe('$0.0100');
    expect(money(99, 'USD')).toBe('<$0.0001');
    expect(money(0, 'USD')).toBe('$0.00');
  });

  it('several_currencies_are_not_added', () => {
    expect(costText({ USD: 500_000, EUR: 2_000_000 })).toBe('EUR 2.00 + $0.50');
  });

  it('an_unknown_cost_is_empty', () => {
    expect(costText(null)).toBe('');
    expect(costText({})).toBe('');
  });
});

const reply = (seq: number, cost?: Record<string, number>): Event =>
  ({
    seq,
    at: seq,
    type: 'model_replied',
    data: { usage: { inputTokens: 1, outputTokens: 1, ...(cost ? { cost } : {}) } },
  }) as unknown as Event;
const start = { seq: 1, at: 1, type: 'turn_started', turnID: 'trn_x_1', data: {} };

describe('cost of a timeline', () => {
  it('costs_of_replies_are_added_up', () => {
    const line = timeline(
      [
        start as unknown as Event,
        reply(2, { USD: 1_000_000 }),
        reply(3),
        reply(4, { USD: 250_000 }),
      ],
      5,
    );
    expect(line.use.map((one) => one.cost?.['USD'])).toEqual([1_000_000, 1_000_000, 1_250_000]);
    expect(timelineText(line, 't', 80)).toContain('6 tokens, $1.25, asleep');
  });

  it('without_prices_no_cost_is_shown', () => {
    const line = timeline([start as unknown as Event, reply(2)], 5);
    expect(line.use[0]?.cost).toBeNull();
    expect(timelineText(line, 't', 80)).toContain('2 tokens, asleep');
  });
});
