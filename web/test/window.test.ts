import { describe, expect, it } from 'vitest';
import type { Message } from '../src/lib/conversation.svelte';
import { around, earlier, later, MOST, newest, place, shifted, STEP } from '../src/lib/window';

const message = (id: string, seq: number, role: Message['role'] = 'agent'): Message => ({
  id,
  role,
  name: '',
  at: 0,
  seq,
  queued: false,
  blocks: [],
});

describe('window', () => {
  it('short_conversation_is_drawn_whole', () => {
    expect(newest(5)).toEqual({ from: 0, to: null });
    expect(earlier(newest(5), 5)).toEqual({ from: 0, to: null });
  });
  it('any_walk_draws_a_bounded_part', () => {
    const length = 10_000;
    let window = newest(length);
    expect(window.from).toBe(length - STEP);
    for (let i = 0; i < 200; ++i) {
      const before = window;
      window = i % 7 === 6 ? later(window, length) : earlier(window, length);
      const end = window.to ?? length;
      expect(end - window.from).toBeLessThanOrEqual(MOST);
      expect(end).toBeGreaterThan(window.from);
      // Nothing between two windows is passed over.
      expect(window.from).toBeLessThanOrEqual(before.to ?? length);
      expect(end).toBeGreaterThanOrEqual(before.from);
    }
    expect(window.from).toBe(0);
    while (window.to !== null) window = later(window, length);
    expect(length - window.from).toBe(MOST);
  });
  it('linked_message_is_inside', () => {
    for (const index of [0, 59, 60, 5000, 9999]) {
      const { from, to } = around(index, 10_000);
      expect(index).toBeGreaterThanOrEqual(from);
      expect(index).toBeLessThan(to ?? 10_000);
    }
  });
  it('messages_added_in_front_move_the_window', () => {
    expect(shifted({ from: 0, to: 120 }, 40)).toEqual({ from: 40, to: 160 });
    expect(shifted({ from: 3, to: null }, 40)).toEqual({ from: 43, to: null });
  });
});

describe('place', () => {
  const messages = [
    message('msg_1', 2, 'user'),
    message('agent-5', 5),
    message('msg_2', 20, 'user'),
    message('agent-23', 23),
  ];
  it('message_is_found_by_its_id', () => {
    expect(place(messages, 'msg_2')).toBe(2);
    expect(place(messages, 'msg_3')).toBe(-1);
    expect(place(messages, '')).toBe(-1);
  });
  it('agents_message_is_the_one_of_the_linked_event', () => {
    expect(place(messages, 'agent-5')).toBe(1);
    expect(place(messages, 'agent-9')).toBe(1);
    expect(place(messages, 'agent-30')).toBe(3);
    expect(place(messages, 'agent-1')).toBe(-1);
  });
});
