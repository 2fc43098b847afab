import type { Event } from './api.gen.js';
import { ConnectionFailed, DormouseError, Refusal, UnexpectedResponse } from './errors.js';
import { parseEvents, type ServerSentEvent } from './events.js';

const SILENCE_MS = 45_000; // the server sends a comment each 15 s
const PAUSE_MS = [100, 200, 500, 1000, 2000, 5000];

/** A piece of a reply that is being written; the `model_replied` of its step replaces it. */
export interface Delta {
  type: 'delta';
  turnID: string;
  step: number;
  attempt: number;
  messageID: string;
  partID: string;
  kind: 'text' | 'reasoning' | 'input';
  /** Where the piece begins in its part, in bytes of UTF-8. */
  offset: number;
  text: string;
  call?: number;
  tool?: string;
}

/** Retention removed events: load again what you show of them. */
export interface Reset {
  type: 'reset';
  after: number | string;
}

export type StreamItem = Event | Delta | Reset;

/** How a stream asks for its bytes: with the cursor, and a signal that ends the request. */
export type Connect = (cursor: string | null, signal: AbortSignal) => Promise<Response>;

export interface StreamSettings {
  connect: Connect;
  after: string | null;
  deltas: boolean;
  outageMs: number;
  maxBytes: number;
  signal?: AbortSignal;
}

/**
 * The events of a session or a project, as an async iterator. It reconnects by its cursor, also
 * across restarts of the server: no event is lost or repeated. Leaving the loop ends the
 * connection.
 */
export class EventStream implements AsyncIterable<StreamItem> {
  /**
   * Where to continue: give it as `after` to a later stream. Moves when the event after this one
   * is asked for.
   */
  cursor: string | null;
  private seen = new Set<string>();
  private failures = 0;
  private failing: number | null = null;

  constructor(private readonly settings: StreamSettings) {
    this.cursor = settings.after;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamItem, void, undefined> {
    for (;;) {
      this.settings.signal?.throwIfAborted();
      try {
        if ((yield* this.connection()) === 'deleted') return;
        await this.failed(new ConnectionFailed('The stream ended.'));
      } catch (error) {
        this.settings.signal?.throwIfAborted();
        await this.failed(error);
      }
    }
  }

  /** Reads until the connection ends; the reason of its `bye`. */
  private async *connection(): AsyncGenerator<StreamItem, string, undefined> {
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    this.settings.signal?.addEventListener('abort', abort, { once: true });
    let silent = setTimeout(abort, SILENCE_MS);
    const heard = (): void => {
      clearTimeout(silent);
      silent = setTimeout(abort, SILENCE_MS);
    };
    try {
      const response = await this.settings.connect(this.cursor, controller.signal);
      if (
        !response.headers.get('content-type')?.startsWith('text/event-stream') ||
        !response.body
      ) {
        throw new UnexpectedResponse(response.status, 'The answer is not text/event-stream.');
      }
      for await (const frame of parseEvents(response.body, heard, this.settings.maxBytes)) {
        const item = this.take(frame);
        if (item === null) continue;
        if (item.type === 'bye') return String(item.reason);
        yield item as StreamItem;
        this.moved(frame);
      }
      return '';
    } finally {
      clearTimeout(silent);
      this.settings.signal?.removeEventListener('abort', abort);
      controller.abort();
    }
  }

  /** What a frame holds, or null if nobody is to see it. */
  private take(frame: ServerSentEvent): { type: string; reason?: unknown } | null {
    if (frame.data === '') {
      this.moved(frame);
      return null;
    }
    let data: Record<string, unknown>;
    try {
      data = JSON.parse(frame.data) as Record<string, unknown>;
    } catch {
      throw new UnexpectedResponse(200, 'An event is not JSON.');
    }
    this.failures = 0;
    this.failing = null;
    if (['delta', 'reset', 'bye'].includes(frame.event)) {
      return frame.event === 'delta' && !this.settings.deltas
        ? null
        : { ...data, type: frame.event };
    }
    const event = data as unknown as Event;
    const key = `${event.sessionID} ${event.seq}`;
    if (this.seen.has(key)) return null;
    this.seen.add(key);
    return event;
  }

  /** The consumer has taken a frame: the next connection begins after it. */
  private moved(frame: ServerSentEvent): void {
    if (frame.id === null) return;
    this.cursor = frame.id;
    this.seen.clear();
  }

  /** Waits before the next connection, or throws if that cannot help. */
  private async failed(error: unknown): Promise<void> {
    const refused = error instanceof Refusal && error.status !== 429 && error.status !== 503;
    const foreign =
      error instanceof DormouseError &&
      !(error instanceof ConnectionFailed) &&
      !(error instanceof Refusal);
    const passing = error instanceof UnexpectedResponse && [502, 503, 504].includes(error.status);
    if (refused || (foreign && !passing)) throw error;
    this.failing ??= Date.now();
    const after = error instanceof Refusal ? error.retryAfterMs : null;
    const pause = after ?? PAUSE_MS[Math.min(this.failures, PAUSE_MS.length - 1)] ?? 0;
    this.failures += 1;
    if (Date.now() + pause - this.failing > this.settings.outageMs) throw error;
    await sleep(pause * (after ? 1 : 0.75 + Math.random() / 2), this.settings.signal);
  }
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
  });
}
