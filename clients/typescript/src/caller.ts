// How operations of openapi.json are called: repeated, bounded in time, page by page.
import { operations, type Operations } from './api.gen.js';
import { Deadline } from './deadline.js';
import { ConnectionFailed, Refusal, UnexpectedResponse } from './errors.js';
import { HttpClient, type Answered, type HttpOptions, type Request } from './http.js';

const WAIT_S = 50; // the longest `wait` of the server
const GRACE_MS = 30_000; // for an answer, beside what the server waits
const PAUSE_MS = [100, 200, 500, 1000, 2000, 5000];
// Operations without a key that change nothing when they are repeated.
const REPEATABLE = new Set<string>([
  'submitResult',
  'submitResults',
  'submitError',
  'submitDecision',
  'submitProgress',
  'cancelPending',
  'cancelAsked',
  'claimPending',
  'reassignPending',
  'patchSession',
  'cancelSession',
  'cancelTask',
  'attachSession',
  'importMore',
]);

// Deletions that answer a repeated request as the first one.
const CANCELS = new Set<string>(['cancelPending', 'cancelAsked']);

export interface ClientOptions extends HttpOptions {
  /** Where sessions are made and lists are read. Default: `default`. */
  project?: string;
  /** Limit of one call, with its repetitions, in ms. Default: 60000. */
  timeoutMs?: number;
  /** How long waits and iterators endure a server that does not answer, in ms. Default: 300000. */
  outageMs?: number;
}

export interface CallOptions {
  /** Ends the call: it throws the signal's reason. */
  signal?: AbortSignal;
  /** Limit in ms; then it throws what the attempt before met, or TimedOut. */
  timeoutMs?: number;
}

export interface KeyedOptions extends CallOptions {
  /**
   * The same key with the same body is done once. Default: a new one for each call, kept over its
   * repetitions.
   */
  idempotencyKey?: string;
}

export type Settings = { timeoutMs?: number | null; signal?: AbortSignal; waitS?: number };

// Browsers have crypto.randomUUID only on pages that came over TLS.
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');

/** See Client. */
export class Caller extends HttpClient {
  readonly project: string;
  private readonly timeoutMs: number;
  protected readonly outageMs: number;

  constructor(options: ClientOptions = {}) {
    super(options);
    this.project = options.project ?? 'default';
    this.timeoutMs = options.timeoutMs ?? 60_000;
    this.outageMs = options.outageMs ?? 300_000;
  }

  /**
   * Any operation of `openapi.json` by its name, repeated as all calls are; for what has no
   * method.
   */
  override async call<Name extends keyof Operations>(
    name: Name,
    request: Request<Name> = {},
    options: CallOptions = {},
  ): Promise<Operations[Name]['answer']> {
    return (await this.repeated(name, request, { signal: request.signal, ...options })).value;
  }

  protected async *pages<Item>(
    name: 'listSessions' | 'listProjects' | 'listMessages' | 'listTurns' | 'listPending',
    path: Record<string, string>,
    query: Record<string, string | number | boolean | undefined>,
    options: CallOptions,
  ): AsyncGenerator<Item, void, undefined> {
    let cursor: string | null = null;
    do {
      const request = {
        path,
        query: { limit: 200, ...query, cursor: cursor ?? undefined },
      } as Request<typeof name>;
      const page: { items: unknown[]; next: string | null } = await this.call(
        name,
        request,
        options,
      );
      yield* page.items as Item[];
      cursor = page.next;
    } while (cursor !== null);
  }

