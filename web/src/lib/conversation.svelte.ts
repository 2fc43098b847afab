// What was said and done in a session, from its events: messages, tool cards, nights.
import type { Event } from 'dormouse-client';
import { actor, array, number, record, text, typeOf, waitKind, wakeOf } from './journal';
import type { Data, WaitKind, Wake } from './journal';
import { agentName } from './words';

export type ToolStatus =
  | 'pending'
  | 'running'
  | 'waiting'
  | 'doubt'
  | 'done'
  | 'failed'
  | 'denied'
  | 'expired'
  | 'cancelled';

export interface Tool {
  kind: 'tool';
  id: string;
  callID: string;
  tool: string;
  input: unknown;
  edited: unknown;
  status: ToolStatus;
  waits: WaitKind;
  pendingID: string | null;
  started: number;
  ended: number | null;
  attempts: number;
  title: string | null;
  output: unknown;
  error: string | null;
  progress: { at: number; payload: unknown }[];
  /** What the agent sees in place of the outcome while it waits. */
  placeholder: unknown;
  /** What the tool made, and what came with its outcome. */
  files: { artifactID: string; name: string; mime: string; bytes: number }[];
  decided: {
    by: string;
    at: number;
    approved: boolean;
    reason: string | null;
    /** The standing rule that decided in the person's place. */
    rule?: string;
  } | null;
  settledBy: string;
  receipt: string | null;
}
export interface Text {
  kind: 'text';
  id: string;
  text: string;
}
export interface Thought {
  kind: 'thought';
  id: string;
  text: string;
  ms: number | null;
}
export interface Media {
  kind: 'media';
  id: string;
  image: boolean;
  name: string;
  mime: string;
  artifactID: string | null;
  alt: string;
}
export interface Night {
  kind: 'night';
  id: string;
  start: number;
  end: number | null;
  what: string;
  wake: Wake | null;
  calls: string[];
}
export interface Failure {
  kind: 'failure';
  id: string;
  at: number;
  text: string;
  retryAt: number | null;
  last: boolean;
}
export interface Line {
  kind: 'line';
  id: string;
  at: number;
  text: string;
  icon: 'mail' | 'list-tree' | 'info' | 'again';
}
export type Block = Tool | Text | Thought | Media | Night | Failure | Line;

export interface Message {
  id: string;
  role: 'user' | 'agent';
  name: string;
  at: number;
  seq: number;
  queued: boolean;
  blocks: Block[];
}
export interface Draft {
  messageID: string;
  step: number;
  attempt: number;
  text: string;
  reasoning: string;
}
export interface Conversation {
  messages: Message[];
  tools: Map<string, Tool>;
  agentID: string;
  createdBy: string;
  turn: number;
  step: number;
  turnStarted: number | null;
  failed: boolean;
  draft: Draft | null;
}

const plain = (parts: Data[]): string => parts.map((one) => text(one, 'text') ?? '').join('\n');

const made = (data: Data): Tool['files'][number] => ({
  artifactID: text(data, 'artifactID') ?? '',
  name: text(data, 'name') ?? 'file',
  mime: text(data, 'mime') ?? '',
  bytes: number(data, 'bytes') ?? 0,
});

export class Folder {
  readonly view: Conversation = $state({
    messages: [],
    tools: new Map(),
    agentID: '',
    createdBy: '',
    turn: 0,
    step: 0,
    turnStarted: null,
    failed: false,
    draft: null,
  });
  private night: Night | null = null;
  private cause: Wake | null = null;
  private requested = 0;

  add(event: Event): void {
    const data = event.data as Data;
    const type = typeOf(event);
    if (type === 'delta') return this.delta(data);
    if (text(data, 'callID') !== null) this.call(event, data, type);
    this.other(event, data, type);
    const tool = this.view.tools.get(text(data, 'callID') ?? '');
    this.cause = wakeOf(event, tool?.waits ?? 'job') ?? this.cause;
    this.activity(event);
  }

  private agent(event: Event): Message {
    const last = this.view.messages.findLast((one) => !one.queued);
    if (last?.role === 'agent') return last;
    const message: Message = {
      id: `agent-${event.seq}`,
      role: 'agent',
      name: this.view.agentID,
      at: event.at,
      seq: event.seq,
      queued: false,
      blocks: [],
    };
    this.view.messages.push(message);
    return this.view.messages.at(-1) as Message;
  }

  private part(message: Message, id: string, data: Data): void {
    const kind = text(data, 'type');
    const body = text(data, 'text') ?? '';
    if (kind === 'text' && body !== '') message.blocks.push({ kind: 'text', id, text: body });
    if (kind === 'reasoning' && body !== '') {
      message.blocks.push({ kind: 'thought', id, text: body, ms: null });
    }
    if (kind === 'image' || kind === 'file') {
      message.blocks.push({
        kind: 'media',
        id,
        image: kind === 'image',
        name: text(data, 'name') ?? 'file',
        mime: text(data, 'mime') ?? '',
        artifactID: text(data, 'artifactID'),
        alt: text(data, 'alt') ?? '',
      });
    }
  }

