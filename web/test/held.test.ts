import { expect, test } from 'vitest';
import { Held } from '../src/lib/held.svelte';

test('rows that come while somebody reads wait until they are asked for', () => {
  const held = new Held();
  expect(held.has('a')).toBe(true);
  held.begin('pointer', ['a']);
  expect(held.has('b')).toBe(false);
  expect(held.fresh(['b', 'a', 'c'])).toBe(2);
  held.show(['b', 'a', 'c']);
  expect(held.fresh(['b', 'a', 'c'])).toBe(0);
  expect(held.fresh(['d', 'b', 'a', 'c'])).toBe(1);
});

test('rows wait until the last reason to wait has gone', () => {
  const held = new Held();
  held.begin('pointer', ['a']);
  held.begin('focus', ['a', 'b']);
  expect(held.has('b')).toBe(false);
  held.end('pointer');
  expect(held.has('b')).toBe(false);
  held.end('focus');
  expect(held.has('b')).toBe(true);
  expect(held.fresh(['a', 'b'])).toBe(0);
});
