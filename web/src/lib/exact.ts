// JSON whose integers keep all digits, as the digests of the server do: an integer that no number holds is a bigint.
// JSON.parse would show account 12345678901234567891 as 12345678901234567000, and JSON.stringify would send that.
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** No text without one of these has such an integer. */
const CANDIDATE = /\d{16}|\d[eE]/;

/** Stands for an integer in a string while JSON is read or written. Nobody else knows it, so no text imitates one. */
const mark = `${[...crypto.getRandomValues(new Uint32Array(4))].join('-')}:`;
const MARKED = new RegExp(`"${mark}(-?\\d+)"`, 'g');

/** The digits without zeros at their ends, and the power of ten behind them. */
function decimal(text: string): { digits: string; power: number } {
  const [, whole = '', fraction = '', power = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const all = (whole + fraction).replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return { digits: '0', power: 0 };
  return { digits, power: Number(power) - fraction.length + all.length - digits.length };
}

/** The bigint of a JSON number; null: a number holds it, or it has a fraction. */
function integer(text: string): bigint | null {
  const [given, kept] = [decimal(text), decimal(String(Number(text)))];
  if (given.power < 0 || (given.digits === kept.digits && given.power === kept.power)) return null;
  const value = BigInt(given.digits) * 10n ** BigInt(given.power);
  return text.startsWith('-') ? -value : value;
}

/** The place behind the string that begins at `at`. */
function afterString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

/** The text with a marked string for each integer that no number holds. */
function marked(text: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length;) {
    if (text[at] === '"') {
      at = afterString(text, at);
      continue;
    }
    NUMBER.lastIndex = at;
    const token = NUMBER.exec(text)?.[0];
    const value = token === undefined ? null : integer(token);
    if (value !== null) {
      pieces.push(text.slice(from, at), `"${mark}${value}"`);
      from = at + (token ?? '').length;
    }
    at += token?.length ?? 1;
  }
  return from === 0 ? text : pieces.join('') + text.slice(from);
}

/** As JSON.parse, but integers are exact. */
export function parse(text: string): unknown {
  const given = CANDIDATE.test(text) ? marked(text) : text;
  if (given === text) return JSON.parse(text);
  return JSON.parse(given, (_, value: unknown) =>
    typeof value === 'string' && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}

/** As JSON.stringify, also of what `parse` has read. */
export function stringify(value: unknown, space?: number): string {
  const text = JSON.stringify(
    value,
    (_, one: unknown) => (typeof one === 'bigint' ? mark + String(one) : one),
    space,
  );
  return text === undefined ? text : text.replace(MARKED, '$1');
}
