// A server for one test, in a folder of its own: the binary that $DORMOUSE names.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from '@playwright/test';
import type { PendingCall, Session } from '../../../clients/typescript/src/index.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const BINARY = process.env['DORMOUSE'] ?? join(ROOT, 'build/release/dormouse');
const READY_MS = 20_000;
const STOP_MS = 10_000;

/** Without variables that lead the binary to another server, token or folder. */
function environment(more: Record<string, string>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(DORMOUSE|XDG_)/.test(name));
  return { ...Object.fromEntries(kept), ...more };
}

export interface Answer<T> {
  status: number;
  body: T;
  text: string;
}

/** Requests with one token; none: nobody is signed in. */
export class Api {
  constructor(
    readonly url: string,
    readonly token: string | null,
  ) {}

  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer<T>> {
    const headers: Record<string, string> = {};
    if (this.token) headers['authorization'] = `Bearer ${this.token}`;
    if (body !== undefined) headers['content-type'] = 'application/json';
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(this.url + path, { method, headers, ...sent });
    const text = await answer.text();
    const json = (answer.headers.get('content-type') ?? '').includes('json');
    return { status: answer.status, text, body: (json ? JSON.parse(text) : null) as T };
  }

  /** The body of an answer of status 2xx; any other answer is a failure of the test. */
  async ok<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const answer = await this.call<T>(method, path, body);
    if (answer.status < 200 || answer.status > 299)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  }
}

export class Server {
  readonly own = mkdtempSync(join(tmpdir(), 'dormouse-browser-'));
  readonly data = join(this.own, 'data');
  port = 0;
  api = new Api('', null);
  private readonly config: string[];
  private process: ChildProcess | null = null;
  private clock: Duplex | null = null;
  /** Milliseconds that its clock is ahead, also after a restart. */
  private ahead = 0;

