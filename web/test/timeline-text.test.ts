import { readFileSync, writeFileSync } from 'node:fs';
import type { Event } from 'dormouse-client';
import { describe, expect, it } from 'vitest';
import { lasted, timelineText } from '../src/lib/timeline-text';
import { timeline } from '../src/lib/timeline';

// src/cli/render/timeline_test.cc compares what `dormouse timeline` draws with the same files. Made again with
// WRITE=1 npx vitest run test/timeline-text.test.ts
process.env['TZ'] = 'UTC';
const NOW = 1_795_420_000_000;
const file = (name: string): string => `test/recorded/${name}`;

function events(name: string): Event[] {
  return (JSON.parse(readFileSync(file(`${name}.json`), 'utf8')) as { items: Event[] }).items;
}

describe('timeline text', () => {
  for (const name of ['approve', 'crash', 'ledger'])
    for (const columns of [60, 80, 132])
      it(`${name}_in_${columns}_columns_is_the_recorded_text`, () => {
        const text = timelineText(timeline(events(name), NOW), `The ${name} session`, columns);
        const path = file(`${name}.${columns}.txt`);
        if (process.env['WRITE']) writeFileSync(path, text);
        expect(text).toBe(readFileSync(path, 'utf8'));
        const widest = Math.max(...text.split('\n').map((line) => [...line].length));
        expect(widest).toBeLessThanOrEqual(columns);
      });
  it('half_of_a_journal_is_drawn_too', () => {
    const all = events('ledger');
    for (let length = 0; length <= all.length; length += 1) {
      const text = timelineText(timeline(all.slice(0, length), NOW), 'half', 40);
      expect(text.startsWith('half\n')).toBe(true);
    }
  });
  it('session_without_a_turn_says_so', () => {
    expect(timelineText(timeline([], NOW), 'new')).toBe('new\nNothing has happened yet.\n');
  });
  it('durations_have_two_units_at_most', () => {
    expect([0, 999, 59_999, 3_599_999, 86_399_999, 270_000_000].map(lasted)).toEqual([
      '0 ms',
      '999 ms',
      '59 s',
      '59 min',
      '23 h 59 min',
      '3 d 3 h',
    ]);
  });
});
