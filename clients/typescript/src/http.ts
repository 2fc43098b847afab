import { operations, type Operations, type Problem } from './api.gen.js';
import { readBytes } from './body.js';
import { ConnectionFailed, DormouseError, Refusal, UnexpectedResponse } from './errors.js';

const PROBLEM_BYTES = 1 << 20;
const REDIRECTS = [301, 302, 303, 307, 308];

export interface HttpOptions {
  /** Origin of the server, with a path in front if a proxy adds one; empty: that of the page. */
  base?: string;
  /** Bearer token; without it a browser's cookie is used. */
  token?: string;
  /** What sends requests. Default: the global `fetch`. */
  fetch?: typeof fetch;
  /** A longer answer is refused with ResponseTooLarge. Default: 67108864 (64 MiB). */
  maxResponseBytes?: number;
}

export type Request<Name extends keyof Operations> = {
  path?: Operations[Name]['path'];
  /** Also takes members that a later server knows. */
  query?: Operations[Name]['query'] & Record<string, string | number | boolean | undefined>;
  body?: Operations[Name]['body'];
  headers?: Record<string, string>;
  signal?: AbortSignal;
};

export interface Answered<Name extends keyof Operations> {
  status: number;
  headers: Headers;
  value: Operations[Name]['answer'];
}

function fill(template: string, values: Record<string, unknown>): string {
  return template.replace(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(String(values[key])),
  );
}

/** A query string; members without a value are left out. */
export function search(values: Record<string, unknown>): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') query.set(key, String(value));
  }
  const text = query.toString();
  return text ? `?${text}` : '';
}

function checkedBase(base: string): string {
  if (base === '') return '';
  let url: URL;
  try {
    url = new URL(base);
  } catch {
    throw new DormouseError('base must be a URL such as http://127.0.0.1:3676');
  }
  if (
    !['http:', 'https:'].includes(url.protocol) ||
    url.username ||
    url.password ||
    url.search ||
    url.hash
  ) {
    throw new DormouseError(
      'base must be an http or https URL without credentials, query and fragment',
    );
  }
  return base.replace(/\/+$/, '');
}

function isMedia(response: Response, ...types: string[]): boolean {
  const type =
    (response.headers.get('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return types.includes(type);
}

function decoded(bytes: Uint8Array<ArrayBuffer>, status: number): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UnexpectedResponse(status, `The answer (${status}) is not UTF-8.`);
  }
}

function parse(
  text: string,
  status: number,
  decode: (text: string) => unknown = JSON.parse,
): unknown {
  try {
    return decode(text);
  } catch {
    throw new UnexpectedResponse(status, `The answer (${status}) is not JSON.`);
  }
}

/** One request, one answer: nothing is repeated, and no time limit is set. `Client` adds both. */
export class HttpClient {
  // Private, so that neither logs nor JSON show it.
  readonly #token: string | undefined;
  protected readonly base: string;
  protected readonly maxBytes: number;
  private readonly fetch: typeof fetch | undefined;

  constructor(options: HttpOptions = {}) {
    if (options.token && !/^[\x21-\x7e]+$/.test(options.token)) {
      throw new DormouseError('token must consist of visible ASCII characters');
    }
    this.#token = options.token;
    this.base = checkedBase(options.base ?? '');
    this.maxBytes = options.maxResponseBytes ?? 64 << 20;
    this.fetch = options.fetch;
  }

  /** The whole response, also a refusal. Redirects are not followed. */
  raw(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#token) headers.set('authorization', `Bearer ${this.#token}`);
    const request = this.fetch ?? fetch;
    return request(this.base + path, {
      credentials: 'same-origin',
      redirect: 'manual',
      ...init,
      headers,
    });
  }

  /** As `raw`, but refusals, redirects and lost connections are errors. */
  protected async good(path: string, init: RequestInit): Promise<Response> {
    let response: Response;
    try {
      response = await this.raw(path, init);
    } catch (error) {
      throw init.signal?.aborted ? error : this.lost(error);
    }
    if (response.type === 'opaqueredirect' || REDIRECTS.includes(response.status)) {
      await response.body?.cancel().catch(() => {});
      throw new UnexpectedResponse(
        response.status,
        'The server answered with a redirect, which is not followed.',
      );
    }
    if (!response.ok) throw await this.refusal(response);
    return response;
  }

  private lost(error: unknown): DormouseError {
    const cause = (error as { cause?: { code?: string } }).cause;
    if (cause?.code === 'UND_ERR_HEADERS_OVERFLOW' || cause?.code?.startsWith('HPE_')) {
      return new UnexpectedResponse(0, 'The answer is not HTTP, or its headers are too large.');
    }
    const why = cause?.code ?? (error instanceof Error ? error.message : '');
    return new ConnectionFailed(this.masked(`No answer from ${this.base || 'the server'}: ${why}`));
  }

  private async refusal(response: Response): Promise<DormouseError> {
    const header = Number(response.headers.get('retry-after'));
    const after = Number.isFinite(header) && header > 0 ? header : null;
    if (isMedia(response, 'application/problem+json', 'application/json')) {
      const bytes = await readBytes(response, Math.min(PROBLEM_BYTES, this.maxBytes));
      const problem = parse(this.masked(decoded(bytes, response.status)), response.status);
      if (problem && typeof problem === 'object' && !Array.isArray(problem)) {
        return new Refusal(response.status, problem as Partial<Problem>, after);
      }
    }
    await response.body?.cancel().catch(() => {});
    return new UnexpectedResponse(
      response.status,
      `Status ${response.status} without a problem document.`,
      after,
    );
  }

  /** A text without the token, should what answers repeat it. */
  private masked(text: string): string {
    return this.#token ? text.replaceAll(this.#token, '[token]') : text;
  }

  /** Status, headers and value of one operation. */
  async request<Name extends keyof Operations>(
    name: Name,
    request: Request<Name> = {},
  ): Promise<Answered<Name>> {
    const [method, template] = operations[name];
    const headers: Record<string, string> = { accept: 'application/json', ...request.headers };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    const response = await this.good(
      fill(template, request.path ?? {}) + search(request.query ?? {}),
      {
        method,
        headers,
        body: request.body === undefined ? undefined : this.encode(request.body),
        signal: request.signal,
      },
    );
    const value = response.status === 204 ? undefined : await this.json(response);
    return {
      status: response.status,
      headers: response.headers,
      value: value as Operations[Name]['answer'],
    };
  }

  private async json(response: Response): Promise<unknown> {
    if (!isMedia(response, 'application/json')) {
      await response.body?.cancel().catch(() => {});
      throw new UnexpectedResponse(response.status, 'The answer is not application/json.');
    }
    return parse(
      decoded(await readBytes(response, this.maxBytes), response.status),
      response.status,
      (text) => this.decode(text),
    );
  }

  /** The value of a text in JSON. The web page overrides both, for integers beyond 2^53. */
  protected decode(text: string): unknown {
    return JSON.parse(text);
  }

  /** The text of a value in JSON. */
  protected encode(value: unknown): string {
    return JSON.stringify(value);
  }

  /** The answer of an operation of `openapi.json`, by its name. */
  async call<Name extends keyof Operations>(
    name: Name,
    request: Request<Name> = {},
  ): Promise<Operations[Name]['answer']> {
    return (await this.request(name, request)).value;
  }
}
