import { describe, expect, it } from 'vitest';
import { columns, keep, roundUp, sampleOf, SAMPLES_MOST, type Sample } from '../src/lib/history';

/** `wakes`: how many took at most 1 ms, 10 ms, any time. */
const sample = (
  at: number,
  wakes: [number, number, number],
  more: Partial<Sample> = {},
): Sample => ({
  at,
  pending: 1,
  dead: 0,
  outcomes: { applied: 0, duplicate: 0, conflict: 0 },
  wakes: [
    [0.001, wakes[0]],
    [0.01, wakes[1]],
    [Infinity, wakes[2]],
  ],
  ...more,
});

describe('samples', () => {
  it('sample_has_the_figures_of_the_server', () => {
    const one = sampleOf(
      {
        dormouse_pending_calls: 3,
        'dormouse_submissions_total{outcome="duplicate"}': 2,
        'dormouse_resume_seconds_bucket{le="+Inf"}': 9,
        'dormouse_resume_seconds_bucket{le="0.01"}': 8,
        dormouse_resume_seconds_count: 9,
      },
      4,
      1000,
    );
    expect(one).toEqual({
      at: 1000,
      pending: 3,
      dead: 4,
      outcomes: { applied: 0, duplicate: 2, conflict: 0 },
      wakes: [
        [0.01, 8],
        [Infinity, 9],
      ],
    });
    expect(sampleOf({}, 0, 1).pending).toBeNull();
  });
  it('only_the_newest_are_kept', () => {
    let all: Sample[] = [];
    for (let at = 0; at < SAMPLES_MOST + 5; at += 1) all = keep(all, sample(at, [0, 0, 0]));
    expect(all).toHaveLength(SAMPLES_MOST);
    expect([all[0]?.at, all.at(-1)?.at]).toEqual([5, SAMPLES_MOST + 4]);
  });
});

describe('columns', () => {
  it('what_was_before_the_first_sample_is_not_in_its_column', () => {
    const outcomes = { applied: 7, duplicate: 1, conflict: 0 };
    const [one] = columns([sample(0, [50, 90, 100], { outcomes })], 0, 10, 1);
    expect(one?.outcomes.applied).toBe(0);
    expect([one?.half, one?.most]).toEqual([null, null]);
    expect(one?.pending).toBe(1);
  });
  it('first_column_has_what_happened_between_its_samples', () => {
    const all = columns([sample(0, [1, 1, 1]), sample(9, [2, 2, 2])], 0, 20, 2);
    expect(all.map((one) => one.most)).toEqual([0.001, null]);
  });
  it('counters_are_shown_as_what_was_added_in_each', () => {
    const at = (time: number, applied: number, wakes: [number, number, number]): Sample =>
      sample(time, wakes, { outcomes: { applied, duplicate: 0, conflict: 0 }, pending: applied });
    const all = columns(
      [
        at(0, 5, [10, 10, 10]),
        at(12, 6, [11, 12, 12]),
        at(14, 8, [12, 14, 14]),
        at(39, 9, [12, 15, 15]),
      ],
      0,
      40,
      4,
    );
    expect(all.map((one) => one.outcomes.applied)).toEqual([0, 3, 0, 1]);
    expect(all.map((one) => one.half)).toEqual([null, 0.001, null, 0.01]);
    expect(all.map((one) => one.most)).toEqual([null, 0.01, null, 0.01]);
    expect(all.map((one) => one.pending)).toEqual([5, 8, null, 9]);
    expect(all.some((one) => one.restart)).toBe(false);
  });
  it('wake_beyond_the_last_bound_counts_as_that_bound', () => {
    expect(columns([sample(0, [0, 0, 0]), sample(9, [0, 0, 4])], 0, 10, 2)[1]?.most).toBe(0.01);
  });
  it('restart_is_marked_and_counts_from_zero', () => {
    const before = sample(0, [9, 9, 9], { outcomes: { applied: 9, duplicate: 0, conflict: 0 } });
    const after = sample(8, [2, 2, 2], { outcomes: { applied: 2, duplicate: 0, conflict: 0 } });
    const all = columns([before, after], 0, 10, 2);
    expect(all.map((one) => one.restart)).toEqual([false, true]);
    expect(all[1]?.outcomes.applied).toBe(2);
    expect(all[1]?.half).toBe(0.001);
  });
});

describe('axis', () => {
  it('upper_end_is_round_and_large_enough', () => {
    expect([0, 1, 2.1, 37, 101, 0.004].map(roundUp)).toEqual([1, 1, 5, 50, 200, 0.005]);
  });
});
