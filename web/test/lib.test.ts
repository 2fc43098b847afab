import { describe, expect, it } from 'vitest';
import { attach } from '../src/lib/files';
import { icons, pathOf, type IconName } from '../src/lib/icons';
import { markdown, safe } from '../src/lib/markdown';
import { parse, percentile } from '../src/lib/overview.svelte';
import { progressOf } from '../src/lib/progress';
import { changes, fields, read } from '../src/lib/schema';
import { bytes, digest, oneLine, rows, short, show, visible } from '../src/lib/text';
import { ago, duration, nearness, span } from '../src/lib/time';
import { emptyDraft, raiseText } from '../src/lib/decide.svelte';
import { callWord, headline, isMine, may, question, who, type Call } from '../src/lib/words';
import recorded from './recorded/pending.json';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const alice = { name: 'alice', role: 'answer' };
const call = (more: Partial<Call> = {}): Call =>
  ({
    ...(recorded.items[0] as unknown as Call),
    reason: 'approval',
    status: 'waiting',
    ...more,
  }) as Call;
const askedOf = (from: string[]): Partial<Call> => ({
  answer: { from, escalateTo: [], need: 1, votes: [] },
});

describe('times', () => {
  it('duration_of_two_units_leaves_the_rest_out', () => {
    expect(duration(412)).toBe('412 ms');
    expect(duration(48 * MINUTE + 9000)).toBe('48 min 9 s');
    expect(duration(51 * HOUR)).toBe('2 d 3 h');
    expect(span(48 * MINUTE + 9000)).toBe('48 min');
    expect([span(-5), span(412)]).toEqual(['0 s', '0 s']);
  });
  it('ago_after_seven_days_is_a_date', () => {
    const now = Date.UTC(2026, 10, 23, 12);
    expect(ago(now - 3 * HOUR, now)).toBe('3 h');
    expect(ago(now - 10 * 24 * HOUR, now)).toBe('13 Nov');
  });
  it('nearness_below_an_hour_and_five_minutes_changes', () => {
    expect([2 * HOUR, 50 * MINUTE, 4 * MINUTE].map((left) => nearness(left, 0))).toEqual([
      'far',
      'near',
      'late',
    ]);
  });
});

describe('text', () => {
  it('visible_of_bidi_and_control_characters_spells_them_out', () => {
    expect(visible('pay\u202e100\u0007')).toBe('pay⟨U+202E⟩100⟨U+0007⟩');
    expect(visible('zero\u200bwidth\u{e0041}')).toBe('zero⟨U+200B⟩width⟨U+E0041⟩');
    expect(visible('plain\ntext\täöü €')).toBe('plain\ntext\täöü €');
  });
  it('arguments_as_rows_show_every_value', () => {
    expect(rows({ a: 1, b: ['x', 'y'] }).map(([name, value]) => [name, show(value)])).toEqual([
      ['a', '1'],
      ['b', 'x, y'],
    ]);
    expect(rows(null)).toEqual([]);
    expect(show({ deep: true })).toContain('"deep": true');
    expect(oneLine({ service: 'shop', version: '2.41.0' })).toBe('shop · 2.41.0');
  });
  it('short_cuts_in_the_middle', () => {
    expect(short('abcdefghijklmnopqrstuvwxyz')).toBe('abcdefgh…vwxyz');
    expect(digest(`sha256:${'a'.repeat(64)}`)).toBe('sha256:aaaaaaaa…aaaaa');
    expect(bytes(5_200_000)).toBe('5.2 MB');
  });
});

describe('icons', () => {
  it('each_icon_is_one_path', () => {
    for (const name of Object.keys(icons) as IconName[])
      expect(pathOf(name), name).toMatch(/^M[-\d., a-zA-Z]+$/i);
    expect(pathOf('circle-check')).toMatch(/M0 0m9 12/);
    // A circle is closed, and a rectangle has its corners.
    expect(pathOf('circle')).toBe('M2 12a10 10 0 1 0 20 0a10 10 0 1 0 -20 0');
  });
});

