import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LiveSession } from '../src/lib/session.svelte';
import { fake, ids } from '../dev/fake.mjs';
import { respond } from './respond';

const server = fake();
const requests: string[] = [];

function answer(url: string, init: RequestInit = {}): Promise<Response> {
  requests.push(url);
  return respond(server, url, init);
}

describe('past', () => {
  beforeEach(() => vi.stubGlobal('fetch', answer));
  afterEach(() => {
    vi.unstubAllGlobals();
    requests.length = 0;
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
    expect(requests.some((url) => url.includes('/async-tool/'))).toBe(false);
  });
  it('past_state_beyond_the_newest_event_is_the_newest', async () => {
    const whole = server.state.events.get(ids.ship) as { seq: number }[];
    const past = new LiveSession(ids.ship, 1_000_000);
    await past.open();
    const newest = past.session!.seq;
    expect(past.events.length).toBe(whole.filter((one) => one.seq <= newest).length);
  });
});
