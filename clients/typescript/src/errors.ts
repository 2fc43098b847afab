import type { Code, Problem } from './api.gen.js';

const REMEDIES: Record<string, string> = {
  fix: 'Change the request.',
  retry: 'The same request may succeed later.',
  stop: 'The answer is final; do not repeat the request.',
  reopen: 'Send a prompt with reopen: true.',
};

/** The base class of all errors of this package. No error contains the token. */
export class DormouseError extends Error {
  override name = 'DormouseError';
}

/**
 * The server refused the request: its problem document. `code` says why (docs/errors), `next` what
 * to do.
 */
export class Refusal extends DormouseError {
  override name = 'Refusal';
  constructor(
    /** HTTP status. */
    readonly status: number,
    /** The whole problem document. */
    readonly problem: Partial<Problem>,
    /** Seconds of the header Retry-After, or null. */
    readonly retryAfter: number | null,
  ) {
    super(problem.detail ?? problem.title ?? `The server answered ${status}.`);
  }
  /** One of the codes of docs/errors; empty if the server sent none. */
  get code(): Code | '' {
    return this.problem.code ?? '';
  }
  /** `fix`, `retry`, `stop` or `reopen`; null if the server sent none. */
  get next(): Problem['next'] | null {
    return this.problem.next ?? null;
  }
  /** What to do, as a sentence. */
  get remedy(): string {
    return REMEDIES[this.problem.next ?? ''] ?? 'Read the log of the server.';
  }
  /** Milliseconds to wait before the request may succeed, or null. */
  get retryAfterMs(): number | null {
    const said = this.problem.retryAfter ?? 0;
    const header = (this.retryAfter ?? 0) * 1000;
    return Math.max(said, header) || null;
  }
}

/** No answer: the server cannot be reached, or the connection ended before the answer did. */
export class ConnectionFailed extends DormouseError {
  override name = 'ConnectionFailed';
}

/** The time limit of the call passed. The request may have been carried out. */
export class TimedOut extends DormouseError {
  override name = 'TimedOut';
}

/** The answer has more bytes than `maxResponseBytes`. */
export class ResponseTooLarge extends DormouseError {
  override name = 'ResponseTooLarge';
}

/**
 * The responder does not implement this API: HTML, another media type, a redirect, or a value that
 * is not JSON.
 */
export class UnexpectedResponse extends DormouseError {
  override name = 'UnexpectedResponse';
  constructor(
    /** HTTP status; 0 if it is not known. */
    readonly status: number,
    message: string,
    /** Seconds of the header Retry-After, or null. */
    readonly retryAfter: number | null = null,
  ) {
    super(message);
  }
}
