import type { PendingCall } from './api.gen.js';
import type { Answered } from './http.js';

const WAIT_S = 50;
const KNOWN_MAX = 10_000;

export interface ChangesOptions {
  /**
   * Cursor of an earlier iterator, or ms since the epoch; 0: all calls that are kept. Default:
   * from now on.
   */
  since?: number | null;
  /** Only of this session; else of the project. */
  sessionID?: string;
  project?: string;
  status?: PendingCall['status'];
  tool?: string;
  reason?: PendingCall['reason'];
  view?: 'inbox';
  signal?: AbortSignal;
}

type Query = { changedSince?: number; cursor?: string; limit: number };
type Ask = (query: Query, waitS: number) => Promise<Answered<'listPending'>>;

/**
 * Pending calls that change, oldest change first. Every change comes, also across restarts of the
 * server.
 */
export class Changes implements AsyncIterable<PendingCall> {
  /** Give it as `since` to a later iterator. It moves once all changes of an answer were taken. */
  cursor: number | null;
  private readonly known = new Map<string, string>();

  constructor(
    since: number | null,
    private readonly ask: Ask,
  ) {
    this.cursor = since;
  }

  /** Fixes where it begins, if that is now; iterating does this too. */
  async start(): Promise<void> {
    this.cursor ??= asOf(await this.ask({ limit: 1 }, 0));
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<PendingCall, void, undefined> {
    await this.start();
    for (;;) {
      const since = this.cursor ?? 0;
      const first: Answered<'listPending'> = await this.ask(
        { changedSince: since, limit: 200 },
        WAIT_S,
      );
      const calls = [...first.value.items];
      for (let next = first.value.next; next !== null;) {
        const page: Answered<'listPending'> = await this.ask(
          { changedSince: since, limit: 200, cursor: next },
          0,
        );
        calls.push(...page.value.items);
        next = page.value.next;
      }
      for (const call of calls.reverse()) if (this.isNew(call)) yield call;
      this.cursor = asOf(first) || since;
    }
  }

  /** The server sends some changes twice. */
  private isNew(call: PendingCall): boolean {
    const text = JSON.stringify(call);
    if (this.known.get(call.id) === text) return false;
    this.known.delete(call.id);
    this.known.set(call.id, text);
    const oldest = this.known.keys().next();
    if (this.known.size > KNOWN_MAX && !oldest.done) this.known.delete(oldest.value);
    return true;
  }
}

function asOf(answer: Answered<'listPending'>): number {
  return Number(answer.headers.get('dormouse-as-of') ?? 0);
}
