import type { UIMessage, UIMessageChunk } from 'ai';
import type { Delta, Event, Message, PendingCall, StreamItem } from 'dormouse';

type ToolPart = Extract<Message['parts'][number], { type: 'tool' }>;
type Phase = 'asked' | 'approval' | 'answer' | 'done';

const bytes = new TextEncoder();
const OPEN = ['waiting', 'processing'];

/**
 * Turns the events of one turn, from its beginning and with `view=objects` and deltas, into chunks
 * of one UI message. What the reader's copy of the message (`known`) has is left out.
 */
export class Chunks {
  /** true: the turn has ended, or waits for a person who uses this chat. */
  isOver = false;
  private readonly calls = new Map<string, Phase>();
  private readonly left: { steps: number; text: number; reasoning: number };
  private drafts: { id: string; kind: 'text' | 'reasoning'; text: string }[] = [];
  private draft = '';
  private inStep = false;
  /** The step whose reply is being written; deltas may come before its event, or after its reply. */
  private writing = 0;

  constructor(
    private readonly turnID: string,
    private readonly known?: UIMessage,
  ) {
    const count = (type: string): number =>
      known?.parts.filter((part) => part.type === type).length ?? 0;
    this.left = { steps: count('step-start'), text: count('text'), reasoning: count('reasoning') };
  }

  /** The chunks for an event. */
  *take(item: StreamItem): Generator<UIMessageChunk> {
    if (item.type === 'reset') return;
    if (item.type === 'delta') return yield* this.delta(item as Delta);
    const event = item as Event;
    if (event.turnID !== this.turnID) return;
    if (event.type === 'turn_started') yield { type: 'start', messageId: this.turnID };
    if (event.type === 'model_requested') yield* this.step(event);
    const object = event.object as unknown as Record<string, unknown> | null | undefined;
    if (object && 'parts' in object && object.role === 'assistant')
      yield* this.message(object as unknown as Message);
    if (object && object.type === 'tool') yield* this.tool(object as unknown as ToolPart);
    if (object && 'inputDigest' in object) yield* this.call(object as unknown as PendingCall);
    if (event.type === 'turn_ended') yield* this.end(event);
    else if (event.activity?.type === 'waiting_async') yield* this.pause();
  }

  private *step(event: Event): Generator<UIMessageChunk> {
    const { step, attempt } = event.data as { step: number; attempt: number };
    this.writing = step;
    if (attempt > 1 && this.inStep) return;
    if (this.inStep) yield* this.endStep();
    this.inStep = true;
    if (this.left.steps-- <= 0) yield { type: 'start-step' };
  }

  private *endStep(): Generator<UIMessageChunk> {
    for (const draft of this.drafts.slice(-1)) yield { type: `${draft.kind}-end`, id: draft.id };
    this.drafts = [];
    yield { type: 'finish-step' };
  }

  /** A piece of the reply; those of the text before it, and of another attempt, are left out. */
  private *delta(delta: Delta): Generator<UIMessageChunk> {
    if (delta.turnID !== this.turnID || delta.step !== this.writing) return;
    if (delta.kind === 'input' || this.left[delta.kind] > 0) return;
    const { kind, partID: id } = delta;
    const last = this.drafts.at(-1);
    if (last?.id !== id && delta.offset > 0) return;
    if (last?.id !== id) {
      // Only one attempt is shown while it is written; the reply itself follows in any case.
      if (this.draft && this.draft !== delta.messageID) return;
      this.draft = delta.messageID;
      if (last) yield { type: `${last.kind}-end`, id: last.id };
      this.drafts.push({ id, kind, text: '' });
      yield { type: `${kind}-start`, id };
    }
    const draft = this.drafts.at(-1);
    const more = bytes.encode(delta.text);
    const skip = bytes.encode(draft?.text).length - delta.offset;
    if (!draft || skip < 0 || skip >= more.length) return;
    const text = new TextDecoder().decode(more.slice(skip));
    draft.text += text;
    yield { type: `${kind}-delta`, id, delta: text };
  }

  /** The whole reply: what its drafts lack, and its calls. */
  private *message(message: Message): Generator<UIMessageChunk> {
    const drafts = this.drafts;
    this.drafts = [];
    this.draft = '';
    this.writing = 0;
    for (const part of message.parts) {
      if (part.type === 'text' || part.type === 'reasoning') {
        const draft = drafts.shift();
        yield* this.whole(part, draft, drafts.length === 0);
      }
    }
    for (const part of message.parts) if (part.type === 'tool') yield* this.tool(part);
  }

