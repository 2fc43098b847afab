// A timeline as text, as `dormouse timeline` draws it (src/cli/render/timeline_text.cc): the tests of both compare with
// the same files. Each moment at which something begins or ends has a column; the space between two grows with the
// logarithm of the time between them, and so that the words of a lane fit. Lanes that do not fit continue in the next
// band.
import { costText } from './money';
import { count } from './text';
import type { Bar, Row, Timeline } from './timeline';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LABEL_MIN = 10;
const LABEL_MAX = 18;
const COLUMNS_MIN = 40;
const LEGEND = [
  '█ model',
  '▒ tool',
  '┄ waits',
  '☾ asleep',
  '▶ woken by',
  '✗ killed',
  '↺ started',
  '◇ no effect',
];
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const STEPS = [...'▁▂▃▄▅▆▇█'];

interface Words {
  moment: number;
  text: string;
}
interface Band {
  from: number;
  to: number;
  first: number;
  width: number;
}

const length = (text: string): number => [...text].length;

function shortened(text: string, columns: number): string {
  const signs = [...text];
  return signs.length <= columns ? text : `${signs.slice(0, columns - 1).join('')}…`;
}

/** Columns between two moments. */
function gap(ms: number): number {
  const limits = [SECOND, 10 * SECOND, MINUTE, 10 * MINUTE, HOUR, DAY];
  const step = limits.findIndex((limit) => ms < limit);
  return step === -1 ? 8 : step + 1;
}

/** "48 min", "5 h 10 min", "3 d 4 h". */
export function lasted(ms: number): string {
  const both = (big: number, unit: string, small: number, smaller: string): string =>
    small === 0 ? `${big} ${unit}` : `${big} ${unit} ${small} ${smaller}`;
  const floor = Math.floor;
  if (ms < SECOND) return `${ms} ms`;
  if (ms < MINUTE) return `${floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${floor(ms / MINUTE)} min`;
  if (ms < DAY) return both(floor(ms / HOUR), 'h', floor(ms / MINUTE) % 60, 'min');
  return both(floor(ms / DAY), 'd', floor(ms / HOUR) % 24, 'h');
}

const two = (value: number): string => String(value).padStart(2, '0');

function clock(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':');
}

function day(at: number): string {
  const date = new Date(at);
  return `${date.getDate()} ${MONTHS[date.getMonth()]}`;
}

class Line {
  private readonly cells: string[];
  constructor(width: number) {
    this.cells = Array<string>(width).fill(' ');
  }
  fill(from: number, to: number, cell: string): void {
    this.cells.fill(cell, from, Math.min(to, this.cells.length));
  }
  put(at: number, text: string): void {
    for (const [index, sign] of [...text].entries())
      if (at + index < this.cells.length) this.cells[at + index] = sign;
  }
  text(): string {
    return this.cells.join('').trimEnd();
  }
}

class Drawing {
  private readonly label: number;
  private readonly width: number;
  private readonly moments: number[];
  private readonly columns: number[] = [];
  private readonly woken: Words[] = [];
  private readonly sleeps: Words[] = [];
  private readonly server: Words[] = [];
  private readonly calls: Words[][];
  private total = 0;

  constructor(
    private readonly line: Timeline,
    columns: number,
  ) {
    const longest = Math.max(LABEL_MIN, ...line.rows.map((row) => length(row.tool) + 2));
    this.label = Math.min(longest, LABEL_MAX);
    this.width = columns - this.label;
    this.moments = this.times();
    this.calls = line.rows.map(() => []);
    this.collect();
    this.place();
  }

  bands(): string {
    let out = '';
    for (let from = 0; ;) {
      const to = this.bandEnd(from);
      const first = this.columns[from] ?? 0;
      const end = to === this.moments.length ? this.total : (this.columns[to] ?? 0);
      const band = { from, to, first, width: Math.min(end - first, this.width) };
      out += `\n${this.band(band)}`;
      if (to === this.moments.length) return out;
      from = to;
    }
  }

  private times(): number[] {
    const { line } = this;
    const all = [line.start, line.end];
    const both = (items: { start: number; end: number | null }[]): void => {
      for (const item of items) {
        all.push(item.start);
        if (item.end !== null) all.push(item.end);
      }
    };
    both(line.turns);
    both(line.model);
    both(line.sleeps);
    for (const row of line.rows) {
      both(row.bars);
      both(row.waits);
      if (row.settled) all.push(row.settled.at);
      all.push(...row.notes.map((note) => note.at));
    }
    all.push(...line.wakes.map((wake) => wake.at));
    all.push(...line.crashes.flatMap((crash) => [crash.at, crash.started]));
    all.push(...line.use.map((use) => use.at));
    return [...new Set(all)].sort((a, b) => a - b);
  }

  private moment(at: number): number {
    const found = this.moments.findIndex((one) => one >= at);
    return found === -1 ? this.moments.length - 1 : found;
  }
  private column(at: number): number {
    return this.columns[this.moment(at)] ?? 0;
  }

