import { mount, tick, unmount } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { markables, split } from '../src/lib/bulk';
import { inbox } from '../src/lib/inbox.svelte';
import { me } from '../src/lib/me.svelte';
import type { Call } from '../src/lib/words';
import Bulk from '../src/parts/Bulk.svelte';
import { fake, ids } from '../dev/fake.mjs';
import { posted, respond } from './respond';

const alice = { name: 'alice', role: 'answer' };
const server = fake();

function restart(id: string, group: string, more: object = {}): Call {
  const call = {
    ...structuredClone(server.state.calls.get(ids.deploy)!),
    id,
    tool: 'restart',
    message: `Restart ${group}?`,
    input: { service: 'checkout', group },
    inputDigest: `sha256:${id}`,
    ...more,
  };
  server.state.calls.set(id, call);
  return call as unknown as Call;
}
const named = (calls: Call[]): string[] => calls.map((one) => one.id);

describe('bulk', () => {
  let shown: Record<string, unknown> | null = null;
  const sent: Record<string, unknown>[] = [];

  beforeEach(() => {
    me.know({ name: 'alice', role: 'answer', projects: ['shop'] });
    sent.length = 0;
    vi.stubGlobal('fetch', (url: string, init: RequestInit = {}) => {
      const body = posted(init);
      if (body) sent.push(body);
      return respond(server, url, init);
    });
  });
  afterEach(async () => {
    if (shown) await unmount(shown);
    shown = null;
    document.body.innerHTML = '';
    vi.unstubAllGlobals();
  });

  it('marks_only_calls_of_one_tool_and_gate', () => {
    const calls = [
      restart('pnd_a', 'workers'),
      restart('pnd_b', 'web'),
      restart('pnd_c', 'cron', { tool: 'deploy' }),
      restart('pnd_d', 'db', { gate: { id: 'other' } }),
    ];
    expect(named(markables(calls, [], alice))).toEqual(['pnd_a', 'pnd_b']);
    expect(named(markables(calls, ['pnd_c'], alice))).toEqual(['pnd_c']);
    expect(named(markables(calls, ['pnd_b'], alice))).toEqual(['pnd_a', 'pnd_b']);
  });
  it('never_marks_what_a_person_must_read_alone', () => {
    const calls = [
      restart('pnd_a', 'workers'),
      restart('pnd_b', 'web'),
      restart('pnd_long', 'x'.repeat(2000)),
      restart('pnd_doubt', 'x', { inDoubt: true }),
      restart('pnd_always', 'x', { gate: { id: 'production', alwaysAsk: true } }),
      restart('pnd_ungated', 'x', { gate: null }),
      restart('pnd_done', 'x', { status: 'completed' }),
      restart('pnd_theirs', 'x', {
        answer: { from: ['dana'], escalateTo: [], need: 1, votes: [] },
      }),
    ];
    expect(named(markables(calls, [], alice))).toEqual(['pnd_a', 'pnd_b']);
  });
  it('lists_what_is_the_same_once_and_what_differs_for_each', () => {
    const found = split([restart('pnd_a', 'workers'), restart('pnd_b', 'web')]);
    expect(found.same).toEqual([['service', 'checkout']]);
    expect(found.each.map((one) => one.rows)).toEqual([[['group', 'workers']], [['group', 'web']]]);
  });
  it('decides_each_by_its_own_digest_and_keeps_what_was_refused', async () => {
    const calls = [restart('pnd_a', 'workers'), restart('pnd_b', 'web')];
    for (const one of calls) inbox.put(one);
    const onclose = vi.fn();
    shown = mount(Bulk, { target: document.body, props: { calls, kind: 'approve', onclose } });
    await tick();
    const run = [...document.querySelectorAll('button')].find((one) =>
      one.textContent?.includes('Approve and run all 2'),
    )!;
    expect(run.disabled).toBe(true);
    run.click();
    expect(sent).toHaveLength(0);
    // The arguments of one change while the person reads.
    server.state.calls.get('pnd_b')!['inputDigest'] = 'sha256:other';
    await vi.waitFor(() => expect(run.disabled).toBe(false), { timeout: 8000 });
    run.click();
    await vi.waitFor(() => expect(document.querySelector('[role=alert]')).not.toBeNull(), {
      timeout: 8000,
    });
    expect(sent.map((one) => [one['pendingID'], one['inputDigest']])).toEqual([
      ['pnd_a', 'sha256:pnd_a'],
      ['pnd_b', 'sha256:pnd_b'],
    ]);
    expect(document.body.textContent).toContain('Nothing was approved');
    expect(onclose).not.toHaveBeenCalled();
    expect(server.state.calls.get('pnd_a')!['status']).toBe('completed');
    expect(server.state.calls.get('pnd_b')!['status']).not.toBe('completed');
  });
});
