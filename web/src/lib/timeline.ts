// What happened in a session, as lanes: made from its events alone. The grammar is that of the design.
import type { Event, Start } from 'dormouse-client';
import { actor, array, number, record, text, typeOf, waitKind, wakeOf } from './journal';
import type { Data, WaitKind, Wake } from './journal';
import { sum, type Cost } from './money';

export interface Bar {
  start: number;
  end: number | null;
  attempt: number;
  step?: number;
  /** A failed attempt, or one that a crash cut off. */
  outcome: 'ok' | 'failed' | 'cut';
  epoch: number;
}
export interface Wait {
  start: number;
  end: number | null;
  kind: WaitKind;
  label: string;
}
export interface Settled {
  at: number;
  how: 'done' | 'failed' | 'denied' | 'expired' | 'cancelled';
  by: string;
}
export interface Row {
  callID: string;
  /** The newest event of this call. */
  seq: number;
  tool: string;
  input: unknown;
  start: number;
  bars: Bar[];
  waits: Wait[];
  settled: Settled | null;
  /** Results that came again, and refused ones. */
  notes: { at: number; conflict: boolean; text: string }[];
  decisions: { by: string; at: number; approved: boolean }[];
}
export interface Sleep {
  start: number;
  end: number | null;
  waits: { callID: string; kind: WaitKind; label: string }[];
  wake: Wake | null;
  /** A restart that the sleep did not notice. */
  restarted: boolean;
}
export interface Crash {
  /** When the server was last known to run. */
  at: number;
  started: number;
  /** It was stopped, not killed. */
  clean?: boolean;
}
export interface Turn {
  number: number;
  start: number;
  end: number | null;
  failed: boolean;
}
export interface Timeline {
  start: number;
  end: number;
  live: boolean;
  turns: Turn[];
  model: Bar[];
  rows: Row[];
  sleeps: Sleep[];
  wakes: Wake[];
  crashes: Crash[];
  /** Tokens, and what they cost, up to a time. */
  use: { at: number; total: number; cost: Cost | null }[];
}

const WAITS_FOR: Record<WaitKind, string> = {
  person: 'an answer',
  job: 'its result',
  timer: 'its time',
};
/** The label of a call of which nobody knows whether it has run. */
const IN_DOUBT = 'in doubt';

/** "waits for an answer". */
export const waitText = (label: string): string =>
  label === IN_DOUBT ? 'is in doubt: a person must say what happened' : `waits for ${label}`;

class Builder {
  private readonly line: Timeline = {
    start: 0,
    end: 0,
    live: false,
    turns: [],
    model: [],
    rows: [],
    sleeps: [],
    wakes: [],
    crashes: [],
    use: [],
  };
  private readonly rows = new Map<string, Row>();
  private epoch: number | null = null;
  private last = 0;
  private seq = 0;
  private cause: Wake | null = null;
  private total = 0;
  private cost: Cost | null = null;
  private readonly starts: Map<number, Start>;

  constructor(starts: Start[]) {
    this.starts = new Map(starts.map((one) => [one.epoch, one]));
  }

  add(event: Event): void {
    if (this.line.start === 0) this.line.start = event.at;
    // The clock may step back; the order is that of the numbers.
    const at = Math.max(event.at, this.last);
    const here = { ...event, at };
    this.seq = event.seq;
    this.restart(here);
    this.dispatch(here, event.data as Data);
    this.activity(here);
    this.last = at;
  }

  done(now: number): Timeline {
    const { line } = this;
    const open = line.turns.some((one) => one.end === null);
    line.live = open;
    line.end = Math.max(this.last, open ? now : this.last, line.start + 1);
    line.rows = [...this.rows.values()];
    return line;
  }

  private open<T extends { end: number | null }>(list: T[]): T | undefined {
    const item = list.at(-1);
    return item && item.end === null ? item : undefined;
  }

  private unfinished(): Bar[] {
    const rows = [...this.rows.values()].map((row) => this.open(row.bars));
    return [this.open(this.line.model), ...rows].filter((bar) => bar !== undefined);
  }

  /** Another process continues: what the one before was at is cut off. */
  private restart(event: Event): void {
    const epoch = number(event.data as Data, 'epoch');
    if (epoch === null) return;
    if (this.epoch !== null && epoch > this.epoch) {
      const cut = this.unfinished();
      const asleep = this.open(this.line.sleeps) ?? this.line.sleeps.at(-1);
      if (cut.length > 0) {
        const crash = this.crash(this.epoch, epoch, event.at);
        this.line.crashes.push(crash);
        for (const bar of cut) Object.assign(bar, { end: crash.at, outcome: 'cut' });
      } else if (asleep) {
        asleep.restarted = true;
      }
    }
    this.epoch = Math.max(epoch, this.epoch ?? epoch);
  }

