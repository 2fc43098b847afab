import type { fake } from '../dev/fake.mjs';

/** The response of the fake server to a request, without sockets. */
export function respond(
  server: ReturnType<typeof fake>,
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  const text = typeof init.body === 'string' ? init.body : '';
  const incoming = {
    url,
    method: init.method ?? 'GET',
    headers: Object.fromEntries(new Headers(init.headers)),
    async *[Symbol.asyncIterator]() {
      if (text) yield Buffer.from(text);
    },
  };
  return new Promise((done) => {
    let status = 200;
    void server.handle(incoming, {
      writeHead: (given: number) => (status = given),
      end: (given: string) =>
        done(
          new Response(given, {
            status,
            headers: {
              'content-type': status < 400 ? 'application/json' : 'application/problem+json',
            },
          }),
        ),
      write: () => {},
      on: () => {},
      destroy: () => {},
    });
  });
}

/** The body of a POST, as an object. */
export function posted(init: RequestInit = {}): Record<string, unknown> | null {
  if (init.method !== 'POST') return null;
  const text = typeof init.body === 'string' ? init.body : '';
  return JSON.parse(text || '{}') as Record<string, unknown>;
}
