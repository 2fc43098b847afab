// From time to place. Folded, each sleep has a width by the logarithm of its duration, and the time awake between them
// shares the rest; to scale, one linear axis holds it all.
import type { Timeline } from './timeline';

export interface Segment {
  from: number;
  to: number;
  x: number;
  width: number;
  asleep: boolean;
  index: number;
}

const NARROW = 96;
const WIDE = 164;
const AWAKE = 116;
const MINUTE = 60_000;
const DAY = 86_400_000;
/** A shorter sleep is part of the time awake. */
const NAP = 1000;

export function sleepWidth(ms: number): number {
  const share = Math.log(Math.max(ms, MINUTE) / MINUTE) / Math.log((4 * DAY) / MINUTE);
  return NARROW + (WIDE - NARROW) * Math.min(1, share);
}

function pieces(line: Timeline): Omit<Segment, 'x' | 'width'>[] {
  const found: Omit<Segment, 'x' | 'width'>[] = [];
  let at = line.start;
  for (const [index, sleep] of line.sleeps.entries()) {
    const to = sleep.end ?? line.end;
    if (to - sleep.start < NAP) continue;
    found.push({ from: at, to: sleep.start, asleep: false, index: -1 });
    found.push({ from: sleep.start, to, asleep: true, index });
    at = to;
  }
  found.push({ from: at, to: line.end, asleep: false, index: -1 });
  return found;
}

export class Scale {
  readonly segments: Segment[] = [];
  readonly width: number;

  constructor(line: Timeline, left: number, width: number, folded: boolean) {
    const parts = pieces(line);
    const all = line.end - line.start;
    const awake = parts.filter((one) => !one.asleep);
    const lasting = awake.filter((one) => one.to > one.from);
    const minimum = parts.reduce(
      (sum, one) =>
        sum + (one.asleep ? sleepWidth(one.to - one.from) : one.to > one.from ? AWAKE : 28),
      0,
    );
    const total = folded ? Math.max(width, minimum) : width;
    const spare = total - minimum;
    const time = lasting.reduce((sum, one) => sum + one.to - one.from, 0);
    let x = left;
    for (const part of parts) {
      const share = time > 0 ? (part.to - part.from) / time : 1 / awake.length;
      let size = ((part.to - part.from) / all) * total;
      if (folded && part.asleep) size = sleepWidth(part.to - part.from);
      else if (folded) size = (part.to > part.from ? AWAKE : 28) + spare * share;
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
