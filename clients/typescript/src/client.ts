import type { Operations } from './api.gen.js';
import type * as Api from './api.gen.js';
import { readBytes } from './body.js';
import { Caller, newKey, type CallOptions, type KeyedOptions, type Settings } from './caller.js';
import { Changes, type ChangesOptions } from './changes.js';
import { search } from './http.js';
import type { Artifact, AskOptions, Body, EventsOptions, PromptInput } from './options.js';
import { EventStream } from './stream.js';

const BATCH = 1000;

const inputOf = (input: PromptInput): Api.Input =>
  (typeof input === 'string' ? { text: input } : { parts: input }) as Api.Input;
const idOf = (call: string | { id: string }): string => (typeof call === 'string' ? call : call.id);

function split<T extends Settings & { idempotencyKey?: string }>(options: T) {
  const { timeoutMs, signal, idempotencyKey, ...rest } = options;
  const headers: Record<string, string> = { 'idempotency-key': idempotencyKey ?? newKey() };
  return { settings: { timeoutMs, signal }, headers, rest };
}

/**
 * Sessions, prompts, pending calls, results, tasks and mail of one server.
 *
 * Each call is repeated, within `timeoutMs`, when the connection fails or the server asks to come
 * back later (`Retry-After` is obeyed), if repeating it changes nothing: reads, submissions, and
 * what has an idempotency key. Throws Refusal (the server says no), ConnectionFailed, TimedOut,
 * ResponseTooLarge or UnexpectedResponse.
 */
export class Client extends Caller {
  // ---- sessions

  /** Makes a session of an agent; with `prompt` its first turn begins. Returns the Session. */
  async createSession(
    agentID: string,
    options: KeyedOptions & { project?: string; prompt?: PromptInput } & Omit<
        Body<'createSession'>,
        'agentID' | 'prompt'
      > = {},
  ): Promise<Api.Session> {
    const { settings, headers, rest } = split(options);
    const { project, prompt, ...more } = rest;
    const body = { agentID, ...more, ...(prompt === undefined ? {} : { prompt: inputOf(prompt) }) };
    const path = { project: project ?? this.project };
    return (
      await this.repeated(
        'createSession',
        { path, headers, body: body as Body<'createSession'> },
        settings,
      )
    ).value;
  }

  /** The Session. */
  getSession(sessionID: string, options: CallOptions = {}): Promise<Api.Session> {
    return this.call('getSession', { path: { id: sessionID } }, options);
  }

  /** Sessions, newest first, page by page; `state` and `q` as in the HTTP reference. */
  listSessions(
    options: CallOptions & { project?: string; state?: string; q?: string; alias?: string } = {},
  ): AsyncGenerator<Api.Session, void, undefined> {
    const { project, timeoutMs, signal, ...query } = options;
    return this.pages<Api.Session>('listSessions', { project: project ?? this.project }, query, {
      timeoutMs,
      signal,
    });
  }

  /** Projects that the token may see: its own, or those that have sessions. */
  listProjects(options: CallOptions = {}): AsyncGenerator<Api.Project, void, undefined> {
    return this.pages<Api.Project>('listProjects', {}, {}, options);
  }

  /** Changes title, alias or labels. Returns the Session. */
  updateSession(
    sessionID: string,
    changes: Api.PatchRequest,
    options: CallOptions = {},
  ): Promise<Api.Session> {
    return this.call('patchSession', { path: { id: sessionID }, body: changes }, options);
  }

  /** Deletes it: open calls are cancelled, its streams end. */
  async deleteSession(sessionID: string, options: CallOptions = {}): Promise<void> {
    await this.call('deleteSession', { path: { id: sessionID } }, options);
  }

  /**
   * Completes it: open calls, the turn and the queue are cancelled. Not repeated after a lost
   * connection.
   */
  endSession(sessionID: string, options: CallOptions = {}): Promise<Api.Session> {
    return this.call('endSession', { path: { id: sessionID }, body: {} }, options);
  }

  /** A paused session becomes active. Not repeated after a lost connection. */
  resumeSession(sessionID: string, options: CallOptions = {}): Promise<Api.Session> {
    return this.call('resumeSession', { path: { id: sessionID }, body: {} }, options);
  }

