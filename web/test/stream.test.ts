import { HttpClient } from 'dormouse-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Stream, TRIES, delay, type LinkState } from '../src/lib/stream';

const frame = (seq: number): string =>
  `id: ${seq}\nevent: turn_started\ndata: {"seq":${seq},"type":"turn_started","data":{}}\n\n`;
const body = (...pieces: string[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
      controller.close();
    },
  });

function run(answers: (() => Response | Promise<Response>)[]) {
  const lastIDs: (string | null)[] = [];
  const states: LinkState[] = [];
  const seen: number[] = [];
  const client = new HttpClient({
    fetch: (_, init) => {
      lastIDs.push(new Headers(init?.headers).get('last-event-id'));
      const next = answers.shift();
      return next ? Promise.resolve().then(next) : Promise.reject(new TypeError('no connection'));
    },
  });
  const stream = new Stream({
    client,
    path: '/api/sessions/x/events',
    after: '3',
    onFrame: ({ event }) => seen.push(event.seq),
    onState: (state) => states.push(state),
  });
  stream.open();
  return { stream, lastIDs, states, seen };
}

describe('stream', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('lost_stream_comes_back_after_its_last_event', async () => {
    const { lastIDs, seen, stream } = run([
      () => new Response(body(frame(4), frame(5))),
      () => new Response(body(frame(6))),
    ]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(lastIDs.slice(0, 2)).toEqual(['3', '5']);
    expect(seen).toEqual([4, 5, 6]);
    stream.close();
  });
  it('frame_with_an_id_alone_is_the_place_to_come_back_to', async () => {
    const { lastIDs, seen, stream } = run([
      () => new Response(body('retry: 1000\n\nid: f17\n\n')),
      () => new Response(body(frame(6))),
    ]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(lastIDs.slice(0, 2)).toEqual(['3', 'f17']);
    expect(seen).toEqual([6]);
    stream.close();
  });
  it('frame_in_pieces_is_one_event', async () => {
    const text = frame(4);
    const { seen, stream } = run([
      () => new Response(body(text.slice(0, 9), text.slice(9, 30), text.slice(30))),
    ]);
    await vi.advanceTimersByTimeAsync(1);
    expect(seen).toEqual([4]);
    stream.close();
  });
  it('five_failures_pause_the_page_and_the_button_tries_again', async () => {
    const { states, stream, lastIDs } = run([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states.at(-1)).toEqual({ kind: 'paused' });
    expect(lastIDs).toHaveLength(TRIES + 1);
    expect(states.filter((one) => one.kind === 'waiting').map((one) => one.tries)).toEqual([
      1, 2, 3, 4, 5,
    ]);
    stream.retry();
    await vi.advanceTimersByTimeAsync(1);
    expect(lastIDs).toHaveLength(TRIES + 2);
    stream.close();
  });
  it('delays_double_up_to_thirty_seconds', () => {
    expect([1, 2, 3, 4, 5, 6, 7].map(delay)).toEqual([
      1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
    ]);
  });
  it('deleted_session_ends_the_stream', async () => {
    const { states, lastIDs } = run([
      () => new Response(body('event: bye\ndata: {"reason":"deleted"}\n\n')),
    ]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(states.at(-1)).toEqual({ kind: 'ended', reason: 'deleted' });
    expect(lastIDs).toHaveLength(1);
  });
  it('refused_sign_in_ends_the_stream', async () => {
    const { states } = run([() => new Response('', { status: 401 })]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(states.at(-1)).toEqual({ kind: 'ended', reason: 'unauthenticated' });
  });
});