  constructor(
    config: string,
    files: Record<string, string> = {},
    private readonly env: Record<string, string> = {},
  ) {
    const path = join(this.own, 'dormouse.toml');
    writeFileSync(path, config);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.own, name), text);
    this.config = config ? ['--config', path] : ['--no-config'];
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Returns when it says that it is ready. It keeps its port, so that pages find it again. */
  async start(): Promise<void> {
    const log = openSync(join(this.own, 'log'), 'a');
    const listen = ['--listen', `127.0.0.1:${this.port}`, '--ready-fd', '3'];
    this.process = spawn(BINARY, ['serve', '--data', this.data, ...listen, ...this.config], {
      stdio: ['ignore', log, log, 'pipe', 'pipe'],
      env: environment({ ...this.env, DORMOUSE_TEST_CLOCK_FD: '4' }),
    });
    closeSync(log);
    this.clock = this.process.stdio[4] as Duplex;
    if (this.ahead) this.clock.write(`advance ${this.ahead}\n`);
    const ready = await this.line(this.process.stdio[3] as Duplex, 'its ready line');
    this.port = Number(/:(\d+)$/.exec(ready.trim())?.[1]);
    if (this.ahead) await this.line(this.clock, 'its clock');
    this.api = this.as(readFileSync(join(this.data, 'token'), 'utf8').trim());
  }

  private async line(stream: Duplex, what: string): Promise<string> {
    const timer = setTimeout(() => stream.destroy(new Error(`${what} did not come`)), READY_MS);
    let text = '';
    const error = await (async () => {
      while (!text.includes('\n')) text += String((await once(stream, 'data'))[0]);
    })().catch((problem: unknown) => problem);
    clearTimeout(timer);
    if (error) throw new Error(`${String(error)}; the log:\n${this.log()}`);
    return text;
  }

  log(): string {
    return readFileSync(join(this.own, 'log'), 'utf8').slice(-4000);
  }

  as(token: string | null): Api {
    return new Api(this.url, token);
  }

  /** Moves its clock; returns when everything that became due has begun. */
  async advance(seconds: number): Promise<void> {
    this.ahead += seconds * 1000;
    this.clock?.write(`advance ${seconds * 1000}\n`);
    expect(await this.line(this.clock as Duplex, 'its clock')).toBe('ok\n');
  }

  get alive(): boolean {
    return this.process !== null && this.process.exitCode === null && !this.process.killed;
  }

  private async signal(name: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const { process: child } = this;
    if (!child) return null;
    const ended = once(child, 'exit');
    child.kill(name);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
    const [status] = (await ended) as [number | null];
    clearTimeout(timer);
    this.process = null;
    return status;
  }

  /** SIGKILL: what a crash does to it. */
  async kill(): Promise<void> {
    await this.signal('SIGKILL');
  }

  async stop(): Promise<void> {
    expect(await this.signal('SIGTERM'), `exit status; its log:\n${this.log()}`).toBe(0);
  }

  /** What holds at the end of every test: nothing is stuck, it stops in time, the store is sound. */
  async finish(verified: boolean): Promise<void> {
    if (!this.alive) return;
    const doctor = await this.api.ok<{ ok: boolean; stuck: unknown[] }>('GET', '/api/doctor');
    expect(doctor).toMatchObject({ ok: true, stuck: [] });
    await this.stop();
    if (!verified) return;
    const found = spawnSync(BINARY, ['verify', '--data', this.data, '--json'], {
      encoding: 'utf8',
      env: environment({}),
    });
    expect(found.status, found.stdout + found.stderr).toBe(0);
    expect(JSON.parse(found.stdout)).toMatchObject({ findings: [] });
  }

  async clean(): Promise<void> {
    if (this.alive) await this.kill();
    rmSync(this.own, { recursive: true, force: true });
  }

  // ---- short forms

  /** Creates a session; with a text waits until its turn sleeps or is over. */
  create(text?: string, more: Record<string, unknown> = {}, wait = 20): Promise<Session> {
    const { project = 'default', ...rest } = more;
    const body = { agentID: 'demo', ...(text === undefined ? {} : { prompt: { text } }), ...rest };
    const query = text !== undefined && wait ? `?wait=${wait}` : '';
    return this.api.ok('POST', `/api/projects/${String(project)}/sessions${query}`, body);
  }

  session(id: string): Promise<Session> {
    return this.api.ok('GET', `/api/sessions/${id}?wait=30`);
  }

  async atRest(id: string): Promise<Session> {
    const now = await this.session(id);
    expect(['idle', 'waiting_async']).toContain(now.activity.type);
    return now;
  }

  call(id: string): Promise<PendingCall> {
    return this.api.ok('GET', `/async-tool/pending/${id}`);
  }

  /** The open calls of a session, in the order of their requests. */
  async openCalls(session: string): Promise<PendingCall[]> {
    const path = `/async-tool/pending?sessionID=${session}`;
    return (await this.api.ok<{ items: PendingCall[] }>('GET', path)).items.reverse();
  }

  async openCall(session: string): Promise<PendingCall> {
    const calls = await this.openCalls(session);
    expect(calls).toHaveLength(1);
    return calls[0] as PendingCall;
  }

  decide(call: PendingCall, approved: boolean, by: Api = this.api): Promise<Answer<unknown>> {
    const body = { pendingID: call.id, approved, inputDigest: call.inputDigest };
    return by.call('POST', '/async-tool/decision', body);
  }

  result(pendingID: string, output: unknown): Promise<unknown> {
    return this.api.ok('POST', '/async-tool/result', { pendingID, result: { output } });
  }

  /** The text of the agent's newest message. */
  async lastText(session: string): Promise<string> {
    type Said = { role: string; parts: { type: string; text: string }[] };
    const path = `/api/sessions/${session}/messages?limit=200`;
    const { items } = await this.api.ok<{ items: Said[] }>('GET', path);
    const last = items.filter((one) => one.role === 'assistant').at(-1);
    const texts = last?.parts.filter((part) => part.type === 'text') ?? [];
    return texts.map((part) => part.text).join('');
  }

  /** A token of a person, as another program of theirs has it. */
  async tokenOf(name: string, role: string): Promise<Api> {
    const made = await this.api.ok<{ secret: string }>('POST', '/api/tokens', { name, role });
    return this.as(made.secret);
  }

  link(name = 'alice', role = 'admin'): Promise<{ url: string }> {
    return this.api.ok('POST', '/api/links', { name, role });
  }
}