  /**
   * A session whose last turn failed asks the model again. Not repeated after a lost connection.
   */
  retrySession(sessionID: string, options: CallOptions = {}): Promise<Api.Session> {
    return this.call('retrySession', { path: { id: sessionID }, body: {} }, options);
  }

  /** A new session with the transcript up to `seq` (default: the newest). Returns it. */
  async forkSession(
    sessionID: string,
    options: KeyedOptions & { seq?: number; title?: string } = {},
  ): Promise<Api.Session> {
    const { settings, headers, rest } = split(options);
    return (
      await this.repeated('forkSession', { path: { id: sessionID }, headers, body: rest }, settings)
    ).value;
  }

  /** Cancels the open turn and its calls; with `all` also the queue. Returns the Session. */
  cancel(
    sessionID: string,
    options: CallOptions & { all?: boolean; reason?: string } = {},
  ): Promise<Api.Session> {
    const { all, reason, ...settings } = options;
    const body = { ...(all ? { all } : {}), ...(reason === undefined ? {} : { reason }) };
    return this.call(
      'cancelSession',
      { path: { id: sessionID }, body: body as Api.CancelRequest },
      settings,
    );
  }

  /**
   * Waits until it is idle, or sleeps because calls are open. Returns the Session. No limit
   * without `timeoutMs`.
   */
  waitSession(sessionID: string, options: CallOptions = {}): Promise<Api.Session> {
    return this.waited('getSession', { path: { id: sessionID } }, options, ({ value }) =>
      ['idle', 'waiting_async'].includes(value.activity.type),
    );
  }

  /** Messages, oldest first. */
  listMessages(
    sessionID: string,
    options: CallOptions = {},
  ): AsyncGenerator<Api.Message, void, undefined> {
    return this.pages<Api.Message>('listMessages', { id: sessionID }, {}, options);
  }

  /** Turns, oldest first. */
  listTurns(
    sessionID: string,
    options: CallOptions = {},
  ): AsyncGenerator<Api.Turn, void, undefined> {
    return this.pages<Api.Turn>('listTurns', { id: sessionID }, {}, options);
  }

  // ---- prompts

  /** Sends a prompt and returns once it is durable: turnID, messageID, seq, queuedBehind. */
  async prompt(
    sessionID: string,
    input: PromptInput,
    options: KeyedOptions & Omit<Api.PromptRequest, 'text' | 'parts'> = {},
  ): Promise<Api.Accepted> {
    const { settings, headers, rest } = split(options);
    const body = { ...inputOf(input), ...rest } as Api.PromptRequest;
    return (await this.repeated('prompt', { path: { id: sessionID }, headers, body }, settings))
      .value as Api.Accepted;
  }

  /**
   * Sends a prompt and waits until its turn has ended or sleeps. Returns the Turn. No limit
   * without `timeoutMs`.
   */
  async run(
    sessionID: string,
    input: PromptInput,
    options: KeyedOptions & Omit<Api.PromptRequest, 'text' | 'parts'> = {},
  ): Promise<Api.Turn> {
    const { settings, headers, rest } = split(options);
    const body = { ...inputOf(input), ...rest } as Api.PromptRequest;
    // The same key again is the same prompt: the server waits for the turn that it began.
    const turn = await this.waited(
      'prompt',
      { path: { id: sessionID }, headers, body },
      settings,
      (one) => one.status === 200,
    );
    return turn as Api.Turn;
  }

  // ---- events

  /**
   * Events of a session, from its first or from `after`; continues across restarts of the server.
   */
  events(sessionID: string, options: EventsOptions = {}): EventStream {
    const { view, children } = options;
    return this.stream(
      `/api/sessions/${encodeURIComponent(sessionID)}/events${search({ view, children })}`,
      options,
    );
  }

  /**
   * Events of all sessions of a project; `after: 'now'` begins with the next one. Cursors are
   * opaque texts.
   */
  projectEvents(options: Omit<EventsOptions, 'children'> & { project?: string } = {}): EventStream {
    const now = options.after === 'now' ? 'now' : undefined;
    const query = { project: options.project ?? this.project, view: options.view };
    const path = (cursor: string | null): string =>
      `/api/events${search({ ...query, after: cursor ? undefined : now })}`;
    return this.stream(path, now ? { ...options, after: null } : options);
  }

