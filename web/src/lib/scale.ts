// From time to place. Folded, each sleep has a width by the logarithm of its duration, and the time awake between them
// shares the rest; to scale, one linear axis holds it all.
import { gaps, type Timeline } from './timeline';

export interface Segment {
  from: number;
  to: number;
  x: number;
  width: number;
  kind: 'awake' | 'asleep' | 'idle';
  /** Of a sleep: its place in the list. */
  index: number;
}

const NARROW = 96;
const WIDE = 164;
const AWAKE = 128;
const IDLE = 72;
const LAST = 34;
const MINUTE = 60_000;
const DAY = 86_400_000;
/** A shorter sleep is part of the time awake. */
const NAP = 1000;

export function sleepWidth(ms: number): number {
  const share = Math.log(Math.max(ms, MINUTE) / MINUTE) / Math.log((4 * DAY) / MINUTE);
  return NARROW + (WIDE - NARROW) * Math.min(1, share);
}

type Piece = Omit<Segment, 'x' | 'width'>;

function pieces(line: Timeline): Piece[] {
  const sleeps = line.sleeps.map((one, index): Piece => ({
    from: one.start,
    to: one.end ?? line.end,
    kind: 'asleep',
    index,
  }));
  const idle = gaps(line).map((one): Piece => ({ ...one, kind: 'idle', index: -1 }));
  const quiet = [...sleeps, ...idle]
    .filter((one) => one.to - one.from >= NAP)
    .sort((a, b) => a.from - b.from);
  const found: Piece[] = [];
  let at = line.start;
  for (const one of quiet) {
    found.push({ from: at, to: one.from, kind: 'awake', index: -1 }, one);
    at = one.to;
  }
  found.push({ from: at, to: line.end, kind: 'awake', index: -1 });
  return found;
}

/** The least that a piece takes when sleeps are folded. */
function least(one: Piece, last: boolean): number {
  if (one.kind === 'asleep') return sleepWidth(one.to - one.from);
  if (one.kind === 'idle') return IDLE;
  return last && one.to === one.from ? LAST : AWAKE;
}

export class Scale {
  readonly segments: Segment[] = [];
  readonly width: number;

  constructor(line: Timeline, left: number, width: number, folded: boolean) {
    const parts = pieces(line);
    const all = line.end - line.start;
    const minima = parts.map((one, index) => least(one, index === parts.length - 1));
    const minimum = minima.reduce((sum, one) => sum + one, 0);
    const total = folded ? Math.max(width, minimum) : width;
    const awake = parts.filter((one) => one.kind === 'awake');
    const time = awake.reduce((sum, one) => sum + one.to - one.from, 0);
    let x = left;
    for (const [index, part] of parts.entries()) {
      let size = ((part.to - part.from) / all) * total;
      if (folded) {
        const share =
          part.kind !== 'awake' ? 0 : time > 0 ? (part.to - part.from) / time : 1 / awake.length;
        size = (minima[index] ?? 0) + (total - minimum) * share;
      }
      this.segments.push({ ...part, x, width: size });
      x += size;
    }
    this.width = x - left;
  }

  x(at: number): number {
    const segment =
      this.segments.find((one) => at <= one.to && at >= one.from && one.to > one.from) ??
      (at < (this.segments[0]?.from ?? 0) ? this.segments[0] : this.segments.at(-1));
    if (!segment) return 0;
    const length = segment.to - segment.from;
    const share = length > 0 ? Math.min(1, Math.max(0, (at - segment.from) / length)) : 0;
    return segment.x + share * segment.width;
  }
}