describe('markdown', () => {
  it('html_stays_text', () => {
    const nodes = markdown('<img src=x onerror=alert(1)> **bold**');
    expect(JSON.stringify(nodes)).toContain('<img src=x onerror=alert(1)>');
    expect(nodes).toHaveLength(1);
  });
  it('script_address_is_not_safe', () => {
    expect(safe('javascript:alert(1)')).toBe(false);
    expect(safe(' javascript:alert(1)')).toBe(false);
    expect(safe('data:text/html,x')).toBe(false);
    expect(safe('https://example.org')).toBe(true);
  });
  it('list_inside_a_list_keeps_its_kind_and_the_numbers_around_it', () => {
    const item = (text: string) => [{ kind: 'text', text }];
    expect(markdown('1. one\n2. two\n   - inner\n     * deep\n3. three')).toEqual([
      { kind: 'list', ordered: true, items: [item('one'), item('two')] },
      { kind: 'list', ordered: false, items: [item('inner')], level: 1 },
      { kind: 'list', ordered: false, items: [item('deep')], level: 2 },
      { kind: 'list', ordered: true, items: [item('three')], start: 3 },
    ]);
  });
  it('lists_code_and_headings_become_nodes', () => {
    const kinds = markdown('# Title\n\n- one\n- two\n\n```\ncode\n```\ntext').map(
      (node) => node.kind,
    );
    expect(kinds).toEqual(['heading', 'list', 'code', 'p']);
  });
  it('table_becomes_a_node_and_a_line_with_a_bar_does_not', () => {
    const cell = (text: string) => [{ kind: 'text', text }];
    const row = String.raw`| 1 \| 2 | **3** |`;
    expect(markdown(`above\n\n| a | b |\n|---|:-:|\n${row}\nbelow`)).toEqual([
      { kind: 'p', inside: cell('above') },
      {
        kind: 'table',
        head: [cell('a'), cell('b')],
        rows: [[cell('1 | 2'), [{ kind: 'strong', inside: cell('3') }]]],
      },
      { kind: 'p', inside: cell('below') },
    ]);
    expect(markdown('a | b\nc | d').map((one) => one.kind)).toEqual(['p']);
  });
  it('nothing_that_was_written_is_left_out', () => {
    const hidden = 'a\n\n<!-- approve this -->\n\n[x]: http://evil.example "see"\n\n&lt;b';
    const shown = JSON.stringify(markdown(hidden));
    for (const part of ['<!-- approve this -->', '[x]: ', 'http://evil.example', 'see', '&lt;b'])
      expect(shown).toContain(part);
  });
  it.each([
    ['brackets', '['.repeat(5000) + '](x)'],
    ['stars', '*'.repeat(5000)],
    ['stars between letters', '*a'.repeat(5000)],
    ['quotes', '>'.repeat(5000) + 'x'],
    ['lists', Array.from({ length: 500 }, (_, at) => `${'  '.repeat(at)}- x`).join('\n')],
    ['ticks', '`'.repeat(5000) + 'a'],
    ['underlines', '_a '.repeat(5000)],
    ['tags', '<a '.repeat(5000)],
    ['table', '|'.repeat(2000) + '\n' + '|-'.repeat(1000)],
    ['long', 'word '.repeat(50_000)],
  ])('hostile_text_ends_soon: %s', (_, hostile) => {
    const begun = performance.now();
    expect(JSON.stringify(markdown(hostile)).length).toBeGreaterThan(0);
    expect(performance.now() - begun).toBeLessThan(1500);
  });
});

describe('schema', () => {
  const schema = {
    type: 'object',
    required: ['replicas'],
    properties: {
      replicas: { type: 'integer', maximum: 50, minimum: 1 },
      zone: { enum: ['a', 'b'] },
    },
  };
  it('field_over_its_maximum_says_the_form', () => {
    const [replicas] = fields(schema, { replicas: 12 });
    expect(read(replicas!, '400').error).toBe('must be at most 50');
    expect(read(replicas!, '1.5').error).toBe('must be a whole number');
    expect(read(replicas!, '').error).toBe('must not be empty');
    expect(read(replicas!, '6')).toEqual({ value: 6, error: null });
  });
  it('unknown_shapes_get_a_json_field', () => {
    const found = fields(null, { list: [1], text: 'x', on: true });
    expect(found.map((field) => field.kind)).toEqual(['json', 'text', 'boolean']);
    expect(read(found[0]!, '[1,').error).toBe('is not JSON');
  });
  it('changes_name_only_what_differs', () => {
    expect(changes({ a: 1, b: [1] }, { a: 2, b: [1] })).toEqual([
      { name: 'a', before: 1, after: 2 },
    ]);
  });
});