  private stream(
    path: string | ((cursor: string | null) => string),
    options: EventsOptions,
  ): EventStream {
    return new EventStream({
      after: options.after === undefined || options.after === null ? null : String(options.after),
      deltas: options.deltas ?? false,
      outageMs: options.outageMs ?? this.outageMs,
      maxBytes: this.maxBytes,
      signal: options.signal,
      connect: (cursor, signal) => {
        const headers: Record<string, string> = { accept: 'text/event-stream' };
        if (cursor !== null) headers['last-event-id'] = cursor;
        return this.good(typeof path === 'string' ? path : path(cursor), { headers, signal });
      },
    });
  }

  // ---- pending calls

  /**
   * Pending calls of `sessionID`, else of the project, newest first; without `status` those that
   * are open.
   */
  listPending(
    options: CallOptions & {
      sessionID?: string;
      project?: string;
      status?: string;
      tool?: string;
      reason?: string;
      externalRef?: string;
      view?: 'inbox';
    } = {},
  ): AsyncGenerator<Api.PendingCall, void, undefined> {
    const { timeoutMs, signal, ...query } = options;
    const where = query.sessionID ? {} : { project: query.project ?? this.project };
    return this.pages<Api.PendingCall>(
      'listPending',
      {},
      { ...query, ...where },
      { timeoutMs, signal },
    );
  }

  /** The PendingCall. */
  getPending(
    pendingID: string,
    options: CallOptions & { view?: 'inbox' } = {},
  ): Promise<Api.PendingCall> {
    const { view, ...settings } = options;
    return this.call('getPending', { path: { id: pendingID }, query: { view } }, settings);
  }

  /**
   * Waits until the call is settled. Returns the PendingCall with its outcome. No limit without
   * `timeoutMs`.
   */
  wait(pendingID: string, options: CallOptions = {}): Promise<Api.PendingCall> {
    return this.waited('getPending', { path: { id: pendingID } }, options, ({ value }) =>
      ['completed', 'failed', 'expired', 'cancelled'].includes(value.status),
    );
  }

  /**
   * Pending calls that change, as an endless iterator: a long poll by `changedSince` that
   * continues by `cursor`.
   */
  changes(options: ChangesOptions = {}): Changes {
    const { since, signal, ...query } = options;
    const where = query.sessionID ? {} : { project: query.project ?? this.project };
    return new Changes(since ?? null, (more, waitS) =>
      this.repeated(
        'listPending',
        { query: { ...query, ...where, ...more, wait: waitS || undefined } },
        { signal, waitS, timeoutMs: waitS * 1000 + this.outageMs },
      ),
    );
  }

  /**
   * Makes a call without an agent that people or a job settle, and returns at once: the AskedCall.
   * Options are the members of AskRequest (`kind`, `choices`, `answer`, `withinMs`, …). The same
   * `idempotencyKey` finds the same call again, also after it was answered.
   */
  async ask(question: string, options: AskOptions = {}): Promise<Api.AskedCall> {
    const { settings, headers, rest } = split(options);
    const { project, ...members } = rest;
    const query = { project: project ?? this.project };
    const request = { query, headers, body: { question, ...members } };
    return (await this.repeated('ask', request, settings)).value;
  }

  /**
   * Asks, and waits for the outcome: the settled PendingCall. `timeoutMs` limits the wait, which
   * has no limit by default; the question stays open.
   */
  async askAndWait(question: string, options: AskOptions = {}): Promise<Api.PendingCall> {
    const { timeoutMs, ...first } = options;
    const asked = await this.ask(question, first);
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    return this.wait(asked.pendingID, first.signal ? { ...limit, signal: first.signal } : limit);
  }

  /**
   * Approves the call as it was shown: its `inputDigest` is sent. Options: reason, arguments,
   * content, rule.
   */
  approve(
    call: { id: string; inputDigest: string },
    options: CallOptions & Omit<Api.DecisionRequest, 'pendingID' | 'approved' | 'inputDigest'> = {},
  ): Promise<Api.SubmissionAnswer> {
    return this.decide(call, true, options);
  }

