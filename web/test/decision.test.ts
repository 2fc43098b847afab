import { mount, tick, unmount } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inbox } from '../src/lib/inbox.svelte';
import { me } from '../src/lib/me.svelte';
import Article from '../src/parts/Article.svelte';
import { fake, ids } from '../dev/fake.mjs';
import { posted, respond } from './respond';

const server = fake();
const sent: { path: string; body: Record<string, unknown> }[] = [];
let shown: Record<string, unknown> | null = null;

function answer(url: string, init: RequestInit = {}): Promise<Response> {
  const body = posted(init);
  if (body) sent.push({ path: url, body });
  return respond(server, url, init);
}
const button = (text: string): HTMLButtonElement | undefined =>
  [...document.querySelectorAll('button')].find((one) => one.textContent?.trim().startsWith(text));
const SLOW = { timeout: 8000 };
/** A confirmation takes no input at once. */
async function press(text: string): Promise<void> {
  await vi.waitFor(() => expect(button(text)?.disabled).toBe(false), SLOW);
  button(text)!.click();
}

async function open(id: string): Promise<void> {
  await inbox.fetch(id);
  const props = {
    get call() {
      return inbox.find(id)!;
    },
  };
  shown = mount(Article, { target: document.body, props });
  for (let round = 0; round < 20; ++round) await new Promise((done) => setImmediate(done));
  await tick();
}

describe('decision', () => {
  beforeEach(() => {
    vi.stubGlobal('fetch', (url: string, init?: RequestInit) => answer(url, init));
    localStorage.clear();
    sent.length = 0;
    me.know({ name: 'alice', role: 'answer', projects: ['shop'] });
  });
  afterEach(async () => {
    if (shown) await unmount(shown);
    document.body.innerHTML = '';
    vi.unstubAllGlobals();
  });

  it('page_shows_the_question_what_runs_and_the_claim_apart', async () => {
    await open(ids.deploy);
    expect(document.querySelector('h1')?.textContent).toBe('Deploy shop 2.41.0 to production?');
    const exec = document.querySelector('.exec')!;
    expect(exec.textContent).toContain('production');
    expect(exec.textContent).not.toContain('214 checks');
    expect(document.querySelector('.claim')?.textContent).toContain('214 checks');
    expect(document.body.textContent).toContain('nobody answered in time');
  });
  it('approval_takes_two_acts_and_no_input_at_once', async () => {
    await open(ids.deploy);
    button('Approve…')!.click();
    await tick();
    expect(sent).toHaveLength(0);
    const run = button('Approve and run')!;
    expect(run.disabled).toBe(true);
    run.click();
    expect(sent).toHaveLength(0);
    await press('Approve and run');
    await vi.waitFor(() => expect(document.body.textContent).toContain('Approved'), SLOW);
    expect(sent[0]).toMatchObject({
      path: '/async-tool/decision',
      body: { pendingID: ids.deploy, approved: true },
    });
    expect(String(sent[0]?.body['inputDigest'])).toMatch(/^sha256:/);
  });
  it('approval_offers_rules_and_proposes_this_call_only', async () => {
    Object.assign(server.state.calls.get(ids.deploy)!, { status: 'waiting', decision: null });
    await open(ids.deploy);
    button('Approve…')!.click();
    await tick();
    const scopes = [...document.querySelectorAll<HTMLInputElement>('input[name=scope]')];
    expect(scopes.map((one) => one.value)).toEqual(['call', 'session', 'project']);
    expect(scopes[0]!.checked).toBe(true);
    expect(document.querySelector('#until')).toBeNull();
    scopes[2]!.click();
    await tick();
    expect(document.querySelector('h2[tabindex]')?.textContent).toContain('later calls like it');
    const same = [...document.querySelectorAll<HTMLInputElement>('.same input')];
    expect(same.every((one) => one.checked)).toBe(true);
    for (const one of same.filter(({ value }) => value !== 'service')) one.click();
    await tick();
    await press('Approve with this rule and run');
    await vi.waitFor(() => expect(sent).toHaveLength(1), SLOW);
    expect(sent[0]?.body['rule']).toMatchObject({ scope: 'project', match: ['service'] });
  });
  it('gate_that_takes_no_rule_offers_none', async () => {
    await open(ids.refund);
    button('Approve')!.click();
    await tick();
    expect(document.querySelector('input[name=scope]')).toBeNull();
  });
  it('reason_is_kept_until_the_server_confirms_it', async () => {
    await open(ids.refund);
    button('Deny…')!.click();
    await tick();
    const reason = document.querySelector<HTMLTextAreaElement>('#reason')!;
    reason.value = 'not before the sale';
    reason.dispatchEvent(new Event('input', { bubbles: true }));
    await tick();
    expect(localStorage.getItem(`dormouse:draft:${ids.refund}`)).toContain('not before the sale');
  });
  it('decided_meanwhile_says_so_and_applies_nothing', async () => {
    await open(ids.refund);
    const before = server.state.calls.get(ids.refund)!;
    Object.assign(before, {
      status: 'completed',
      decision: { approved: true, reason: null, arguments: null, content: null },
    });
    before.receipt = { id: 'rcp_x', by: { type: 'token', name: 'bob' }, at: Date.now() };
    button('Deny…')!.click();
    await press('Deny the call');
    await vi.waitFor(
      () =>
        expect(document.querySelector('[role=alert]')?.textContent).toMatch(
          /Already approved by bob at .*Your answer was not applied/,
        ),
      SLOW,
    );
  });
  it('decision_of_another_closes_the_open_dialog_and_says_so', async () => {
    const waiting = { status: 'waiting', decision: null, receipt: null };
    Object.assign(server.state.calls.get(ids.refund)!, waiting);
    await open(ids.refund);
    button('Deny…')!.click();
    await vi.waitFor(() => expect(button('Deny the call')).toBeDefined(), SLOW);
    const call = server.state.calls.get(ids.refund)!;
    Object.assign(call, {
      status: 'completed',
      decision: { approved: true, reason: null, arguments: null, content: null },
    });
    call.receipt = { id: 'rcp_x', by: { type: 'token', name: 'bob' }, at: Date.now() };
    await inbox.fetch(ids.refund);
    await vi.waitFor(
      () =>
        expect(document.querySelector('[role=alert]')?.textContent).toMatch(
          /Already approved by bob at .*Your answer was not applied/,
        ),
      SLOW,
    );
    expect(button('Deny the call')).toBeUndefined();
  });
  it('question_has_nothing_chosen_beforehand', async () => {
    await open(ids.question);
    expect(document.querySelectorAll('input[type=radio]')).toHaveLength(3);
    expect(document.querySelector('input:checked')).toBeNull();
    expect(button('Send answer')!.disabled).toBe(true);
  });
  it('who_is_not_asked_reads_only', async () => {
    await open(ids.claimed);
    expect(button('Approve…')).toBeUndefined();
    expect(document.body.textContent).toContain('dana decides on this');
  });
  it('doubt_offers_three_verbs_and_sends_an_action', async () => {
    await inbox.fetch(ids.cut);
    await open(ids.doubt);
    expect(document.querySelector('h1')?.textContent).toBe('Did migrate_orders finish?');
    expect(button('It finished')).toBeDefined();
    button('It did not')!.click();
    await press('Run it again');
    await vi.waitFor(() => expect(sent).toHaveLength(1), SLOW);
    expect(sent[0]?.body).toMatchObject({ approved: true, content: { action: 'run_again' } });
  });
});
