import { describe, expect, it } from 'vitest';
import { namesIn, Once, sizeError } from '../src/lib/limits';
import { edges } from '../src/lib/mail';
import { bodyOf, EMPTY, errorsOf, outcomeOf } from '../src/lib/write-mail';

const good = { ...EMPTY, to: 'buyer', text: 'Hello' };

describe('form of a mail', () => {
  it('errors_name_what_is_missing_or_too_large', () => {
    expect(errorsOf(EMPTY)).toEqual({
      to: 'must name a session',
      text: 'must not be empty',
      from: '',
    });
    expect(errorsOf(good)).toEqual({ to: '', text: '', from: '' });
    expect(errorsOf({ ...good, to: '', all: true }).to).toBe('');
    expect(errorsOf({ ...good, to: `a, ${'x'.repeat(130)}` }).to).toContain('129 characters');
    const many = Array.from({ length: 1001 }, (_, index) => `a${index}`).join(',');
    expect(errorsOf({ ...good, to: many }).to).toContain('at most 1,000');
    expect(errorsOf({ ...good, from: 'one two' }).from).toBe('must be one session');
  });
  it('text_is_measured_in_bytes', () => {
    expect(errorsOf({ ...good, text: 'x'.repeat(65_536) }).text).toBe('');
    expect(errorsOf({ ...good, text: 'ü'.repeat(32_769) }).text).toBe('must be at most 64 KiB');
    expect(sizeError('ü'.repeat(512), 1)).toBe('');
  });
  it('body_has_only_what_was_chosen', () => {
    expect(bodyOf(good)).toEqual({ to: 'buyer', text: 'Hello' });
    const all = { ...good, all: true, wakes: 'none', ttl: '3600000', from: ' desk ' } as const;
    expect(bodyOf(all)).toEqual({ text: 'Hello', resume: false, ttl: 3_600_000, from: 'desk' });
    expect(bodyOf({ ...good, to: 'a, b a', wakes: 'waiting' })).toEqual({
      to: ['a', 'b'],
      text: 'Hello',
      resume: true,
    });
  });
  it('outcome_names_who_did_not_get_it', () => {
    const one = (status: string) => ({ to: status, status, reason: null });
    expect(outcomeOf([one('delivered')])).toEqual({ said: 'Sent to 1 session.', failed: [] });
    const some = outcomeOf([one('queued'), one('failed'), one('quarantined')]);
    expect(some.said).toBe('Sent to 2 of 3 sessions. 1 quarantined.');
    expect(some.failed.map((each) => each.to)).toEqual(['failed']);
  });
});

describe('requests', () => {
  it('names_are_split_and_unique', () => {
    expect(namesIn(' a,b  a,\nc ')).toEqual(['a', 'b', 'c']);
    expect(namesIn(' , ')).toEqual([]);
  });
  it('same_request_has_the_same_key', () => {
    const once = new Once();
    const key = once.for({ text: 'a' });
    expect(once.for({ text: 'a' })).toBe(key);
    expect(once.for({ text: 'b' })).not.toBe(key);
  });
});

describe('graph of mail', () => {
  it('failed_mail_is_no_edge', () => {
    const mail = { from: 'a', to: 'b', quarantined: false, failed: 0 };
    const all = [mail, { ...mail, failed: 1 }] as unknown as Parameters<typeof edges>[0];
    expect(edges(all).map((one) => one.count)).toEqual([1]);
  });
});