  /** Denies the call as it was shown. Options: reason, content. */
  deny(
    call: { id: string; inputDigest: string },
    options: CallOptions & { reason?: string; content?: unknown } = {},
  ): Promise<Api.SubmissionAnswer> {
    return this.decide(call, false, options);
  }

  private decide(
    call: { id: string; inputDigest: string },
    approved: boolean,
    options: CallOptions,
  ): Promise<Api.SubmissionAnswer> {
    const { timeoutMs, signal, ...rest } = options;
    const body = { pendingID: call.id, approved, inputDigest: call.inputDigest, ...rest };
    return this.call(
      'submitDecision',
      { body: body as Api.DecisionRequest },
      { timeoutMs, signal },
    );
  }

  /** Submits the result of a call, or the answer to a question. `output`: any JSON value. */
  submitResult(
    pendingID: string,
    output: unknown,
    options: CallOptions & {
      title?: string;
      metadata?: unknown;
      files?: Api.ResultRequest['files'];
    } = {},
  ): Promise<Api.SubmissionAnswer> {
    const { timeoutMs, signal, files, ...rest } = options;
    const body = { pendingID, result: { output, ...rest }, ...(files ? { files } : {}) };
    return this.call('submitResult', { body: body as Api.ResultRequest }, { timeoutMs, signal });
  }

  /** Submits an error as the outcome of a call. */
  submitError(
    pendingID: string,
    error: string,
    options: CallOptions = {},
  ): Promise<Api.SubmissionAnswer> {
    return this.call('submitError', { body: { pendingID, error } }, options);
  }

  /**
   * Submits many results and errors, 1000 a request. Returns one {pendingID, status, answer,
   * problem} for each.
   */
  async submitResults(
    items: Api.BatchRequest['items'],
    options: CallOptions = {},
  ): Promise<Api.BatchAnswer['items']> {
    const answers: Api.BatchAnswer['items'] = [];
    for (let at = 0; at < items.length; at += BATCH) {
      const body = { items: items.slice(at, at + BATCH) };
      answers.push(...(await this.call('submitResults', { body }, options)).items);
    }
    return answers;
  }

  /**
   * Reports progress of a call: any JSON value of up to 64 KiB. `key`: the same key again changes
   * nothing.
   */
  submitProgress(
    pendingID: string,
    payload: unknown,
    options: CallOptions & { key?: string } = {},
  ): Promise<Api.ProgressAnswer> {
    const { key, ...settings } = options;
    return this.call(
      'submitProgress',
      { body: { pendingID, payload, key: key ?? newKey() } },
      settings,
    );
  }

  /**
   * Claims a call for one of several workers, for `forMs` (default 60000; 0 releases it). Returns
   * the PendingCall.
   */
  claim(
    pendingID: string,
    options: CallOptions & { forMs?: number } = {},
  ): Promise<Api.PendingCall> {
    const { forMs, ...settings } = options;
    const body = forMs === undefined ? {} : { forMs };
    return this.call('claimPending', { path: { id: pendingID }, body }, settings);
  }

  /**
   * Asks other people: 1 to 20 names, or `role:answer`, `role:operate`, `role:admin`. Returns the
   * PendingCall.
   */
  reassign(pendingID: string, to: string[], options: CallOptions = {}): Promise<Api.PendingCall> {
    return this.call('reassignPending', { path: { id: pendingID }, body: { to } }, options);
  }

  /** Cancels one call; the model reads the reason. */
  cancelPending(
    call: string | { id: string },
    options: CallOptions & { reason?: string } = {},
  ): Promise<Api.SubmissionAnswer> {
    const { reason, ...settings } = options;
    return this.call('cancelPending', { path: { id: idOf(call) }, query: { reason } }, settings);
  }

  // ---- tasks

  /** Starts a background task: a child session of `agentID` with that prompt. Returns the Task. */
  async startTask(
    sessionID: string,
    agentID: string,
    prompt: string,
    options: KeyedOptions & Omit<Api.TaskRequest, 'agentID' | 'prompt'> = {},
  ): Promise<Api.Task> {
    const { settings, headers, rest } = split(options);
    const body = { agentID, prompt, ...rest };
    return (await this.repeated('startTask', { path: { id: sessionID }, headers, body }, settings))
      .value;
  }

