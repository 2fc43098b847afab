// "Show earlier messages": nothing is left out, whatever happens meanwhile.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LiveSession } from '../src/lib/session.svelte';

const LAST = 2500;
const ID = 'ses_long';
let reachable = true;
let stream: ReadableStreamDefaultController<Uint8Array>;

const json = (body: unknown): Response =>
  new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });

const event = (seq: number): object => ({
  seq,
  type: 'input_received',
  at: seq,
  sessionID: ID,
  data: { messageID: `msg_${seq}`, turn: seq, parts: [{ type: 'text', text: `Text ${seq}` }] },
});

function answer(url: string, init: RequestInit = {}): Promise<Response> {
  const { pathname, searchParams } = new URL(url, 'http://test');
  if (new Headers(init.headers).get('accept') === 'text/event-stream')
    return Promise.resolve(
      new Response(new ReadableStream<Uint8Array>({ start: (one) => void (stream = one) })),
    );
  if (pathname.endsWith('/events')) {
    if (!reachable) return Promise.reject(new TypeError('no connection'));
    const after = Number(searchParams.get('after'));
    const count = Math.min(Number(searchParams.get('limit')), LAST - after);
    return Promise.resolve(
      json({ items: Array.from({ length: count }, (_, place) => event(after + place + 1)) }),
    );
  }
  if (pathname.startsWith('/async-tool')) return Promise.resolve(json({ items: [], next: null }));
  const activity = { type: 'busy' };
  return Promise.resolve(json({ id: ID, seq: LAST, historyAfter: 0, status: 'active', activity }));
}

beforeEach(() => {
  reachable = true;
  vi.stubGlobal('fetch', answer);
});
afterEach(() => vi.unstubAllGlobals());

it('part_that_could_not_be_read_is_read_by_the_next_try', async () => {
  const live = new LiveSession(ID);
  await live.open();
  expect(live.events[0]?.seq).toBe(1501);
  reachable = false;
  await live.back();
  expect(live.before).toBe(1500);
  reachable = true;
  await live.back();
  expect(live.events.map((one) => one.seq)).toEqual(
    Array.from({ length: LAST - 500 }, (_, place) => place + 501),
  );
  live.close();
});

it('text_that_is_being_written_stays_while_earlier_messages_come', async () => {
  const live = new LiveSession(ID);
  await live.open();
  const say = (offset: number, text: string): void => {
    const delta = { messageID: 'msg_new', step: 1, attempt: 1, kind: 'text', offset, text };
    const frame = `event: delta\ndata: ${JSON.stringify(delta)}\n\n`;
    stream.enqueue(new TextEncoder().encode(frame));
  };
  await vi.waitFor(() => expect(live.state.kind).toBe('live'));
  say(0, 'The draft so far');
  await vi.waitFor(() => expect(live.view?.draft?.text).toBe('The draft so far'));
  await live.back();
  expect(live.view?.draft?.text).toBe('The draft so far');
  say(16, ', and the rest.');
  await vi.waitFor(() => expect(live.view?.draft?.text).toBe('The draft so far, and the rest.'));
  live.close();
});