  /** Asks with `wait` until `isDone`, or until the caller's limit. */
  protected async waited<Name extends 'getSession' | 'getPending' | 'getTaskOutput' | 'prompt'>(
    name: Name,
    request: Request<Name>,
    options: Settings,
    isDone: (answer: Answered<Name>) => boolean,
  ): Promise<Operations[Name]['answer']> {
    const deadline = new Deadline(options.timeoutMs ?? null, options.signal);
    try {
      for (;;) {
        const waitS = Math.min(WAIT_S, Math.ceil(deadline.left / 1000));
        const query = { ...request.query, wait: waitS } as Request<Name>['query'];
        const settings = {
          signal: deadline.signal,
          waitS,
          timeoutMs: waitS * 1000 + this.outageMs,
        };
        const answer = await this.repeated(name, { ...request, query }, settings);
        if (isDone(answer)) return answer.value;
        deadline.check();
      }
    } catch (error) {
      if (deadline.signal.aborted) deadline.check();
      throw error;
    } finally {
      deadline.end();
    }
  }

  protected repeated<Name extends keyof Operations>(
    name: Name,
    request: Request<Name>,
    settings: Settings,
  ): Promise<Answered<Name>> {
    const [method, , keyed] = operations[name];
    const key: Record<string, string> = keyed ? { 'idempotency-key': newKey() } : {};
    const headers = { ...key, ...request.headers };
    const repeatable = keyed || method === 'GET' || method === 'DELETE' || REPEATABLE.has(name);
    let sent = 0;
    return this.retried(repeatable, settings, async (signal) => {
      try {
        sent += 1;
        return await this.request(name, { ...request, headers, signal });
      } catch (error) {
        // The first of two deletions succeeded, and its answer was lost.
        const gone = error instanceof Refusal && [404, 410].includes(error.status);
        if (sent === 1 || method !== 'DELETE' || CANCELS.has(name) || !gone) throw error;
        return {
          status: 204,
          headers: new Headers(),
          value: undefined as Operations[Name]['answer'],
        };
      }
    });
  }

  protected async retried<T>(
    repeatable: boolean,
    settings: Settings,
    once: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const deadline = new Deadline(settings.timeoutMs ?? this.timeoutMs, settings.signal);
    try {
      deadline.check();
      let earlier: unknown = null;
      for (let tries = 0; ; tries += 1) {
        try {
          return await this.attempt(deadline, settings.waitS ?? 0, once);
        } catch (error) {
          // What an attempt before the limit met says more than the limit.
          if (earlier && deadline.expired && !settings.signal?.aborted) throw earlier;
          deadline.check();
          earlier = error;
          const pause = pauseBefore(error, tries, repeatable);
          if (pause === null || pause >= deadline.left) throw error;
          await deadline.sleep(pause);
        }
      }
    } finally {
      deadline.end();
    }
  }

  /** One attempt; a server that does not answer at all counts as one that cannot be reached. */
  private async attempt<T>(
    deadline: Deadline,
    waitS: number,
    once: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const limit = new Deadline(waitS * 1000 + GRACE_MS, deadline.signal);
    try {
      return await once(limit.signal);
    } catch (error) {
      if (limit.expired)
        throw new ConnectionFailed(`No answer within ${waitS * 1000 + GRACE_MS} ms.`);
      throw error;
    } finally {
      limit.end();
    }
  }
}

/** Milliseconds to wait before the call is repeated; null: it is not. */
function pauseBefore(error: unknown, tries: number, repeatable: boolean): number | null {
  const backOff =
    (PAUSE_MS[Math.min(tries, PAUSE_MS.length - 1)] ?? 0) * (0.75 + Math.random() / 2);
  if (error instanceof ConnectionFailed) return repeatable ? backOff : null;
  if (error instanceof UnexpectedResponse) {
    const passing = [429, 502, 503, 504].includes(error.status) && repeatable;
    return passing ? Math.max((error.retryAfter ?? 0) * 1000, backOff) : null;
  }
  if (!(error instanceof Refusal) || error.next !== 'retry') return null;
  // 429: nothing was done. After 408 or 503 that is not certain.
  const passing = error.status === 429 || (repeatable && [408, 503].includes(error.status));
  return passing ? (error.retryAfterMs ?? backOff) : null;
}
