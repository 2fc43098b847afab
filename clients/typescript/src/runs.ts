// Runs of programs of other frameworks: their state and their questions are kept by the server.
import type { AskRequest, AskedCall, PendingCall } from './api.gen.js';
import type { Client } from './client.js';
import { DormouseError, Refusal } from './errors.js';

const STATE_TOOL = 'run.state';
const STATE_MAX = 7 << 20; // bytes; a request has at most 8 MiB
const KEPT_MS = 365 * 24 * 3_600_000;
const ID = /^[A-Za-z0-9_.:-]{1,128}$/;

/** What a person or a job said. */
export interface Outcome {
  /** false: denied, expired, cancelled or failed. */
  approved: boolean;
  /** Why it was denied, expired, cancelled or failed; null: no reason was given. */
  reason: string | null;
  /** The answer or the result; null for an approval. */
  value: unknown;
  /** The settled call, with its receipt. */
  call: PendingCall;
}

/** A question that has no answer and gets none: it expired, was cancelled, or its job failed. */
export class NotAnswered extends DormouseError {
  override name = 'NotAnswered';
  constructor(readonly outcome: Outcome) {
    super(`"${outcome.call.message ?? outcome.call.tool}" has no answer: ${outcome.reason}`);
  }
}

/** Another program continued the run from the same state, and its state is the one that is kept. */
export class RunTaken extends DormouseError {
  override name = 'RunTaken';
}

export interface RunOptions {
  project?: string;
  /** Ends the waiting; the run stays as it is, and continues when it is opened again. */
  signal?: AbortSignal;
  /** How long each question is waited for, in ms, else TimedOut; it stays open. Default: no limit. */
  waitMs?: number;
  /** Added to each question: answer, withinMs, onDeadline, webhookURL, … */
  ask?: Partial<AskRequest>;
  /** Is called with each question before it is waited for. */
  onWaiting?: (asked: AskedCall) => void;
}

type Stored<State> = { state: State } | { output: unknown };

/**
 * A run of a program that may be killed at any time: `open` finds the state that was saved last,
 * and each question of that state, whether it was answered meanwhile or not.
 */
export class Run<State> {
  private constructor(
    private readonly client: Client,
    /** Chosen by the program, such as the number of an order; unique within the project. */
    readonly id: string,
    private readonly options: RunOptions,
    private number: number,
    private stored: Stored<State> | null,
  ) {}

  /** The run with that id, new or not. `id`: 1 to 128 of the characters A-Z a-z 0-9 _ . : - */
  static async open<State>(
    client: Client,
    id: string,
    options: RunOptions = {},
  ): Promise<Run<State>> {
    if (!ID.test(id)) throw new DormouseError(`The id of a run must match ${ID.source}.`);
    const { signal } = options;
    const project = options.project ?? client.project;
    const query = { project, externalRef: id, tool: STATE_TOOL, status: 'completed', limit: 1 };
    const newest = (await client.call('listPending', { query } as object, { signal })).items[0];
    if (!newest) return new Run<State>(client, id, options, 0, null);
    const { number } = newest.input as { number: number };
    return new Run(client, id, options, number, await read<State>(client, newest, signal));
  }

  /** The state that was saved last; null: none was, or the run has ended. */
  get state(): State | null {
    return this.stored && 'state' in this.stored ? this.stored.state : null;
  }

  /** {output} of a run that has ended; null: it has not. */
  get ended(): { output: unknown } | null {
    return this.stored && 'output' in this.stored ? this.stored : null;
  }

  /** Keeps a state: any JSON value of at most 7 MiB. RunTaken: another program was faster. */
  save(state: State): Promise<void> {
    return this.keep({ state });
  }

  /** Keeps the output, which `ended` has from then on, and returns it. */
  async end<Output>(output: Output): Promise<Output> {
    await this.keep({ output: output ?? null });
    return output;
  }

  /**
   * Asks once for each `key` and saved state, also across restarts of program and server, and
   * waits for the outcome.
   */
  ask(key: string, request: AskRequest): Promise<Outcome> {
    return askOnce(this.client, `${this.id}/${this.number}/${key}`, request, this.options);
  }

  private async keep(stored: Stored<State>): Promise<void> {
    const bytes = new TextEncoder().encode(JSON.stringify(stored)).length;
    if (bytes > STATE_MAX)
      throw new DormouseError(
        `The state of run "${this.id}" must be at most 7 MiB; it has ${bytes} bytes.`,
      );
    const number = this.number + 1;
    const { call } = await makeOnce(
      this.client,
      `${this.id}/${number}`,
      {
        question: `State ${number} of run ${this.id}`,
        kind: 'result',
        tool: STATE_TOOL,
        arguments: { run: this.id, number },
        withinMs: KEPT_MS,
        externalRef: this.id,
      },
      { project: this.options.project, signal: this.options.signal },
    );
    try {
      await this.client.submitResult(call.id, stored, { signal: this.options.signal });
    } catch (error) {
      if (!(error instanceof Refusal) || ![409, 410].includes(error.status)) throw error;
      throw new RunTaken(
        `Another program has continued run "${this.id}" from state ${this.number}; its state is kept.`,
      );
    }
    this.number = number;
    this.stored = stored;
  }
}