  /** When the process of an epoch ended and the next one began; else the events beside it say so. */
  private crash(before: number, epoch: number, until: number): Crash {
    const ended = this.starts.get(before);
    const alive = ended?.aliveAt ?? this.last;
    const at = Math.min(Math.max(alive, this.last), until);
    const begun = this.starts.get(epoch)?.startedAt ?? until;
    const started = Math.min(Math.max(begun, at), until);
    return { at, started, clean: ended?.clean ?? false };
  }

  private row(data: Data, at: number): Row {
    const callID = text(data, 'callID') ?? '?';
    let row = this.rows.get(callID);
    if (!row) {
      row = {
        callID,
        seq: 0,
        tool: text(data, 'tool') ?? callID,
        input: data['input'] ?? null,
        start: at,
        bars: [],
        waits: [],
        settled: null,
        notes: [],
        decisions: [],
      };
      this.rows.set(callID, row);
    }
    row.seq = this.seq;
    return row;
  }

  private close(list: { end: number | null }[], at: number): void {
    const item = this.open(list);
    if (item) item.end = at;
  }

  private settle(row: Row, at: number, how: Settled['how'], by = ''): void {
    this.close(row.bars, at);
    this.close(row.waits, at);
    row.settled ??= { at, how, by };
  }

  private wait(row: Row, event: Event, label: string): void {
    const data = event.data as Data;
    this.close(row.bars, event.at);
    this.close(row.waits, event.at);
    row.waits.push({ start: event.at, end: null, kind: waitKind(text(data, 'reason')), label });
  }

  private dispatch(event: Event, data: Data): void {
    const type = typeOf(event);
    if (/^(turn|model|agent)_/.test(type) || type === 'detached')
      return this.work(event, data, type);
    if (type === 'input_received' && !this.open(this.line.turns)) {
      const wake = wakeOf(event, 'job');
      if (wake) this.line.wakes.push(wake);
    }
    if (text(data, 'callID') !== null) this.call(event, data, type);
    const row = this.rows.get(text(data, 'callID') ?? '');
    const kind = row?.waits.at(-1)?.kind ?? 'job';
    this.cause = wakeOf(event, kind) ?? this.cause;
  }

  private work(event: Event, data: Data, type: string): void {
    const { line } = this;
    if (type === 'turn_started') {
      const given = Number(event.turnID?.split('_').at(-1));
      const turn = Number.isFinite(given) ? given : line.turns.length + 1;
      line.turns.push({ number: turn, start: event.at, end: null, failed: false });
    } else if (type === 'turn_ended') {
      const turn = this.open(line.turns);
      if (turn) Object.assign(turn, { end: event.at, failed: record(data, 'error') !== null });
      this.close(line.model, event.at);
    } else if (type === 'model_requested' || type === 'agent_prompted') {
      line.model.push({
        start: event.at,
        end: null,
        attempt: number(data, 'attempt') ?? 1,
        step: number(data, 'step') ?? 1,
        outcome: 'ok',
        epoch: this.epoch ?? 0,
      });
    } else if (type === 'model_replied' || type === 'agent_replied') {
      this.close(line.model, event.at);
      for (const call of array(data, 'calls')) this.row(call, event.at);
      const usage = record(data, 'usage') ?? {};
      this.total += (number(usage, 'inputTokens') ?? 0) + (number(usage, 'outputTokens') ?? 0);
      const more = record(usage, 'cost');
      if (more) this.cost = sum(this.cost ?? {}, more as Cost);
      line.use.push({ at: event.at, total: this.total, cost: this.cost });
    } else if (type === 'model_failed' || type === 'detached') {
      const bar = this.open(line.model);
      if (bar) Object.assign(bar, { end: event.at, outcome: 'failed' });
    } else if (type === 'agent_asked') {
      // An external agent asks for approval, a client for any outcome.
      const reason = text(data, 'reason');
      const label =
        reason === 'tool_result'
          ? 'its result'
          : reason === 'user_input'
            ? 'an answer'
            : 'approval';
      this.wait(this.row(record(data, 'call') ?? data, event.at), event, label);
    }
  }

