// A stream of events that comes back by its cursor. Nothing is lost or shown twice: the server continues after the
// last id, and an event that is known already is dropped by its number.
import { parseEvents, type HttpClient, type Event } from 'dormouse-client';
import { parse } from './exact';

export type LinkState =
  | { kind: 'connecting' }
  | { kind: 'live' }
  | { kind: 'waiting'; tries: number; next: number }
  | { kind: 'paused' }
  | { kind: 'ended'; reason: string };

export interface Frame {
  id: string | null;
  type: string;
  event: Event;
}

export interface StreamOptions {
  client: HttpClient;
  path: string;
  after: string | null;
  onFrame: (frame: Frame) => void;
  onState: (state: LinkState) => void;
  /** The place to come back to, after each frame. */
  onCursor?: (cursor: string) => void;
  now?: () => number;
}

export const TRIES = 5;
const SILENCE = 45_000;

/** 1, 2, 4, 8, 16 s, at most 30. */
export const delay = (tries: number): number => Math.min(30_000, 1000 * 2 ** (tries - 1));

export class Stream {
  private abort: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | null = null;
  private tries = 0;
  private cursor: string | null;
  private closed = false;

  constructor(private readonly options: StreamOptions) {
    this.cursor = options.after;
  }

  open(): void {
    this.closed = false;
    void this.connect();
  }

  close(): void {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    this.abort?.abort();
  }

  /** Tries at once; after a pause this is what the button does. */
  retry(): void {
    if (this.timer) clearTimeout(this.timer);
    this.tries = 0;
    void this.connect();
  }

  private async connect(): Promise<void> {
    const abort = new AbortController();
    this.abort?.abort();
    this.abort = abort;
    if (this.tries === 0) this.options.onState({ kind: 'connecting' });
    try {
      const reason = await this.read(abort);
      if (reason !== 'draining') {
        if (reason) return this.options.onState({ kind: 'ended', reason });
      }
    } catch {
      // What went wrong shows in the state; a later try says more.
    }
    if (abort === this.abort && !this.closed) this.later();
  }

  /** Reads until the stream ends; the reason of its `bye`, if it said one. */
  private async read(abort: AbortController): Promise<string | null> {
    const headers: Record<string, string> = { accept: 'text/event-stream' };
    if (this.cursor !== null) headers['last-event-id'] = this.cursor;
    const response = await this.options.client.raw(this.options.path, {
      headers,
      signal: abort.signal,
    });
    if (response.status === 401) return 'unauthenticated';
    if (response.status === 404) return 'deleted';
    if (!response.ok || !response.body) throw new Error(String(response.status));
    this.tries = 0;
    this.options.onState({ kind: 'live' });
    let silent = setTimeout(() => abort.abort(), SILENCE);
    const heard = (): void => {
      clearTimeout(silent);
      silent = setTimeout(() => abort.abort(), SILENCE);
    };
    try {
      for await (const frame of parseEvents(response.body, heard)) {
        if (frame.id !== null && frame.data === '') {
          this.at(frame.id);
          continue;
        }
        const event = parse(frame.data) as Event;
        if (frame.event === 'bye') return String((event as unknown as { reason: string }).reason);
        this.options.onFrame({ id: frame.id, type: frame.event, event });
        if (frame.id !== null) this.at(frame.id);
      }
    } finally {
      clearTimeout(silent);
    }
    return null;
  }

  private at(cursor: string): void {
    this.cursor = cursor;
    this.options.onCursor?.(cursor);
  }

  private later(): void {
    this.tries += 1;
    if (this.tries > TRIES) return this.options.onState({ kind: 'paused' });
    const wait = delay(this.tries);
    const now = (this.options.now ?? Date.now)();
    this.options.onState({ kind: 'waiting', tries: this.tries, next: now + wait });
    this.timer = setTimeout(() => void this.connect(), wait);
  }
}
