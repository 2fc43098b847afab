import { stringify } from './exact';

const LINE = 80;
const HIDDEN =
  // eslint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/gu;

/** Spells out what cannot be seen, or what turns text round: U+202E. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (sign) => {
    const code = (sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `\u27e8U+${code}\u27e9`;
  });
}

/** One value of the arguments as text that a person reads. */
export function show(value: unknown): string {
  if (typeof value === 'string') return visible(value);
  if (value === undefined) return '';
  if (value === null || typeof value !== 'object') return String(value);
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one !== 'object')) {
    return value.map(show).join(', ');
  }
  return visible(stringify(value, 2));
}

/** Whether a text could be read as another value: an empty one, a number, a list, or with spaces at its ends. */
function isAmbiguous(text: string): boolean {
  if (text === '' || /^[ \t\u00a0\u2000-\u200a\u3000]|[ \t\u00a0\u2000-\u200a\u3000]$/.test(text))
    return true;
  if (!/^\s*[-\d[{"tfn]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** A value of the arguments so that different values look different: the text "5" is in quotes, the number 5 is not,
 * and a list says where each of its values ends. */
export function exactly(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string')
    return isAmbiguous(value) ? visible(stringify(value)) : visible(value);
  if (!Array.isArray(value) || value.some((one) => one !== null && typeof one === 'object'))
    return show(value);
  const line = `[${value.map((one) => stringify(one)).join(', ')}]`;
  return visible(line.length > LINE ? stringify(value, 2) : line);
}

const LONG = 12;

/** Whether a value takes more lines than are read at a glance. */
export function isLong(value: unknown): boolean {
  const text = exactly(value);
  return text.split('\n').length > LONG || text.length > LONG * 80;
}

/** The arguments as rows; anything but an object is one row. */
export function rows(input: unknown): [string, unknown][] {
  if (input !== null && typeof input === 'object' && !Array.isArray(input)) {
    return Object.entries(input);
  }
  return input === null || input === undefined ? [] : [['value', input]];
}

/** "shop 2.41.0 → production": the arguments on one line. */
export const oneLine = (input: unknown): string =>
  rows(input)
    .map(([, value]) => exactly(value).replaceAll(/\s+/g, ' '))
    .join(' \u00b7 ');

/** Shortened in the middle; the end tells ids of one session apart. */
export function short(text: string, start = 8, end = 5): string {
  return text.length <= start + end + 1 ? text : `${text.slice(0, start)}\u2026${text.slice(-end)}`;
}

export function shortID(id: string): string {
  const [kind = '', rest = ''] = [id.slice(0, 4), id.slice(4)];
  return rest.length <= 8 ? id : `${kind}\u2026${rest.slice(-6)}`;
}

export const digest = (value: string): string => short(value, 15, 5);

/** One and several: count(1, 'call') is "1 call", count(3, 'call') is "3 calls". */
export function count(number: number, one: string, several = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : several}`;
}

export function list(names: string[], word = 'and'): string {
  if (names.length < 2) return names[0] ?? '';
  return `${names.slice(0, -1).join(', ')} ${word} ${names.at(-1)}`;
}

export function bytes(size: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let value = size;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** The command that settles a call by its callback URL. */
export const curl = (url: string): string => `curl -d '{"result":{"output":"…"}}' \\\n  ${url}`;