  private call(event: Event, data: Data, type: string): void {
    const row = this.row(data, event.at);
    switch (type) {
      case 'tool_started':
        this.close(row.waits, event.at);
        row.bars.push({
          start: event.at,
          end: null,
          attempt: number(data, 'attempt') ?? 1,
          outcome: 'ok',
          epoch: this.epoch ?? 0,
        });
        break;
      case 'tool_finished':
        this.settle(row, event.at, text(data, 'error') === null ? 'done' : 'failed');
        break;
      case 'tool_failed':
        Object.assign(this.open(row.bars) ?? {}, { end: event.at, outcome: 'failed' });
        break;
      case 'call_paused':
        this.wait(row, event, WAITS_FOR[waitKind(text(data, 'reason'))]);
        break;
      case 'gate_asked':
        this.wait(row, event, 'approval');
        break;
      case 'budget_reached':
        row.tool = text(record(data, 'call') ?? {}, 'tool') ?? row.tool;
        row.input = record(data, 'call')?.['input'] ?? null;
        this.wait(row, event, 'a decision on its budget');
        break;
      case 'in_doubt':
        Object.assign(this.open(row.bars) ?? {}, { end: event.at, outcome: 'cut' });
        row.waits.push({ start: event.at, end: null, kind: 'person', label: IN_DOUBT });
        break;
      case 'gate_decided':
        this.close(row.waits, event.at);
        if (text(data, 'rule') !== null)
          row.decisions.push({ by: actor(text(data, 'by')), at: event.at, approved: true });
        if (text(data, 'verdict') === 'deny') this.settle(row, event.at, 'denied');
        break;
      default:
        this.outcome(row, event, data, type);
    }
  }

  private outcome(row: Row, event: Event, data: Data, type: string): void {
    const by = actor(text(record(data, 'receipt') ?? {}, 'by'));
    if (type === 'submitted') {
      const decision = record(data, 'decision');
      const kind = row.waits.at(-1)?.label;
      this.close(row.waits, event.at);
      if (decision) {
        const approved = decision['approved'] !== false;
        row.decisions.push({ by, at: event.at, approved });
        if (!approved && kind !== IN_DOUBT) this.settle(row, event.at, 'denied', by);
      } else {
        this.settle(row, event.at, text(data, 'error') === null ? 'done' : 'failed', by);
      }
    } else if (type === 'expired') {
      this.settle(row, event.at, 'expired');
    } else if (type === 'cancelled') {
      this.settle(row, event.at, 'cancelled', by);
    } else if (type === 'note') {
      const about = text(data, 'about');
      row.notes.push({
        at: event.at,
        conflict: about === 'conflict',
        text: about?.replace('_', ' ') ?? 'note',
      });
    }
  }

  private activity(event: Event): void {
    const kind = (event.activity as { type?: string } | undefined)?.type;
    if (!kind) return;
    const sleep = this.open(this.line.sleeps);
    if (kind === 'waiting_async' && !sleep) {
      const waits = [...this.rows.values()].flatMap((row) => {
        const wait = this.open(row.waits);
        return wait ? [{ callID: row.callID, kind: wait.kind, label: wait.label }] : [];
      });
      this.line.sleeps.push({ start: event.at, end: null, waits, wake: null, restarted: false });
      this.cause = null;
    } else if (kind !== 'waiting_async' && sleep) {
      sleep.end = event.at;
      sleep.wake = this.cause;
      if (this.cause && this.cause.verb !== 'prompt') this.line.wakes.push(this.cause);
      this.cause = null;
    }
  }
}

export function timeline(events: Event[], now: number, starts: Start[] = []): Timeline {
  const builder = new Builder(starts);
  for (const event of events) builder.add(event);
  return builder.done(now);
}

/** How long it was asleep and awake in all. */
export interface Gap {
  from: number;
  to: number;
}

/** The times between turns, in which nothing runs and nothing is waited for. */
export function gaps(line: Timeline): Gap[] {
  const found: Gap[] = [];
  let at: number | null = null;
  for (const turn of line.turns) {
    if (at !== null && turn.start > at) found.push({ from: at, to: turn.start });
    at = turn.end;
  }
  return found;
}

/** How long it was asleep and awake in all; between turns it is neither. */
export function shares(line: Timeline): { asleep: number; awake: number; all: number } {
  const all = line.end - line.start;
  const asleep = line.sleeps.reduce((sum, one) => sum + ((one.end ?? line.end) - one.start), 0);
  const idle = gaps(line).reduce((sum, one) => sum + one.to - one.from, 0);
  return { asleep, awake: Math.max(0, all - asleep - idle), all };
}