describe('words', () => {
  it('call_asked_of_me_waits_for_me', () => {
    expect(isMine(call(askedOf(['alice'])), alice)).toBe(true);
    expect(isMine(call(askedOf(['role:answer'])), alice)).toBe(true);
    expect(isMine(call(askedOf(['carol'])), alice)).toBe(false);
    expect(isMine(call(askedOf(['role:answer'])), { name: 'alice', role: 'read' })).toBe(false);
  });
  it('states_have_the_words_of_the_design', () => {
    const text = (more: Partial<Call>): string => callWord(call(more), alice, 0).text;
    expect(text(askedOf(['carol', 'bob']))).toBe('Waits for carol or bob');
    expect(text({ ...askedOf(['alice']) })).toBe('Waits for you');
    expect(text({ reason: 'tool_result' })).toBe('Waits for a job');
    expect(text({ inDoubt: true })).toBe('In doubt');
    expect(text({ status: 'processing' })).toBe('Claimed');
    expect(text({ status: 'completed', decision: { approved: false } as never })).toBe('Denied');
    expect(text({ status: 'expired' })).toBe('Expired');
  });
  it('budget_is_decided_by_its_amount', () => {
    const raise = { type: 'integer', title: 'Raise by (steps)', default: 5 };
    const budget = call({
      ...askedOf(['alice']),
      reason: 'budget',
      tool: 'budget',
      message: 'The turn has used 5 steps; its budget is 5 steps. Raise it, or end the turn?',
      form: { type: 'object', properties: { raise } },
    });
    expect(callWord(budget, alice, 0).text).toBe('Waits for you');
    expect(question(budget)).toBe(budget.message);
    expect(raiseText(budget, { ...emptyDraft(), answer: '' })).toBe('5');
    expect(raiseText(budget, { ...emptyDraft(), answer: '7' })).toBe('7');
    const ended = { ...budget, status: 'completed', decision: { approved: false } } as never;
    expect(callWord(ended, alice, 0).text).toBe('Turn ended');
  });
  it('question_in_markdown_has_a_heading_and_a_rest', () => {
    expect(headline('# Where **now**?\n\n- a\n- b')).toEqual({
      title: 'Where now?',
      rest: '- a\n- b',
    });
    expect(headline('Where?\n- a')).toEqual({ title: 'Where?', rest: '- a' });
    expect(headline('- a\n- b')).toEqual({ title: '', rest: '- a\n- b' });
    expect(headline('plain')).toEqual({ title: 'plain', rest: '' });
    expect(headline('a\u202eb').title).toBe('a⟨U+202E⟩b');
    const open = call({ message: '## Which?\n\ntext', reason: 'user_input' });
    expect(question(open)).toBe('Which?');
    const rule = call({ message: '# not Markdown', reason: 'approval' });
    expect(question(rule)).toBe('# not Markdown');
  });
  it('files_over_a_limit_are_not_attached', async () => {
    const refused: string[] = [];
    const file = (name: string, size: number) => ({
      name,
      size,
      type: 'text/plain',
      arrayBuffer: async () => new ArrayBuffer(Math.min(size, 3)),
    });
    const given = [file('a', 3), file('b', 0), file('c', 6 << 20), file('d', 3), file('e', 3)];
    const all = await attach(given as unknown as File[], [], 2, (why) => refused.push(why));
    expect(all.map((one) => one.name)).toEqual(['a', 'd']);
    expect(all[0]?.data).toBe('AAAA');
    expect(refused).toHaveLength(3);
    expect(refused[2]).toBe('At most 2 files can be attached.');
  });
  it('question_without_a_message_names_the_tool', () => {
    expect(question(call({ message: null, tool: 'deploy' }))).toBe('Run deploy?');
    expect(question(call({ message: null, tool: 'build', reason: 'tool_result' }))).toBe(
      'build waits for its result',
    );
  });
  it('roles_contain_each_other_and_are_words', () => {
    expect(may('operate', 'answer')).toBe(true);
    expect(may('answer', 'operate')).toBe(false);
    expect(who('role:answer', 'alice')).toBe('people who may answer');
    expect(who('alice', 'alice')).toBe('you');
  });
});

describe('figures', () => {
  it('percentile_is_the_bound_of_its_bucket', () => {
    const samples = parse(
      'x_bucket{le="0.001"} 50\nx_bucket{le="0.01"} 99\nx_bucket{le="+Inf"} 100\nx_count 100\n',
    );
    expect(percentile(samples, 'x', 0.5)).toBe(0.001);
    expect(percentile(samples, 'x', 0.99)).toBe(0.01);
    expect(percentile({}, 'x', 0.5)).toBeNull();
  });
  it('progress_in_any_shape_is_a_share_and_words', () => {
    expect(progressOf({ percent: 62, message: 'layer 13' })).toEqual({
      share: 0.62,
      text: 'layer 13',
    });
    expect(progressOf({ done: 1, total: 4 }).share).toBe(0.25);
    expect(progressOf('half')).toEqual({ share: null, text: 'half' });
  });
});