  private *whole(
    part: { id: string; type: 'text' | 'reasoning'; text: string },
    draft: { id: string; kind: 'text' | 'reasoning'; text: string } | undefined,
    isLast: boolean,
  ): Generator<UIMessageChunk> {
    if (!draft && this.left[part.type]-- > 0) return;
    const fits = draft?.kind === part.type && part.text.startsWith(draft.text);
    if (fits) {
      const rest = part.text.slice(draft.text.length);
      if (isLast && rest) yield { type: `${part.type}-delta`, id: draft.id, delta: rest };
      if (isLast) yield { type: `${part.type}-end`, id: draft.id };
      if (isLast || !rest) return;
      // Its end was sent when the next part began.
      return yield* this.added(part.type, part.id, rest);
    }
    if (draft && isLast) yield { type: `${draft.kind}-end`, id: draft.id };
    yield* this.added(part.type, part.id, part.text);
  }

  private *added(type: 'text' | 'reasoning', id: string, delta: string): Generator<UIMessageChunk> {
    yield { type: `${type}-start`, id };
    yield { type: `${type}-delta`, id, delta };
    yield { type: `${type}-end`, id };
  }

  private *tool(part: ToolPart): Generator<UIMessageChunk> {
    const toolCallId = idOf(part);
    const { state } = part;
    const known = this.copyOf(toolCallId);
    if (!this.calls.has(toolCallId)) {
      this.calls.set(toolCallId, 'asked');
      const input = (state as { input?: unknown }).input;
      const chunk = { toolCallId, toolName: part.tool, input, dynamic: true };
      if (!known) yield { type: 'tool-input-available', ...chunk };
    }
    if (state.status !== 'completed' && state.status !== 'error') return;
    if (this.calls.get(toolCallId) === 'done') return;
    this.calls.set(toolCallId, 'done');
    if (known?.startsWith('output-')) return;
    if (state.status === 'completed')
      yield { type: 'tool-output-available', toolCallId, output: state.output, dynamic: true };
    // Only a call that was shown as an approval can be shown as denied.
    else if (state.reason === 'denied' && known?.startsWith('approval-'))
      yield { type: 'tool-output-denied', toolCallId };
    else yield { type: 'tool-output-error', toolCallId, errorText: state.error, dynamic: true };
  }

  private *call(call: PendingCall): Generator<UIMessageChunk> {
    const toolCallId = idOf(call);
    if (this.calls.get(toolCallId) === 'done') return;
    const waits = OPEN.includes(call.status);
    const person = call.reason === 'approval' || call.reason === 'user_input';
    this.calls.set(
      toolCallId,
      !waits || !person ? 'asked' : call.reason === 'approval' ? 'approval' : 'answer',
    );
    if (waits && call.reason === 'approval' && this.copyOf(toolCallId) !== 'approval-requested')
      yield { type: 'tool-approval-request', approvalId: call.id, toolCallId };
  }

  private copyOf(toolCallId: string): string | undefined {
    for (const part of this.known?.parts ?? [])
      if ('toolCallId' in part && part.toolCallId === toolCallId) return part.state;
    return undefined;
  }

  private *pause(): Generator<UIMessageChunk> {
    const phases = [...this.calls.values()];
    if (phases.includes('approval') || phases.includes('answer')) yield* this.finish('tool-calls');
  }

  private *end(event: Event): Generator<UIMessageChunk> {
    const { finishReason, error } = event.data as {
      finishReason: string;
      error?: { message: string };
    };
    if (finishReason === 'cancelled') yield { type: 'abort' };
    if (finishReason === 'error')
      yield { type: 'error', errorText: error?.message ?? 'The turn failed.' };
    yield* this.finish(
      finishReason === 'length' || finishReason === 'error' ? finishReason : 'stop',
    );
  }

  private *finish(
    finishReason: 'stop' | 'length' | 'error' | 'tool-calls',
  ): Generator<UIMessageChunk> {
    if (this.inStep) yield* this.endStep();
    yield { type: 'finish', finishReason };
    this.isOver = true;
  }
}

/** The toolCallId of a call: callIDs are unique within a session's message only. */
export function idOf(call: { messageID: string; callID: string }): string {
  return `${call.messageID}/${call.callID}`;
}
