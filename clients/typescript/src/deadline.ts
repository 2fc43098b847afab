import { TimedOut } from './errors.js';

/** A time limit and a caller's signal as one signal. Call `end` when the work has ended. */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly timer: ReturnType<typeof setTimeout> | null = null;
  private readonly ends: number;
  expired = false;

  /** `ms` null: no limit. */
  constructor(
    private readonly ms: number | null,
    private readonly caller?: AbortSignal,
  ) {
    this.ends = ms === null ? Infinity : Date.now() + ms;
    if (ms !== null) {
      this.timer = setTimeout(() => {
        this.expired = true;
        this.controller.abort();
      }, ms);
    }
    if (caller?.aborted) this.abort();
    else caller?.addEventListener('abort', this.abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Milliseconds; Infinity without a limit. */
  get left(): number {
    return Math.max(0, this.ends - Date.now());
  }

  private readonly abort = (): void => this.controller.abort();

  end(): void {
    if (this.timer) clearTimeout(this.timer);
    this.caller?.removeEventListener('abort', this.abort);
  }

  /** Throws the caller's reason, or TimedOut; nothing if neither has happened. */
  check(): void {
    if (this.caller?.aborted) throw this.caller.reason;
    if (this.expired) throw new TimedOut(`No answer within ${this.ms} ms.`);
  }

  /** Waits; ends early, with an error, when the limit passes or the caller aborts. */
  async sleep(ms: number): Promise<void> {
    this.check();
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.signal.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.signal.addEventListener('abort', done, { once: true });
    });
    this.check();
  }
}