/**
 * Asks once for each `key`, also across restarts of program and server, and waits for the outcome.
 * The same key again finds its question, also if the program asks in other words now.
 */
export async function askOnce(
  client: Client,
  key: string,
  request: AskRequest,
  options: RunOptions = {},
): Promise<Outcome> {
  const { signal, waitMs, onWaiting } = options;
  const asked = await makeOnce(
    client,
    key,
    { ...request, ...fitting(request, options.ask) },
    options,
  );
  if (['waiting', 'processing'].includes(asked.call.status)) onWaiting?.(asked);
  return outcomeOf(await client.wait(asked.call.id, { signal, timeoutMs: waitMs }));
}

/** The pending call of that key, which is made if there is none. */
async function makeOnce(
  client: Client,
  key: string,
  request: AskRequest,
  { project, signal }: Pick<RunOptions, 'project' | 'signal'>,
): Promise<AskedCall> {
  const digest = await digestOf(key);
  const { question, externalRef = digest, ...rest } = request;
  const where = { project: project ?? client.project };
  try {
    return await client.ask(question, {
      ...rest,
      ...where,
      externalRef,
      idempotencyKey: digest,
      signal,
    });
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'idempotency_mismatch') throw error;
    // The program was changed since it asked: the question that people see stays.
    const query = { ...where, externalRef, changedSince: 0, limit: 1 };
    const call = (await client.call('listPending', { query } as object, { signal })).items[0];
    if (!call) throw error;
    return { pendingID: call.id, sessionID: call.sessionID, answerURL: '', duplicate: true, call };
  }
}

/** What a settled call says. */
export function outcomeOf(call: PendingCall): Outcome {
  const done = call.status === 'completed';
  const reasons: Record<string, string | null | undefined> = {
    completed: call.decision?.reason,
    failed: call.error,
    cancelled: call.cancelReason ?? 'cancelled',
    expired: 'nobody answered in time',
  };
  return {
    approved: done && (call.decision?.approved ?? true),
    reason: reasons[call.status] ?? null,
    value: call.result?.output ?? null,
    call,
  };
}

const KNOWN = ['question', 'kind', 'tool', 'arguments', 'choices', 'schema'] as const;

/**
 * The question of a value that a framework hands out when it pauses: a text is the question; of an
 * object `question`, `kind`, `tool`, `arguments`, `choices` and `schema` are used; anything else is
 * shown below `otherwise`. Without `kind`, choices and schema it is an approval.
 */
export function questionOf(value: unknown, otherwise: string): AskRequest {
  if (typeof value === 'string' && value.trim()) return { question: value, kind: 'answer' };
  const given = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (typeof given.question !== 'string')
    return { question: otherwise, kind: 'answer', arguments: { value } };
  const known = Object.fromEntries(KNOWN.map((name) => [name, given[name]])) as Partial<AskRequest>;
  const isAnswer = given.choices !== undefined || given.schema !== undefined;
  return { question: '', ...known, kind: known.kind ?? (isAnswer ? 'answer' : 'approval') };
}

/** What a paused step is resumed with: {approved, reason} of an approval, else the answer. */
export function resumeValue(
  outcome: Outcome,
  onUnanswered?: (outcome: Outcome) => unknown,
): unknown {
  const { approved, reason, value, call } = outcome;
  if (call.reason === 'approval') return reason === null ? { approved } : { approved, reason };
  if (approved) return value;
  if (onUnanswered) return onUnanswered(outcome);
  throw new NotAnswered(outcome);
}

/** A name in the form of the `tool` of a call. */
export function toolOf(name: string): string {
  return name.replace(/[^A-Za-z0-9_.:/-]/g, '_').slice(0, 128) || 'tool';
}

/** Arguments as the object that a call has: other values are its member `value`. */
export function argumentsOf(value: unknown): Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : { value };
}

/** Options for all questions, without those that a question of this kind cannot have. */
function fitting(request: AskRequest, common: Partial<AskRequest> = {}): Partial<AskRequest> {
  const { onDeadline, answer, remindAfterMs, remindEveryMs, ...rest } = common;
  if (request.kind === 'result') return rest;
  const people = { ...rest, answer, remindAfterMs, remindEveryMs };
  return request.kind === 'approval' ? { ...people, onDeadline } : people;
}

async function read<State>(
  client: Client,
  call: PendingCall,
  signal?: AbortSignal,
): Promise<Stored<State>> {
  const output = call.result?.output as { truncated?: boolean; artifactID?: string };
  if (!output.truncated || !output.artifactID) return output as Stored<State>;
  const { bytes } = await client.getArtifact(output.artifactID, { signal });
  return JSON.parse(new TextDecoder().decode(bytes)) as Stored<State>;
}

async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
