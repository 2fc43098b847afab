import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { me } from '../src/lib/me.svelte';
import { overview } from '../src/lib/overview.svelte';

const found = (sessionID: string) => ({ sessionID, why: 'it waits', next: '' });
const counts = { stuck: 0, blocked: 1, inDoubt: 1, orphaned: 0, unreadable: 0, notAsking: 0 };
const doctor = {
  ok: true,
  ...Object.fromEntries(Object.keys(counts).map((name) => [name, []])),
  blocked: [found('ses_1')],
  inDoubt: [{ ...found('ses_2'), pendingID: 'pnd_1' }],
  counts,
  lookedAt: 2,
  nodes: [],
};
const dead = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `dlv_${index}`, url: 'x', attempts: 8 }));
let answers: Record<string, unknown>;

describe('overview', () => {
  beforeEach(() => {
    answers = {
      '/api/mail': { items: [], next: null },
      '/api/doctor': doctor,
      '/api/deliveries': { items: dead(1), next: null },
      '/api/nodes': { items: [{ data: { directory: '/x', bytes: 10, freeBytes: 90 } }] },
    };
    me.role = 'admin';
    vi.stubGlobal('fetch', (url: string) => {
      const path = new URL(url, 'http://x').pathname;
      const body = answers[path] ?? { code: 'not_found', title: 'no' };
      const type = answers[path] ? 'application/json' : 'application/problem+json';
      const status = answers[path] ? 200 : 404;
      const headers = { 'content-type': type };
      return Promise.resolve(new Response(JSON.stringify(body), { status, headers }));
    });
  });
  afterEach(() => vi.unstubAllGlobals());

  it('number_beside_the_navigation_is_that_of_the_list', async () => {
    await overview.read('default');
    expect(overview.error).toBeNull();
    expect(overview.needed).toBe(3);
    expect(overview.needs).toHaveLength(3);
    expect(overview.more).toBe(false);
    expect(overview.needs.map((one) => one.to)).toEqual([
      '/?open=pnd_1',
      '/sessions/ses_1',
      '/operate/deliveries?state=dead',
    ]);
    expect(overview.nodes[0]?.data.freeBytes).toBe(90);
  });

  it('what_the_list_leaves_out_is_counted', async () => {
    answers['/api/deliveries'] = { items: dead(12), next: null };
    answers['/api/doctor'] = { ...doctor, counts: { ...counts, blocked: 300 } };
    await overview.read('default');
    expect(overview.needed).toBe(313);
    expect(overview.more).toBe(true);
    expect(overview.deadMore).toBe(false);
    answers['/api/deliveries'] = { items: dead(200), next: 'cursor' };
    await overview.read('default');
    expect(overview.deadMore).toBe(true);
  });

  it('server_that_refuses_figures_to_this_role_is_no_error', async () => {
    delete answers['/api/nodes'];
    delete answers['/api/doctor'];
    await overview.read('default');
    expect(overview.error).toBeNull();
    expect(overview.nodes).toEqual([]);
    expect(overview.needed).toBe(1);
  });
});
