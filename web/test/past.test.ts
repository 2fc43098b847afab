import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveSession } from '../src/lib/session.svelte';
import { fake, ids } from '../dev/fake.mjs';

const server = fake();
const asked: string[] = [];

function answer(url: string, init: RequestInit = {}): Promise<Response> {
  asked.push(url);
  return new Promise((done) => {
    let status = 200;
    void server.handle(
      { url, method: init.method ?? 'GET', headers: {} },
      {
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
      },
    );
  });
}

describe('past', () => {
  beforeEach(() => vi.stubGlobal('fetch', answer));
  afterEach(() => {
    vi.unstubAllGlobals();
    asked.length = 0;
  });

  it('past_state_holds_no_later_event_and_follows_nothing', async () => {
    const whole = server.state.events.get(ids.ship) as { seq: number }[];
    const until = whole[Math.floor(whole.length / 2)]!.seq;
    const past = new LiveSession(ids.ship, until);
    await past.open();
    expect(past.error).toBeNull();
    expect(past.events.map((one) => one.seq)).toEqual(
      whole.map((one) => one.seq).filter((seq) => seq <= until),
    );
    expect(past.session?.activity).toEqual({ type: 'idle' });
    expect(past.calls).toEqual([]);
    expect(asked.some((url) => url.includes('/async-tool/'))).toBe(false);
  });
  it('past_state_beyond_the_newest_event_is_the_newest', async () => {
    const whole = server.state.events.get(ids.ship) as { seq: number }[];
    const past = new LiveSession(ids.ship, 1_000_000);
    await past.open();
    const newest = past.session!.seq;
    expect(past.events.length).toBe(whole.filter((one) => one.seq <= newest).length);
  });
});
