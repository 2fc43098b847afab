import { describe, expect, it } from 'vitest';
import { announcement, passed } from '../src/lib/countdown';
import { legendPlaces } from '../src/lib/export';
import { badge } from '../src/lib/favicon';
import { actionsOf } from '../src/lib/tasks';
import { hasLabel } from '../src/lib/words';

const MINUTE = 60_000;

describe('countdown', () => {
  it('each_mark_is_announced_once', () => {
    const marks: number[] = [];
    let before = 12 * MINUTE;
    for (let left = before; left > -MINUTE; left -= 7_000) {
      const mark = passed(before, left);
      if (mark !== null) marks.push(mark);
      before = left;
    }
    expect(marks).toEqual([10, 5, 1]);
  });
  it('marks_passed_in_a_sleep_of_the_machine_are_one', () => {
    expect(passed(11 * MINUTE, 30_000)).toBe(1);
    expect(passed(11 * MINUTE, -1)).toBeNull();
  });
  it('announcement_names_time_and_question', () => {
    expect(announcement(1, 'Deploy?')).toBe('1 minute left: Deploy?');
    expect(announcement(5, 'Deploy?')).toBe('5 minutes left: Deploy?');
  });
});

describe('favicon', () => {
  it('badge_is_short', () => {
    expect([0, 1, 12, 100].map(badge)).toEqual(['', '1', '12', '99+']);
  });
});

describe('labels', () => {
  it('filter_matches_name_or_name_and_value', () => {
    const labels = { team: 'web', prio: '1' };
    expect(hasLabel(labels, '')).toBe(true);
    expect(hasLabel(labels, 'team')).toBe(true);
    expect(hasLabel(labels, 'team:web')).toBe(true);
    expect(hasLabel(labels, 'team:app')).toBe(false);
    expect(hasLabel(labels, 'web')).toBe(false);
  });
});

describe('legend of an exported picture', () => {
  it('signs_stay_within_the_width_and_do_not_overlap', () => {
    const texts = [
      'model request',
      'tool runs',
      'asleep, waits for a person',
      'crash',
      'no effect',
    ];
    const { at, height } = legendPlaces(texts, 320);
    const rows = new Set(at.map((one) => one.y));
    expect(rows.size).toBeGreaterThan(1);
    for (const [index, one] of at.entries()) {
      expect(one.x + 28 + (texts[index]?.length ?? 0) * 6).toBeLessThanOrEqual(320);
      const next = at[index + 1];
      if (next?.y === one.y) expect(next.x).toBeGreaterThan(one.x + 28);
    }
    expect(height).toBeGreaterThan(Math.max(...rows));
    expect(legendPlaces([], 320).height).toBe(0);
  });
});

describe('tasks', () => {
  it('actions_follow_the_state', () => {
    expect(actionsOf({ status: 'running', queued: false }, true)).toEqual(['output', 'cancel']);
    expect(actionsOf({ status: 'completed', queued: false }, true)).toContain('resume');
    expect(actionsOf({ status: 'error', queued: false }, true)).toEqual(['output', 'clear']);
    expect(actionsOf({ status: 'completed', queued: false }, false)).toEqual(['output']);
  });
});