  private other(event: Event, data: Data, type: string): void {
    const { view } = this;
    if (type === 'session_created') {
      view.agentID = agentName(text(data, 'agentID') ?? '');
      view.createdBy = actor(text(data, 'by'));
    } else if (type === 'input_received') {
      this.input(event, data);
    } else if (type === 'input_dropped') {
      view.messages = view.messages.filter((one) => one.id !== text(data, 'messageID'));
    } else if (type === 'turn_started') {
      view.turn = Number(event.turnID?.split('_').at(-1)) || view.turn + 1;
      view.turnStarted = event.at;
      view.failed = false;
      for (const one of view.messages) one.queued = false;
    } else if (type === 'turn_ended') {
      this.ended(event, data);
    } else if (type.startsWith('model_') || type.startsWith('agent_') || type === 'detached') {
      this.model(event, data, type);
    } else if (type.startsWith('mail_') || type.startsWith('task_')) {
      this.notice(event, data, type);
    } else if (type === 'forked') {
      this.forked(event, data);
    }
  }

  private input(event: Event, data: Data): void {
    const id = text(data, 'messageID') ?? `input-${event.seq}`;
    const message: Message = {
      id,
      role: 'user',
      name: actor(text(data, 'by')) || text(data, 'source') || 'user',
      at: event.at,
      seq: event.seq,
      // What steers or interrupts is of the turn that is open.
      queued: this.view.turnStarted !== null && (number(data, 'turn') ?? Infinity) > this.view.turn,
      blocks: [],
    };
    for (const [index, part] of array(data, 'parts').entries())
      this.part(message, `${id}-${index}`, part);
    if (text(data, 'answers') !== null) message.queued = false;
    this.view.messages.push(message);
  }

  private ended(event: Event, data: Data): void {
    this.view.turnStarted = null;
    this.view.draft = null;
    const error = record(data, 'error');
    this.view.failed = error !== null;
    if (error) {
      const said = text(error, 'message') ?? 'The turn failed.';
      const { blocks } = this.agent(event);
      const before = blocks.at(-1);
      // The failure of its last attempt ended the turn: that is one message.
      if (before?.kind === 'failure' && before.retryAt === null && before.text === said)
        return void (before.last = true);
      blocks.push({
        kind: 'failure',
        id: `end-${event.seq}`,
        at: event.at,
        text: said,
        retryAt: null,
        last: true,
      });
    } else if (text(data, 'finishReason') === 'cancelled') {
      this.agent(event).blocks.push({
        kind: 'line',
        id: `end-${event.seq}`,
        at: event.at,
        icon: 'info',
        text: 'This turn was stopped.',
      });
    }
  }

  private model(event: Event, data: Data, type: string): void {
    if (type === 'model_requested' || type === 'agent_prompted') {
      this.requested = event.at;
      this.view.step = number(data, 'step') ?? this.view.step;
      this.view.draft = null;
    } else if (type === 'model_replied') {
      this.replied(event, data);
    } else if (type === 'agent_update') {
      this.update(event, data);
    } else if (type === 'model_failed' || type === 'detached') {
      this.view.draft = null;
      const said = text(record(data, 'error') ?? {}, 'message') ?? 'The model did not answer.';
      this.agent(event).blocks.push({
        kind: 'failure',
        id: `fail-${event.seq}`,
        at: event.at,
        text: said,
        retryAt: number(data, 'retryAt'),
        last: false,
      });
    } else if (type === 'agent_asked') {
      const call = record(data, 'call');
      if (call) {
        const tool = this.tool(event, { ...call, callID: data['callID'] });
        Object.assign(tool, {
          status: 'waiting',
          waits: waitKind(text(data, 'reason')),
          pendingID: text(data, 'pendingID'),
        });
      }
    }
  }

  private replied(event: Event, data: Data): void {
    this.view.draft = null;
    const message = this.agent(event);
    message.blocks = message.blocks.filter((one) => one.kind !== 'failure' || one.last);
    const id = text(data, 'messageID') ?? String(event.seq);
    for (const [index, part] of array(data, 'parts').entries()) {
      this.part(message, `${id}-${index}`, part);
      const block = message.blocks.at(-1);
      if (block?.kind === 'thought' && this.requested > 0) block.ms = event.at - this.requested;
    }
    for (const call of array(data, 'calls')) this.tool(event, call);
  }