  /** Tasks of a session, oldest first; with `tree` each has `tasks`. */
  async listTasks(
    sessionID: string,
    options: CallOptions & { tree?: boolean } = {},
  ): Promise<Api.Task[]> {
    const { tree, ...settings } = options;
    return (await this.call('listTasks', { path: { id: sessionID }, query: { tree } }, settings))
      .items;
  }

  /** Sends a further message to a completed task. Returns the Task. */
  async resumeTask(taskID: string, message: string, options: KeyedOptions = {}): Promise<Api.Task> {
    const { settings, headers } = split(options);
    return (
      await this.repeated(
        'resumeTask',
        { path: { id: taskID }, headers, body: { message } },
        settings,
      )
    ).value;
  }

  /**
   * Waits until the task's run has ended. Returns the Task with its result. No limit without
   * `timeoutMs`.
   */
  waitTask(taskID: string, options: CallOptions = {}): Promise<Api.Task> {
    return this.waited(
      'getTaskOutput',
      { path: { id: taskID } },
      options,
      (one) => one.status === 200,
    );
  }

  /** Cancels the run of a task. Returns the Task; nothing for a call, which is cleared with it. */
  cancelTask(
    taskID: string,
    options: CallOptions & { reason?: string } = {},
  ): Promise<Api.Task | undefined> {
    const { reason, ...settings } = options;
    const body = reason === undefined ? {} : { reason };
    return this.call('cancelTask', { path: { id: taskID }, body }, settings);
  }

  /** Removes a task; its session ends. */
  async clearTask(taskID: string, options: CallOptions = {}): Promise<void> {
    await this.call('clearTask', { path: { id: taskID } }, options);
  }

  // ---- mail

  /**
   * Sends mail to one or more sessions (ids or aliases); without `to` to every alias of the
   * project.
   */
  async sendMail(
    text: string,
    options: KeyedOptions & { project?: string } & Omit<Api.MailRequest, 'text'> = {},
  ): Promise<Api.MailAnswer> {
    const { settings, headers, rest } = split(options);
    const { project, ...more } = rest;
    const query = { project: project ?? this.project };
    return (await this.repeated('sendMail', { query, headers, body: { text, ...more } }, settings))
      .value;
  }

  /** The state of a mail, for each receiver. */
  getMail(mailID: string, options: CallOptions = {}): Promise<Api.MailState> {
    return this.call('getMail', { path: { id: mailID } }, options);
  }

  /** The mail of a session, oldest first, after number `after`. */
  async *listInbox(
    sessionID: string,
    options: CallOptions & { after?: number; status?: Api.Mail['status'] } = {},
  ): AsyncGenerator<Api.Mail, void, undefined> {
    const { status, after: first, ...settings } = options;
    let after: string | number | null | undefined = first;
    do {
      const query = { after, status, limit: 200 } as Operations['listInbox']['query'];
      const page: Api.Inbox = await this.call(
        'listInbox',
        { path: { id: sessionID }, query },
        settings,
      );
      yield* page.items;
      after = page.next;
    } while (after !== null);
  }

  // ---- artifacts and the server

  /** The bytes of an artifact, up to `maxResponseBytes`. */
  async getArtifact(artifactID: string, options: CallOptions = {}): Promise<Artifact> {
    return this.retried(true, options, async (signal) => {
      const path = `/api/artifacts/${encodeURIComponent(artifactID)}`;
      const response = await this.good(path, { signal });
      const bytes = await readBytes(response, this.maxBytes);
      const digest = response.headers.get('etag')?.replaceAll('"', '') ?? '';
      return { bytes, mime: response.headers.get('content-type') ?? '', digest };
    });
  }

  /** Agents that sessions can have. */
  async listAgents(options: CallOptions = {}): Promise<Api.Agent[]> {
    return (await this.call('listAgents', {}, options)).items;
  }

  /** The identity of the token: name, role, kind, projects, expires. */
  me(options: CallOptions = {}): Promise<Api.Me> {
    return this.call('getMe', {}, options);
  }

  /** The submission that settled a call, and the step that used it. `id`: any id of Dormouse. */
  explain(id: string, options: CallOptions = {}): Promise<Api.Explanation> {
    return this.call('explain', { path: { id } }, options);
  }
}
