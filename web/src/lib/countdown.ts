// Announces to screen readers that the time for a decision runs out: at ten, five and one minute.

const MINUTE = 60_000;
const MARKS = [10, 5, 1];

/** The mark in minutes that was passed between two looks; null: none. `left` in milliseconds. */
export function passed(before: number, left: number): number | null {
  if (left <= 0) return null;
  return MARKS.findLast((mark) => before > mark * MINUTE && left <= mark * MINUTE) ?? null;
}

export const announcement = (minutes: number, question: string): string =>
  `${minutes} ${minutes === 1 ? 'minute' : 'minutes'} left: ${question}`;
