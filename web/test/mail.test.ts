import { describe, expect, it } from 'vitest';
import { busiest, edges, grouped, threads } from '../src/lib/mail';
import type { Letter } from '../src/parts/MailItem.svelte';

const letter = (id: string, at: number, more: Partial<Letter> = {}): Letter => ({
  id,
  conversation: id,
  replyTo: null,
  from: 'a',
  to: 'b',
  agent: true,
  text: id,
  hops: 1,
  at,
  read: null,
  delivered: at,
  quarantined: false,
  expired: false,
  reason: null,
  failed: 0,
  ...more,
});
const shape = (all: Letter[]): string[] =>
  threads(all).map((thread) =>
    thread.letters.map((one) => '-'.repeat(one.depth) + one.letter.id).join(' '),
  );

describe('threads', () => {
  it('answers_stand_below_what_they_answer', () => {
    const [first, more] = ['m1', { conversation: 'm1' }];
    expect(
      shape([
        letter('m3', 3, { ...more, replyTo: 'm1' }),
        letter(first, 1),
        letter('m4', 4, { ...more, replyTo: 'm2' }),
        letter('m2', 2, { ...more, replyTo: 'm1' }),
      ]),
    ).toEqual(['m1 -m2 --m4 -m3']);
  });

  it('conversation_with_the_newest_mail_is_first', () => {
    const all = [letter('m1', 1), letter('m2', 2), letter('m3', 3, { conversation: 'm1' })];
    expect(shape(all)).toEqual(['m1 m3', 'm2']);
  });

  it('mail_of_two_lists_is_shown_once_as_the_first_has_it', () => {
    const [thread] = threads([letter('m1', 1, { delivered: 5 }), letter('m1', 1)]);
    expect(thread?.letters.map((one) => one.letter.delivered)).toEqual([5]);
  });

  it('answer_in_a_conversation_of_its_own_is_with_what_it_answers', () => {
    expect(shape([letter('m1', 1), letter('m2', 2, { replyTo: 'm1' })])).toEqual(['m1 -m2']);
  });

  it('answer_to_a_mail_that_is_not_here_begins_on_the_left', () => {
    expect(shape([letter('m2', 2, { conversation: 'm1', replyTo: 'm1' })])).toEqual(['m2']);
  });

  it('mail_to_several_receivers_has_its_answers_once', () => {
    const all = [
      letter('m1', 1),
      letter('m1', 1, { to: 'c' }),
      letter('m2', 2, { conversation: 'm1', replyTo: 'm1' }),
    ];
    expect(shape(all)).toEqual(['m1 -m2 m1']);
  });

  it('answers_in_a_circle_are_not_followed_for_ever', () => {
    const all = [
      letter('m1', 1, { conversation: 'x', replyTo: 'm2' }),
      letter('m2', 2, { conversation: 'x', replyTo: 'm1' }),
    ];
    expect(shape(all)).toEqual(['m1 m2']);
  });
});

describe('graph', () => {
  const many = Array.from({ length: 12 }, (_, index) =>
    letter(`m${index}`, index, { from: 'hub', to: `s${index}` }),
  );

  it('of_many_names_the_busiest_have_a_place', () => {
    const lines = edges([...many, letter('x', 20, { from: 's11', to: 'hub', quarantined: true })]);
    const { names, rest } = busiest(lines, 9);
    expect(names).toHaveLength(8);
    expect(names.slice(0, 2)).toEqual(['hub', 's11']);
    expect(rest).toBe(5);
    const drawn = grouped(lines, names, '5 others');
    expect(drawn.find((one) => one.to === '5 others')).toMatchObject({ from: 'hub', count: 5 });
    expect(drawn.reduce((sum, one) => sum + one.count, 0)).toBe(13);
  });

  it('of_few_names_all_have_a_place', () => {
    expect(busiest(edges(many), 13)).toMatchObject({ rest: 0 });
    expect(busiest(edges(many), 13).names).toHaveLength(13);
  });
});
