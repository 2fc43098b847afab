// Figures of the server over time, as long as the page is open: bounded samples, and what happened between them.

/** The number of samples that are kept, the newest: an hour of the overview, six of another view. */
export const SAMPLES_MOST = 720;
const HISTOGRAM = 'dormouse_resume_seconds';
const OUTCOMES = ['applied', 'duplicate', 'conflict'] as const;
type Outcome = (typeof OUTCOMES)[number];

export interface Sample {
  at: number;
  /** Calls that wait; null: the server does not say it to this person. */
  pending: number | null;
  dead: number;
  /** Since the start of the server: results by outcome. */
  outcomes: Record<Outcome, number>;
  /** Since the start of the server: by bound, the number of wakes that took at most that many seconds. */
  wakes: [number, number][];
}

/** What a chart shows of one stretch of time. */
export interface Column {
  at: number;
  pending: number | null;
  dead: number | null;
  /** Seconds in which half of the wakes, and 99 % of them, were done; null: there was none. */
  half: number | null;
  most: number | null;
  outcomes: Record<Outcome, number>;
  /** The counters began again in it. */
  restart: boolean;
}

export function sampleOf(metrics: Record<string, number>, dead: number, at: number): Sample {
  const wakes = Object.entries(metrics)
    .flatMap(([name, value]): [number, number][] => {
      const bound = new RegExp(`^${HISTOGRAM}_bucket\\{le="([^"]+)"\\}$`).exec(name)?.[1];
      return bound === undefined ? [] : [[bound === '+Inf' ? Infinity : Number(bound), value]];
    })
    .sort((a, b) => a[0] - b[0]);
  const outcome = (name: Outcome): number =>
    metrics[`dormouse_submissions_total{outcome="${name}"}`] ?? 0;
  return {
    at,
    pending: metrics['dormouse_pending_calls'] ?? null,
    dead,
    outcomes: {
      applied: outcome('applied'),
      duplicate: outcome('duplicate'),
      conflict: outcome('conflict'),
    },
    wakes,
  };
}

export const keep = (all: readonly Sample[], one: Sample): Sample[] => [
  ...all.slice(Math.max(0, all.length + 1 - SAMPLES_MOST)),
  one,
];

const total = (one: Sample): number => one.wakes.at(-1)?.[1] ?? 0;

/** Whether the server was started between two samples. */
const restarted = (before: Sample, after: Sample): boolean =>
  total(after) < total(before) ||
  OUTCOMES.some((name) => after.outcomes[name] < before.outcomes[name]);

function bound(before: Sample | null, after: Sample, share: number): number | null {
  const earlier = new Map(before?.wakes ?? []);
  const grown = after.wakes.map(([le, count]) => [le, count - (earlier.get(le) ?? 0)] as const);
  const all = grown.at(-1)?.[1] ?? 0;
  if (all <= 0) return null;
  const found = grown.find(([, count]) => count >= all * share)?.[0] ?? null;
  // Beyond the last bound: at least that long.
  return found === Infinity ? (grown.at(-2)?.[0] ?? null) : found;
}

/** The samples as `number` columns of equal length from `from` to `to`. */
export function columns(
  samples: readonly Sample[],
  from: number,
  to: number,
  number: number,
): Column[] {
  const length = Math.max(1, to - from) / number;
  let at = 0;
  let before: Sample | null = null;
  return Array.from({ length: number }, (_, index) => {
    const end = index === number - 1 ? Infinity : from + (index + 1) * length;
    // The first sample of all says what was before it, not what happened in its column.
    const first: Sample | null = before ?? samples[at] ?? null;
    let last: Sample | null = null;
    let restart = false;
    for (; at < samples.length && (samples[at] as Sample).at < end; at += 1) {
      last = samples[at] as Sample;
      restart ||= before !== null && restarted(before, last);
      before = last;
    }
    const base = restart ? null : first;
    const grown: Sample | null = last;
    const outcome = (name: Outcome): number =>
      grown ? grown.outcomes[name] - (base?.outcomes[name] ?? 0) : 0;
    return {
      at: from + index * length,
      pending: last?.pending ?? null,
      dead: last?.dead ?? null,
      half: grown && bound(base, grown, 0.5),
      most: grown && bound(base, grown, 0.99),
      outcomes: {
        applied: outcome('applied'),
        duplicate: outcome('duplicate'),
        conflict: outcome('conflict'),
      },
      restart,
    };
  });
}

const STEPS = [1, 2, 5, 10];

/** The upper end of an axis from zero: a round number that is at least `most`. */
export function roundUp(most: number): number {
  if (!(most > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return (STEPS.find((step) => step * power >= most) ?? 10) * power;
}
