const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** "12 s", "48 min", "5 h", "2 d 3 h": at most two units. */
export function duration(ms: number, units = 2): string {
  const value = Math.max(0, ms);
  if (value < SECOND) return `${Math.round(value)} ms`;
  if (value < MINUTE) return `${Math.floor(value / SECOND)} s`;
  const parts: [number, string][] = [
    [Math.floor(value / DAY), 'd'],
    [Math.floor((value % DAY) / HOUR), 'h'],
    [Math.floor((value % HOUR) / MINUTE), 'min'],
    [Math.floor((value % MINUTE) / SECOND), 's'],
  ];
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first, first + units)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

/** How long a wait has lasted, coarse enough not to change each second after the first minute. */
export function span(ms: number): string {
  if (ms < SECOND) return '0 s';
  if (ms < MINUTE) return duration(ms, 1);
  return duration(ms, ms >= DAY ? 2 : 1);
}

const sameDay = (a: Date, b: Date): boolean => a.toDateString() === b.toDateString();

const hourMinute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const hourMinuteSecond = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const weekday = new Intl.DateTimeFormat('en-GB', { weekday: 'short' });
const dayMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const full = new Intl.DateTimeFormat('en-GB', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});

/** "14:06" today, "Sat 10:51" within a week, else "1 Dec, 04:00". */
export function clock(at: number, now: number, seconds = false): string {
  const date = new Date(at);
  const time = (seconds ? hourMinuteSecond : hourMinute).format(date);
  if (sameDay(date, new Date(now))) return time;
  if (Math.abs(now - at) < 6 * DAY) return `${weekday.format(date)} ${time}`;
  return `${dayMonth.format(date)}, ${time}`;
}

/** Relative up to seven days, then a date. */
export function ago(at: number, now: number): string {
  return now - at < 7 * DAY ? span(now - at) : dayMonth.format(new Date(at));
}

/** The exact local time with seconds and zone. */
export const exact = (at: number): string => full.format(new Date(at));

export type Nearness = 'far' | 'near' | 'late';

/** A deadline is near below one hour, late below five minutes. */
export function nearness(deadline: number, now: number): Nearness {
  const left = deadline - now;
  if (left < 5 * MINUTE) return 'late';
  return left < HOUR ? 'near' : 'far';
}

export const startOfDay = (now: number): number => new Date(now).setHours(0, 0, 0, 0);
