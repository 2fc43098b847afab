import { operations, type Operations, type Problem } from './api.gen.js';

export type * from './api.gen.js';
export { parseEvents, type ServerSentEvent } from './events.js';

/** A refusal of the server: its problem document. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly problem: Partial<Problem>,
    readonly retryAfter: number | null,
  ) {
    super(problem.detail ?? problem.title ?? `The server answered ${status}.`);
  }
  get code(): string {
    return this.problem.code ?? '';
  }
}

export interface ClientOptions {
  /** Origin of the server; empty: that of the page. */
  base?: string;
  /** Bearer token; without it a browser's cookie is used. */
  token?: string;
  fetch?: typeof fetch;
}

export type Request<Name extends keyof Operations> = {
  path?: Operations[Name]['path'];
  /** Also takes members that a later server knows. */
  query?: Operations[Name]['query'] & Record<string, string | number | boolean | undefined>;
  body?: Operations[Name]['body'];
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

function fill(template: string, values: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(values[key])));
}

function search(values: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') query.set(key, String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : '';
}

async function refusal(response: Response): Promise<Refusal> {
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  const after = Number(response.headers.get('retry-after'));
  return new Refusal(response.status, problem, Number.isFinite(after) && after > 0 ? after : null);
}

/** Calls the operations of `openapi.json` by their names. */
export class Client {
  constructor(private readonly options: ClientOptions = {}) {}

  /** The whole response, also a refusal. */
  raw(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.options.token) headers.set('authorization', `Bearer ${this.options.token}`);
    const request = this.options.fetch ?? fetch;
    return request((this.options.base ?? '') + path, { credentials: 'same-origin', ...init, headers });
  }

  async call<Name extends keyof Operations>(
    name: Name,
    request: Request<Name> = {},
  ): Promise<Operations[Name]['answer']> {
    const [method, template] = operations[name];
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    const response = await this.raw(fill(template, request.path ?? {}) + search(request.query ?? {}), {
      method,
      headers,
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
      signal: request.signal,
    });
    if (!response.ok) throw await refusal(response);
    if (response.status === 204) return undefined as Operations[Name]['answer'];
    return (await response.json()) as Operations[Name]['answer'];
  }
}