  private add(lane: Words[], at: number, text: string): void {
    const moment = this.moment(at);
    const before = lane.at(-1)?.moment === moment ? `${lane.pop()?.text} ` : '';
    lane.push({ moment, text: shortened(before + text, this.width - 2) });
  }

  private collect(): void {
    const { line } = this;
    for (const wake of line.wakes)
      this.add(this.woken, wake.at, ['▶', wake.name, wake.verb].filter(Boolean).join(' '));
    for (const sleep of line.sleeps)
      this.add(this.sleeps, sleep.start, `☾ ${lasted((sleep.end ?? line.end) - sleep.start)}`);
    const server: [number, string][] = line.crashes.flatMap((crash): [number, string][] => [
      [crash.at, crash.clean ? '✗ stopped' : '✗ killed'],
      [crash.started, `↺ started after ${lasted(crash.started - crash.at)}`],
    ]);
    for (const sleep of line.sleeps)
      if (sleep.restarted) server.push([sleep.start, '↺ started, no effect']);
    for (const [at, text] of server.sort((a, b) => a[0] - b[0])) this.add(this.server, at, text);
    for (const [index, row] of line.rows.entries()) {
      const signs: Record<string, string> = { done: '✓', failed: '✗' };
      const found: [number, string][] = [];
      const { settled } = row;
      if (settled) found.push([settled.at, `${signs[settled.how] ?? '⊘'} ${settled.how}`]);
      for (const note of row.notes)
        found.push([note.at, note.conflict ? '✗ conflict' : '◇ no effect']);
      for (const [at, text] of found.sort((a, b) => a[0] - b[0]))
        this.add(this.calls[index] ?? [], at, text);
    }
  }

  /** Gives each moment its column: behind the one before, and behind the words of each lane. */
  private place(): void {
    const least = this.moments.map(() => 0);
    const after: [number, number][][] = this.moments.map(() => []);
    const behind = (words: Words, next: number): void => {
      if (next > words.moment) after[words.moment]?.push([next, length(words.text) + 1]);
    };
    for (const lane of [this.woken, this.server, ...this.calls])
      for (const [index, words] of lane.entries())
        behind(words, lane[index + 1]?.moment ?? words.moment);
    for (const [index, words] of this.sleeps.entries()) {
      const sleep = this.line.sleeps[index];
      if (sleep && this.moment(sleep.start) === words.moment)
        behind(words, this.moment(sleep.end ?? this.line.end));
    }
    for (const [index, at] of this.moments.entries()) {
      const before = (this.columns[index - 1] ?? 0) + gap(at - (this.moments[index - 1] ?? at));
      const here = index === 0 ? 0 : Math.max(least[index] ?? 0, before);
      this.columns.push(here);
      for (const [next, columns] of after[index] ?? [])
        least[next] = Math.max(least[next] ?? 0, here + columns);
    }
    this.total = (this.columns.at(-1) ?? 0) + 1;
    for (const words of this.lanes().flat())
      this.total = Math.max(this.total, (this.columns[words.moment] ?? 0) + length(words.text));
  }

  private lanes(): Words[][] {
    return [this.woken, this.sleeps, this.server, ...this.calls];
  }

  /** The moment at which the band that begins at `from` ends; the number of moments: the last band. */
  private bandEnd(from: number): number {
    const first = this.columns[from] ?? 0;
    if (this.total - first <= this.width) return this.moments.length;
    let ends = first + 1;
    let best = from + 1;
    for (let index = from; index < this.moments.length; index += 1) {
      const here = this.columns[index] ?? 0;
      if (index > from && (here - first > this.width || ends - first > this.width)) break;
      if (index > from) best = index;
      for (const lane of this.lanes()) {
        const words = lane.find((one) => one.moment === index);
        if (words) ends = Math.max(ends, here + length(words.text));
      }
    }
    return best;
  }

  private part(band: Band, start: number, end: number | null): [number, number] | null {
    const first = this.column(start);
    const last = Math.max(this.column(end ?? this.line.end), first + 1);
    const limit = band.first + band.width;
    if (last <= band.first || first >= limit) return null;
    return [Math.max(first, band.first) - band.first, Math.min(last, limit) - band.first];
  }

  private bar(out: Line, band: Band, one: Bar, cell: string): void {
    const where = this.part(band, one.start, one.end);
    if (!where) return;
    out.fill(...where, cell);
    const here = this.column(one.end ?? this.line.end) <= band.first + band.width;
    if (one.outcome !== 'ok' && here)
      out.fill(where[1] - 1, where[1], one.outcome === 'cut' ? '/' : '×');
  }

  private words(out: Line, band: Band, lane: Words[]): void {
    for (const one of lane)
      if (one.moment >= band.from && one.moment < band.to)
        out.put((this.columns[one.moment] ?? 0) - band.first, one.text);
  }

