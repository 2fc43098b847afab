import type { Event } from 'dormouse-client';
import { describe, expect, it } from 'vitest';
import { conversation, Folder, type Night, type Tool } from '../src/lib/conversation.svelte';
import { Scale } from '../src/lib/scale';
import type { Wake } from '../src/lib/journal';
import { said, story } from '../src/lib/story';
import { shares, timeline, waitText } from '../src/lib/timeline';
import { ids, world } from '../dev/world.mjs';
import approve from './recorded/approve.json';
import crash from './recorded/crash.json';

const NOW = 1_795_400_000_000;
const recorded = (page: { items: unknown[] }): Event[] => page.items as Event[];
const ledger = (): Event[] => world(NOW).events.get(ids.ledger) as Event[];

describe('timeline', () => {
  it('recorded_approval_sleeps_once_and_names_who_woke_it', () => {
    const line = timeline(recorded(approve), NOW);
    expect(line.sleeps).toHaveLength(1);
    expect(line.sleeps[0]?.wake).toMatchObject({ name: 'first', verb: 'approved', icon: 'hand' });
    expect(line.sleeps[0]?.restarted).toBe(true);
    expect(line.crashes).toHaveLength(0);
    expect(line.rows[0]?.settled?.how).toBe('done');
    expect(line.live).toBe(false);
  });
  it('recorded_crash_cuts_the_attempt_and_the_second_one_finishes', () => {
    const line = timeline(recorded(crash), NOW);
    expect(line.crashes).toHaveLength(1);
    expect(line.rows[0]?.bars.map((bar) => [bar.attempt, bar.outcome])).toEqual([
      [1, 'cut'],
      [2, 'ok'],
    ]);
    expect(line.crashes[0]!.started).toBeGreaterThan(line.crashes[0]!.at);
  });
  it('known_starts_say_when_the_server_ended', () => {
    const plain = timeline(recorded(crash), NOW).crashes[0]!;
    const middle = Math.round((plain.at + plain.started) / 2);
    const epochs = recorded(crash).map((one) => (one.data as { epoch?: number }).epoch ?? 0);
    const last = Math.max(...epochs);
    const starts = [
      { epoch: last, startedAt: middle, aliveAt: null, clean: null },
      { epoch: last - 1, startedAt: 0, aliveAt: middle - 1, clean: true },
    ];
    expect(timeline(recorded(crash), NOW, starts).crashes).toEqual([
      { at: middle - 1, started: middle, clean: true },
    ]);
  });
  it('late_result_is_a_note_of_its_row', () => {
    const line = timeline(ledger(), NOW);
    expect(line.rows.map((row) => row.tool)).toEqual(['export', 'migrate']);
    expect(line.rows[1]?.notes).toMatchObject([{ conflict: false }]);
    expect(line.wakes.map((wake) => wake.icon)).toEqual(['user', 'hand', 'webhook']);
    expect(line.sleeps.map((sleep) => sleep.waits[0]?.kind)).toEqual(['person', 'job']);
  });
  it('shares_add_up_to_the_whole', () => {
    const { asleep, awake, all } = shares(timeline(ledger(), NOW));
    expect(asleep + awake).toBe(all);
    expect(asleep).toBeGreaterThan(awake);
  });
  it('half_of_a_journal_is_drawn_too', () => {
    const events = ledger();
    for (let length = 0; length <= events.length; length += 1) {
      const line = timeline(events.slice(0, length), NOW);
      const scale = new Scale(line, 100, 800, true);
      expect(Number.isFinite(scale.x(line.end))).toBe(true);
      timeline(events.slice(length), NOW);
    }
  });
  it('clock_that_steps_back_keeps_the_order', () => {
    const events = ledger().map((one, index) => ({
      ...one,
      at: one.at - (index === 5 ? 60_000 : 0),
    }));
    const bars = timeline(events, NOW).rows.flatMap((row) => row.bars);
    expect(bars.every((bar) => bar.end === null || bar.end >= bar.start)).toBe(true);
  });
});