  /** What an external agent says and does. */
  private update(event: Event, data: Data): void {
    const message = this.agent(event);
    const body = data['body'];
    if (text(data, 'kind') === 'message' && Array.isArray(body)) {
      for (const [index, part] of (body as Data[]).entries()) {
        this.part(message, `${event.seq}-${index}`, part);
      }
    } else if (text(data, 'kind') === 'tool' && body && typeof body === 'object') {
      const about = body as Data;
      const callID = text(about, 'toolCallID') ?? String(event.seq);
      const tool = this.tool(event, {
        callID,
        tool: text(about, 'title') ?? 'tool',
        input: about['input'],
      });
      const status = text(about, 'status');
      if (status === 'completed')
        Object.assign(tool, { status: 'done', ended: event.at, output: about['output'] });
      else if (status === 'failed') Object.assign(tool, { status: 'failed', ended: event.at });
      else tool.status = 'running';
    }
  }

  private notice(event: Event, data: Data, type: string): void {
    const said: Record<string, [string, Line['icon']]> = {
      mail_received: [
        `Mail from ${text(data, 'fromAlias') ?? (actor(text(data, 'by')) || 'a person')}: ${text(data, 'text') ?? ''}`,
        'mail',
      ],
      mail_sent: [`Mail sent: ${text(data, 'text') ?? ''}`, 'mail'],
      task_started: [`Task started: ${text(data, 'description') ?? ''}`, 'list-tree'],
    };
    const found = said[type];
    if (!found) return;
    const [words, icon] = found;
    this.agent(event).blocks.push({
      kind: 'line',
      id: `n-${event.seq}`,
      at: event.at,
      text: words,
      icon,
    });
  }

  private forked(event: Event, data: Data): void {
    for (const [index, past] of array(data, 'messages').entries()) {
      const id = text(past, 'id') ?? `past-${index}`;
      const role = text(past, 'role') === 'user' ? 'user' : 'agent';
      const message: Message = {
        id,
        role,
        name: role === 'user' ? 'before' : this.view.agentID,
        at: event.at,
        seq: event.seq,
        queued: false,
        blocks: [],
      };
      for (const [number, part] of array(past, 'parts').entries())
        this.part(message, `${id}-${number}`, part);
      if (message.blocks.length > 0) this.view.messages.push(message);
    }
  }

  private tool(event: Event, call: Data): Tool {
    const callID = text(call, 'callID') ?? '?';
    const known = this.view.tools.get(callID);
    if (known) return known;
    const tool: Tool = {
      kind: 'tool',
      id: callID,
      callID,
      tool: text(call, 'tool') ?? callID,
      input: call['input'] ?? null,
      edited: undefined,
      status: 'pending',
      waits: 'job',
      pendingID: null,
      started: event.at,
      ended: null,
      attempts: 0,
      title: null,
      output: undefined,
      error: null,
      progress: [],
      placeholder: undefined,
      files: [],
      decided: null,
      settledBy: '',
      receipt: null,
    };
    const refused = text(call, 'refused');
    if (refused) Object.assign(tool, { status: 'failed', error: refused, ended: event.at });
    const message = this.agent(event);
    message.blocks.push(tool);
    // Svelte follows what is in the list, not what was put into it.
    const placed = message.blocks.at(-1) as Tool;
    this.view.tools.set(callID, placed);
    return placed;
  }

  private call(event: Event, data: Data, type: string): void {
    const tool = this.view.tools.get(text(data, 'callID') ?? '');
    if (!tool) return;
    const pendingID = text(data, 'pendingID');
    if (pendingID !== null) tool.pendingID = pendingID;
    if (type === 'tool_started') {
      this.raise(tool);
      Object.assign(tool, {
        status: 'running',
        started: event.at,
        attempts: number(data, 'attempt') ?? 1,
      });
    } else if (type === 'tool_finished') {
      this.finish(tool, event, data, text(data, 'error') === null ? 'done' : 'failed');
    } else if (type === 'tool_failed') {
      tool.error = text(data, 'error');
    } else if (type === 'call_paused' || type === 'gate_asked') {
      Object.assign(tool, { status: 'waiting', waits: waitKind(text(data, 'reason')) });
      if (type === 'call_paused') tool.placeholder = data['placeholder'] ?? undefined;
    } else if (type === 'artifact_emitted') {
      tool.files = [...tool.files, made(data)];
    } else if (type === 'in_doubt') {
      Object.assign(tool, {
        status: 'doubt',
        waits: 'person',
        pendingID: text(data, 'question') ?? pendingID,
      });
    } else if (type === 'progressed') {
      tool.progress = [...tool.progress.slice(-19), { at: event.at, payload: data['payload'] }];
    } else if (type === 'gate_decided') {
      if (data['arguments'] !== undefined) tool.edited = data['arguments'];
      const rule = text(data, 'rule');
      if (rule !== null) {
        const by = actor(text(data, 'by'));
        tool.decided = { by, at: event.at, approved: true, reason: null, rule };
      }
      if (text(data, 'verdict') === 'deny') this.finish(tool, event, data, 'denied');
      else if (tool.status === 'waiting') tool.status = 'pending';
    } else {
      this.outcome(tool, event, data, type);
    }
  }

