import { describe, expect, it } from 'vitest';
import { parse, stringify } from '../src/lib/exact';
import { changes, fields, read, toText } from '../src/lib/schema';
import { exactly, rows } from '../src/lib/text';

const ACCOUNT = '12345678901234567891';

describe('integers', () => {
  it('beyond_2_53_keep_all_digits_when_read_and_written', () => {
    const text = `{"account":${ACCOUNT},"low":-9007199254740993,"list":[1,9007199254740993]}`;
    expect(stringify(parse(text))).toBe(text);
    expect(parse(text)).toEqual({
      account: 12345678901234567891n,
      low: -9007199254740993n,
      list: [1, 9007199254740993n],
    });
  });
  it('with_an_exponent_keep_all_digits', () => {
    expect(parse('[123456789012345678.91e2, 1e21, 1e3, -0]')).toEqual([
      12345678901234567891n,
      1e21,
      1000,
      -0,
    ]);
  });
  it('that_a_number_holds_and_fractions_stay_numbers', () => {
    const text = '{"at":1700000000000,"cost":0.000123,"amount":1240.10,"big":9007199254740992}';
    expect(parse(text)).toEqual(JSON.parse(text));
    expect(parse('1e-7')).toBe(1e-7);
  });
  it('in_texts_and_names_are_left_alone', () => {
    const value = { [`n${ACCOUNT}`]: `x "${ACCOUNT}" \\`, [ACCOUNT]: `\\"${ACCOUNT}`, n: 1 };
    expect(parse(JSON.stringify(value))).toEqual(value);
    expect(parse(`{"a":"\\\\","b":${ACCOUNT}}`)).toEqual({ a: '\\', b: BigInt(ACCOUNT) });
  });
  it('of_broken_json_are_refused', () => {
    for (const text of [`{"a":${ACCOUNT}`, `${ACCOUNT}x`, `0${ACCOUNT}`, `-`, `"${ACCOUNT}`])
      expect(() => parse(text), text).toThrow();
  });
});

describe('arguments', () => {
  const input = parse(`{"account":${ACCOUNT},"amount":5}`);
  it('show_and_edit_integers_with_all_digits', () => {
    const [account, amount] = fields({ properties: { account: { type: 'integer' } } }, input);
    expect(rows(input).map(([, value]) => exactly(value))).toEqual([ACCOUNT, '5']);
    expect(toText(account!, (input as { account: bigint }).account)).toBe(ACCOUNT);
    expect(read(account!, '12345678901234567890').value).toBe(12345678901234567890n);
    expect(read({ ...account!, schema: { type: 'integer', maximum: 10 } }, ACCOUNT).error).toBe(
      'must be at most 10',
    );
    const edited = { ...(input as object), amount: read(amount!, '6').value };
    expect(changes(input, edited)).toEqual([{ name: 'amount', before: 5, after: 6 }]);
    expect(stringify(edited)).toBe(`{"account":${ACCOUNT},"amount":6}`);
  });
  it('that_differ_look_different', () => {
    const values = [
      '5', 5, 'true', true, 'null', null, '', ' ', 'a', 'a ', ['a'], '["a"]', 'a, b', ['a', 'b'],
      ['a, b'], [], '[]', {}, '{}', [1, '1'], ['1', 1], '"a"', [['a', 'b']], '{\n  "a": 1\n}', { a: 1 },
    ]; // prettier-ignore
    const shown = values.map(exactly);
    expect(new Set(shown).size, shown.join(' | ')).toBe(values.length);
    expect(exactly('deploy shop, twice')).toBe('deploy shop, twice');
    expect(exactly(['a', 'b'])).toBe('["a", "b"]');
  });
});