describe('scale', () => {
  it('folded_sleep_is_in_bounds_and_places_never_step_back', () => {
    const line = timeline(ledger(), NOW);
    const scale = new Scale(line, 128, 876, true);
    for (const one of scale.segments.filter((segment) => segment.kind === 'asleep')) {
      expect(one.width).toBeGreaterThanOrEqual(96);
      expect(one.width).toBeLessThanOrEqual(164);
    }
    const places = ledger().map((one) => scale.x(one.at));
    expect(places.every((x, index) => index === 0 || x >= places[index - 1]! - 0.001)).toBe(true);
    expect(scale.width).toBeCloseTo(876);
  });
  it('to_scale_is_linear', () => {
    const line = timeline(ledger(), NOW);
    const scale = new Scale(line, 0, 1000, false);
    expect(scale.x((line.start + line.end) / 2)).toBeCloseTo(500, 0);
  });
});

describe('story', () => {
  it('tells_sleeps_crashes_and_wakes_in_order', () => {
    const titles = story(timeline(ledger(), NOW)).map((beat) => beat.title);
    expect(titles).toContain('Asleep for 3 d 2 h');
    expect(titles).toContain('bob prompts');
    expect(titles).toContain('alice approves, and it wakes');
    expect(titles).toContain('A webhook of ci arrives, and it wakes');
    expect(titles).toContain('Started again after 13 s');
    expect(titles.at(-1)).toBe('The same result again: no effect');
  });
  it('says_in_words_what_woke_the_session', () => {
    const wake = (icon: Wake['icon'], name: string, verb: string): Wake => ({
      at: 0,
      icon,
      name,
      verb,
    });
    const both = (one: Wake): string[] => [said(one), said(one, true)];
    expect(both(wake('clock-alert', 'deadline', 'passed'))).toEqual([
      'The deadline passes',
      'the deadline passed',
    ]);
    expect(said(wake('alarm-clock', 'timer', 'time is up'))).toBe('The time is up');
    expect(said(wake('mail', 'mail', 'mail'))).toBe('Mail arrives');
    expect(said(wake('mail', 'legal', 'mail'))).toBe('Mail of legal arrives');
    expect(said(wake('list-tree', 'task', 'completed'))).toBe('A task ends');
    expect(said(wake('user', 'prompt', 'prompt'))).toBe('A prompt arrives');
    expect(both(wake('hand', 'alice', 'denied'))).toEqual(['alice denies', 'alice denied']);
    expect(said(wake('plug-zap', '', 'result'))).toBe('somebody sends the result');
    // A name is taken as it is.
    expect(said(wake('hand', 'NAME $&', 'approved'))).toBe('NAME $& approves');
  });
  it('says_what_a_call_waits_for', () => {
    expect(waitText('approval')).toBe('waits for approval');
    expect(waitText('in doubt')).toBe('is in doubt: a person must say what happened');
  });
});

