// Amounts of money, as `dormouse` writes them (src/cli/render/money.cc).

/** Millionths by currency. */
export type Cost = Record<string, number>;

const UNIT = 1_000_000;
const HUNDREDTH = 10_000;
const SMALLEST = 100;

/** "$1.25", "EUR 0.0034": amounts below a hundredth have four decimals. */
export function money(micros: number, currency: string): string {
  const sign = currency === 'USD' ? '$' : `${currency} `;
  if (micros > 0 && micros < SMALLEST) return `<${sign}0.0001`;
  const step = micros > 0 && micros < HUNDREDTH ? SMALLEST : HUNDREDTH;
  return sign + ((Math.round(micros / step) * step) / UNIT).toFixed(step === SMALLEST ? 4 : 2);
}

/** "$1.25 + EUR 3.00"; empty if no cost is known. */
export const costText = (cost: Cost | null | undefined): string =>
  Object.entries(cost ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, micros]) => money(micros, currency))
    .join(' + ');

export function sum(a: Cost, b: Cost): Cost {
  const out = { ...a };
  for (const [currency, micros] of Object.entries(b)) out[currency] = (out[currency] ?? 0) + micros;
  return out;
}