  private clock(band: Band): string {
    const out = new Line(this.width);
    let free = 0;
    for (let index = band.from; index < band.to; index += 1) {
      const at = (this.columns[index] ?? 0) - band.first;
      if ((index > band.from && at < free) || at + 8 > this.width) continue;
      out.put(at, clock(this.moments[index] ?? 0));
      free = at + 10;
    }
    return this.labelled(day(this.moments[band.from] ?? 0), out);
  }

  private turns(band: Band): Line {
    const out = new Line(this.width);
    for (const turn of this.line.turns) {
      const where = this.part(band, turn.start, turn.end);
      if (!where) continue;
      const [first, last] = where;
      out.fill(first, last, '─');
      if (this.column(turn.start) >= band.first) out.fill(first, first + 1, '├');
      const ends = turn.end !== null && this.column(turn.end) <= band.first + band.width;
      if (ends && last > first + 1) out.fill(last - 1, last, turn.failed ? '✗' : '┤');
    }
    for (const sleep of this.line.sleeps) {
      const where = this.part(band, sleep.start, sleep.end);
      if (where) out.fill(...where, '·');
    }
    this.words(out, band, this.sleeps);
    for (const words of this.sleeps) {
      const end = (this.columns[words.moment] ?? 0) - band.first + length(words.text);
      if (words.moment >= band.from && words.moment < band.to) out.fill(end, end + 1, ' ');
    }
    return out;
  }

  private call(band: Band, row: Row, words: Words[]): Line {
    const out = new Line(this.width);
    for (const wait of row.waits) {
      const where = this.part(band, wait.start, wait.end);
      if (where) out.fill(...where, '┄');
    }
    for (const attempt of row.bars) this.bar(out, band, attempt, '▒');
    this.words(out, band, words);
    return out;
  }

  private serverLine(band: Band): Line {
    const out = new Line(this.width);
    for (const crash of this.line.crashes) {
      const where = this.part(band, crash.at, crash.started);
      if (where) out.fill(...where, '/');
    }
    this.words(out, band, this.server);
    return out;
  }

  private tokens(band: Band): Line {
    const out = new Line(this.width);
    const { use } = this.line;
    const most = use.at(-1)?.total ?? 0;
    if (most === 0) return out;
    for (const [index, one] of use.entries()) {
      const where = this.part(band, one.at, use[index + 1]?.at ?? this.line.end);
      const level = Math.floor((one.total * 8 + most - 1) / most);
      if (where && level > 0) out.fill(...where, STEPS[level - 1] ?? ' ');
    }
    return out;
  }

  private labelled(name: string, line: Line): string {
    const text = line.text();
    return text === '' ? '' : `${shortened(name, this.label - 1).padEnd(this.label)}${text}\n`;
  }

  private band(band: Band): string {
    const woken = new Line(this.width);
    this.words(woken, band, this.woken);
    const model = new Line(this.width);
    for (const request of this.line.model) this.bar(model, band, request, '█');
    const rows = this.line.rows.map((row, index) =>
      this.labelled(row.tool, this.call(band, row, this.calls[index] ?? [])),
    );
    return [
      this.clock(band),
      this.labelled('woken by', woken),
      this.labelled('turn', this.turns(band)),
      this.labelled('model', model),
      ...rows,
      this.labelled('server', this.serverLine(band)),
      this.labelled('tokens', this.tokens(band)),
    ].join('');
  }
}

/** Puts pieces beside each other in lines of at most `columns`. */
function flowed(pieces: string[], comma: string, columns: number): string {
  const lines: string[] = [];
  for (const [index, one] of pieces.entries()) {
    const piece = index + 1 < pieces.length ? one + comma : one;
    const last = lines.at(-1);
    if (last !== undefined && length(last) + 1 + length(piece) <= columns)
      lines[lines.length - 1] = `${last} ${piece}`;
    else lines.push(piece);
  }
  return lines.join('\n');
}

function summary(line: Timeline, columns: number): string {
  const asleep = line.sleeps.reduce((sum, one) => sum + (one.end ?? line.end) - one.start, 0);
  const cost = costText(line.use.at(-1)?.cost);
  const pieces = [
    count(line.turns.length, 'turn'),
    count(line.rows.length, 'call'),
    count(line.use.at(-1)?.total ?? 0, 'token'),
    ...(cost ? [cost] : []),
    `asleep ${lasted(asleep)} of ${lasted(line.end - line.start)}`,
  ];
  return flowed(pieces, ',', columns);
}

export function timelineText(line: Timeline, title: string, columns = 100): string {
  const limit = Math.max(columns, COLUMNS_MIN);
  const head = `${shortened(title, limit)}\n`;
  if (line.turns.length === 0 && line.rows.length === 0)
    return `${head}Nothing has happened yet.\n`;
  const bands = new Drawing(line, limit).bands();
  return `${head}${summary(line, limit)}\n${bands}\n${flowed(LEGEND, '', limit)}\n`;
}