  private outcome(tool: Tool, event: Event, data: Data, type: string): void {
    const receipt = record(data, 'receipt');
    const by = actor(text(receipt ?? {}, 'by'));
    if (receipt) tool.receipt = event.sessionID.replace('ses_', 'rcp_') + `_${event.seq}`;
    const decision = record(data, 'decision');
    if (type === 'submitted' && decision) {
      const approved = decision['approved'] !== false;
      tool.decided = { by, at: event.at, approved, reason: text(decision, 'reason') };
      if (decision['arguments'] !== undefined) tool.edited = decision['arguments'];
      if (!approved)
        this.finish(tool, event, { error: text(decision, 'reason') ?? undefined }, 'denied');
      else if (tool.waits === 'person') tool.status = 'pending';
    } else if (type === 'submitted') {
      tool.settledBy = by;
      const result = record(data, 'result');
      const failed = text(data, 'error') !== null;
      this.finish(tool, event, result ?? data, failed ? 'failed' : 'done');
    } else if (type === 'expired' || type === 'cancelled') {
      this.finish(tool, event, {}, type);
    }
  }

  /** A call that continues after a sleep is shown after it. */
  private raise(tool: Tool): void {
    for (const message of this.view.messages) {
      const place = message.blocks.findIndex((one) => one.id === tool.id);
      if (place < 0) continue;
      if (message.blocks.slice(place).some((one) => one.kind === 'night')) {
        message.blocks.push(...message.blocks.splice(place, 1));
        this.view.tools.set(tool.callID, message.blocks.at(-1) as Tool);
      }
      return;
    }
  }

  private finish(tool: Tool, event: Event, data: Data, status: ToolStatus): void {
    this.raise(tool);
    Object.assign(tool, { status, ended: event.at });
    if (data['output'] !== undefined) tool.output = data['output'];
    tool.title = text(data, 'title') ?? tool.title;
    tool.error = text(data, 'error') ?? (status === 'done' ? null : tool.error);
  }

  private delta(data: Data): void {
    const messageID = text(data, 'messageID') ?? '';
    const step = number(data, 'step') ?? 0;
    const attempt = number(data, 'attempt') ?? 1;
    let { draft } = this.view;
    if (!draft || draft.messageID !== messageID || draft.attempt !== attempt) {
      draft = { messageID, step, attempt, text: '', reasoning: '' };
      this.view.draft = draft;
      draft = this.view.draft;
    }
    const piece = text(data, 'text') ?? '';
    const offset = number(data, 'offset');
    const key = text(data, 'kind') === 'reasoning' ? 'reasoning' : 'text';
    if (text(data, 'kind') === 'input') return;
    // With an offset a reader who joins in mid-turn shows each piece once.
    draft[key] = offset === null ? draft[key] + piece : draft[key].slice(0, offset) + piece;
  }

  private activity(event: Event): void {
    const kind = (event.activity as { type?: string } | undefined)?.type;
    if (!kind) return;
    if (kind === 'waiting_async' && !this.night) this.sleep(event);
    else if (kind !== 'waiting_async' && this.night) this.wake(event);
  }

  private sleep(event: Event): void {
    const open = [...this.view.tools.values()].filter(
      (one) => one.status === 'waiting' || one.status === 'doubt',
    );
    const person = open.find((one) => one.waits === 'person');
    const first = person ?? open[0];
    const what = !first
      ? ''
      : person
        ? person.tool === 'ask_human'
          ? 'for an answer'
          : 'for an approval'
        : first.waits === 'timer'
          ? 'for a timer'
          : `for the result of ${first.tool}`;
    const night: Night = {
      kind: 'night',
      id: `night-${event.seq}`,
      start: event.at,
      end: null,
      what,
      wake: null,
      calls: open.map((one) => one.callID),
    };
    const message = this.agent(event);
    message.blocks.push(night);
    this.night = message.blocks.at(-1) as Night;
    this.cause = null;
  }

  private wake(event: Event): void {
    if (!this.night) return;
    this.night.end = event.at;
    this.night.wake = this.cause;
    this.night = null;
    this.cause = null;
  }
}

/** All of it at once. */
export function conversation(events: Event[]): Conversation {
  const folder = new Folder();
  for (const event of events) folder.add(event);
  return folder.view;
}

export const words = (message: Message): string =>
  plain(message.blocks.filter((one) => one.kind === 'text') as unknown as Data[]);