describe('conversation', () => {
  it('failure_that_ends_a_turn_is_one_message', () => {
    const error = { code: 'model_failed', message: 'The provider answered 400.' };
    const failures = (retryAt: number | null): boolean[] =>
      conversation(
        [
          { type: 'model_failed', data: { error, retryAt } },
          { type: 'turn_ended', data: { finishReason: 'error', error } },
        ].map((one, at) => ({ ...one, seq: at + 1, at, sessionID: 'ses_1' })) as unknown as Event[],
      ).messages.flatMap((one) =>
        one.blocks.flatMap((block) => (block.kind === 'failure' ? [block.last] : [])),
      );
    expect(failures(null)).toEqual([true]);
    expect(failures(5000)).toEqual([false, true]);
  });
  it('card_of_a_call_has_its_placeholder_progress_and_files', () => {
    const call = { callID: 'call_1', pendingID: 'pnd_1' };
    const events = [
      { type: 'model_replied', data: { calls: [{ callID: 'call_1', tool: 'render', input: {} }] } },
      { type: 'call_paused', data: { ...call, reason: 'tool_result', placeholder: { n: 1 } } },
      { type: 'progressed', data: { ...call, payload: { percent: 40 } } },
      { type: 'artifact_emitted', data: { callID: 'call_1', artifactID: 'art_1', name: 'a.png' } },
    ].map((one, index) => ({ ...one, seq: index + 1, at: 1000 + index, sessionID: 'ses_1' }));
    const tool = conversation(events as unknown as Event[]).tools.get('call_1');
    expect(tool).toMatchObject({
      status: 'waiting',
      placeholder: { n: 1 },
      progress: [{ payload: { percent: 40 } }],
      files: [{ artifactID: 'art_1', name: 'a.png', mime: '', bytes: 0 }],
    });
  });

  it('call_that_was_approved_stands_after_its_night', () => {
    const view = conversation(recorded(approve));
    const blocks = view.messages.find((one) => one.role === 'agent')!.blocks;
    const kinds = blocks.map((block) => block.kind);
    expect(kinds.indexOf('night')).toBeLessThan(kinds.indexOf('tool'));
    const night = blocks.find((block) => block.kind === 'night') as Night;
    expect(night.what).toBe('for an approval');
    const tool = blocks.find((block) => block.kind === 'tool') as Tool;
    expect(tool).toMatchObject({ status: 'done', decided: { by: 'first', approved: true } });
  });
  it('edited_arguments_and_their_reviewer_are_kept', () => {
    const view = conversation(world(NOW).events.get(ids.ship) as Event[]);
    expect(view.tools.get('call_2')).toMatchObject({
      edited: { replicas: 6 },
      decided: { by: 'alice' },
    });
  });
  it('draft_ends_with_the_reply_of_its_step', () => {
    const folder = new Folder();
    const [first, ...rest] = recorded(approve);
    folder.add(first!);
    const delta = (text: string, attempt: number): Event =>
      ({
        ...first!,
        type: 'delta',
        data: { messageID: 'm', step: 1, attempt, kind: 'text', text },
      }) as unknown as Event;
    folder.add(delta('Hel', 1));
    folder.add(delta('lo', 1));
    expect(folder.view.draft?.text).toBe('Hello');
    folder.add(delta('New', 2));
    expect(folder.view.draft?.text).toBe('New');
    for (const event of rest) folder.add(event);
    expect(folder.view.draft).toBeNull();
  });
  it('prompt_of_the_open_turn_is_not_queued', () => {
    const folder = new Folder();
    const event = (seq: number, type: string, data: object): void =>
      folder.add({ seq, type, at: seq, turnID: 'turn_1', data } as unknown as Event);
    const prompt = (seq: number, turn: number, when: string): void =>
      event(seq, 'input_received', { messageID: `m${seq}`, turn, when, parts: [] });
    prompt(1, 1, 'queue');
    event(2, 'turn_started', {});
    prompt(3, 1, 'steer');
    prompt(4, 1, 'interrupt');
    prompt(5, 2, 'queue');
    prompt(6, 2, 'steer'); // an external agent takes it in its next turn
    expect(folder.view.messages.map((one) => one.queued)).toEqual([
      false,
      false,
      false,
      true,
      true,
    ]);
  });
  it('draft_pieces_with_an_offset_show_once', () => {
    const folder = new Folder();
    const delta = (text: string, offset: number): Event =>
      ({
        type: 'delta',
        data: { messageID: 'm', step: 1, attempt: 1, kind: 'text', text, offset },
      }) as unknown as Event;
    for (const [text, offset] of [
      ['Hello ', 0],
      ['world', 6],
      ['world', 6],
    ] as const)
      folder.add(delta(text, offset));
    expect(folder.view.draft?.text).toBe('Hello world');
  });
});
