// Decisions: the inbox, the page of one decision, people who race.
import { accessible, button, expect, shows, signIn, test } from './page.ts';

const BAD = '<img src=x onerror="window.hacked=1">';

test('approval takes two acts and the call runs', async ({ page, server }) => {
  await signIn(page, server);
  await shows(page, 'Nothing waits for you');
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  await shows(page, call.message ?? '');
  await button(page, 'Approve…').click();
  await shows(page, 'Run this once?');
  expect((await server.call(call.id)).status).toBe('waiting');
  await button(page, 'Approve and run').click();
  await shows(page, 'Approved.');
  const settled = await server.call(call.id);
  expect(settled.decision?.approved).toBe(true);
  expect(settled.receipt?.by.name).toBe('alice');
});

test('confirmation takes no input for its first 400 ms', async ({ page, server }) => {
  await server.create('approve A');
  await page.clock.install();
  await signIn(page, server);
  await button(page, 'Approve…').click();
  const send = button(page, 'Approve and run');
  await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 1000);
  await button(page, 'Back').click();
  await button(page, 'Approve…').click();
  await expect(send).toBeDisabled();
  await page.clock.runFor(350);
  await expect(send).toBeDisabled();
  await page.clock.runFor(100);
  await expect(send).toBeEnabled();
});

test('decided by another meanwhile says by whom', async ({ page, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  await signIn(page, server);
  await shows(page, call.message ?? '');
  await button(page, 'Deny…').click();
  await shows(page, 'Deny dangerous?');
  await page.locator('#reason').fill('not on a friday');
  const bob = await server.tokenOf('bob', 'answer');
  expect((await server.decide(call, true, bob)).status).toBe(200);
  const late = page.getByRole('alert');
  await expect(late).toContainText(/Already approved by bob at \d\d:\d\d\./);
  await expect(late).toContainText('Your answer was not applied');
  // What was typed is kept.
  await expect(late).toContainText('You wrote “not on a friday”. The text is kept here.');
  await accessible(page, 'too late');
  expect((await server.call(call.id)).decision?.approved).toBe(true);
});

test('two people race and one decides', async ({ page, other, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  const theirs = await other.newPage();
  await signIn(page, server);
  await signIn(theirs, server, '/', 'bob', 'answer');
  const pages = { alice: page, bob: theirs };
  for (const one of Object.values(pages)) {
    await button(one, 'Approve…').click();
    await expect(button(one, 'Approve and run')).toBeEnabled();
  }
  // Both press at the same time; who is late gets no second run.
  const press = `[...document.querySelectorAll('dialog button')].find((one) =>
    one.innerText.trim() === 'Approve and run')?.click()`;
  await Promise.all(Object.values(pages).map((one) => one.evaluate(press)));
  await expect.poll(async () => (await server.call(call.id)).receipt ?? null).not.toBeNull();
  await server.atRest(session.id);
  const by = String((await server.call(call.id)).receipt?.by.name);
  expect(['alice', 'bob']).toContain(by);
  const [first, second] = by === 'alice' ? [page, theirs] : [theirs, page];
  await shows(first, 'Approved.');
  await shows(second, new RegExp(`Already approved by ${by} at \\d\\d:\\d\\d\\.`));
  await shows(second, 'Your answer was not applied');
  expect(await server.lastText(session.id)).toBe('dangerous A: {"done":"A","runs":1}');
});

test('link of a notification opens one decision in two acts', async ({ page, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  await signIn(page, server, `/a/${call.id}`);
  await button(page, 'Approve…').click();
  await shows(page, 'Run this once?');
  await button(page, 'Approve and run').click();
  await shows(page, 'Approved.');
  await server.atRest(session.id);
  expect((await server.call(call.id)).receipt?.by.name).toBe('alice');
  // A link that is opened later shows what became of it.
  await page.goto(`${server.url}/a/${call.id}`);
  await shows(page, 'Approved');
  await expect(button(page, 'Approve…')).toHaveCount(0);
});

test('arguments are edited and approved as edited', async ({ page, server }) => {
  const session = await server.create('approve A');
  await signIn(page, server);
  await button(page, 'Edit').click();
  await page.getByLabel('action', { exact: true }).fill('B');
  await button(page, 'Done').click();
  await shows(page, 'edited by you');
  const row = page.locator('.exec .ch');
  await expect(row.locator('del')).toHaveText('A');
  await expect(row.locator('ins')).toHaveText('B');
  await accessible(page, 'edited arguments');
  await button(page, 'Approve with 1 change…').click();
  await expect(page.locator('dialog .sum')).toContainText('action B (edited)');
  await button(page, 'Approve with 1 change and run').click();
  await shows(page, 'Approved.');
  await server.atRest(session.id);
  expect(await server.lastText(session.id)).toContain('dangerous B');
});

test('an edit is put back', async ({ page, server }) => {
  await server.create('approve A');
  await signIn(page, server);
  await button(page, 'Edit').click();
  await page.getByLabel('action', { exact: true }).fill('B');
  await shows(page, 'The agent asked for A.');
  await button(page, 'Put it back').click();
  await button(page, 'Done').click();
  await expect(button(page, 'Approve…')).toBeEnabled();
  await expect(page.locator('.exec .ch')).toHaveCount(0);
});

test('drafts are kept over a reload and after a refusal', async ({ page, server }) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  await signIn(page, server);
  await button(page, 'Deny…').click();
  await page.locator('#reason').fill('the budget is spent');
  await page.reload();
  await button(page, 'Deny…').click();
  await expect(page.locator('#reason')).toHaveValue('the budget is spent');
  // The server cannot write: nothing was sent, and nothing is lost.
  await page.route('**/async-tool/decision', (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: JSON.stringify({
        type: '/errors/store_unavailable',
        title: 'x',
        status: 503,
        code: 'store_unavailable',
        detail: 'The disk is full.',
        next: 'retry',
        requestID: 'r',
        instance: '/',
        retryAfter: 1,
      }),
    }),
  );
  await button(page, 'Deny the call').click();
  await shows(page, 'The server cannot write at the moment');
  await shows(page, 'It is kept here and you can send it again');
  expect((await server.call(call.id)).status).toBe('waiting');
  await page.unroute('**/async-tool/decision');
  await button(page, 'Deny…').click();
  await expect(page.locator('#reason')).toHaveValue('the budget is spent');
  await button(page, 'Deny the call').click();
  await shows(page, 'Denied');
  await server.atRest(session.id);
  expect(await server.lastText(session.id)).toContain('denied: the budget is spent');
});

test('question is answered by one of its choices', async ({ page, server }) => {
  const session = await server.create('ask Where? | north | south');
  await signIn(page, server);
  await shows(page, 'Another answer');
  await expect(page.locator('input[type=radio]:checked')).toHaveCount(0);
  await expect(button(page, 'Send answer')).toBeDisabled();
  await page.getByRole('radio', { name: 'south' }).check();
  await button(page, 'Send answer').click();
  await shows(page, 'Answer sent.');
  await server.atRest(session.id);
  expect(await server.lastText(session.id)).toBe('ask_human Where?: south');
});

test('form with files is answered and hostile titles are text', async ({ page, server }) => {
  const schema = {
    type: 'object',
    properties: {
      count: { type: 'integer', minimum: 1, title: `${BAD} how many`, description: BAD },
      region: { enum: ['eu', BAD] },
    },
    required: ['count'],
  };
  const form = { question: `# Where ${BAD}\n\n- **one**\n- two`, schema, files: true };
  const session = await server.create(`ask ${JSON.stringify(form)}`);
  await signIn(page, server);
  await shows(page, 'how many');
  await expect(page.locator('.rest li')).toHaveCount(2);
  await expect(page.locator('article img')).toHaveCount(0);
  const field = page.locator('fieldset.choices input:not([type=file])');
  await field.fill('0');
  await shows(page, 'must be at least 1');
  await expect(button(page, 'Send answer')).toBeDisabled();
  await field.fill('3');
  await expect(button(page, 'Send answer')).toBeEnabled();
  await page.getByLabel('Files of the answer').setInputFiles({
    name: `${BAD}.txt`,
    mimeType: 'text/plain',
    buffer: Buffer.from('hello'),
  });
  await shows(page, /onerror.*\.txt/);
  await accessible(page, 'a form');
  await button(page, 'Send answer').click();
  await shows(page, 'Answer sent.');
  await server.atRest(session.id);
  expect(await server.lastText(session.id)).toContain('"count":3');
  await page.goto(`${server.url}/sessions/${session.id}`);
  await shows(page, 'onerror');
  expect(await page.evaluate('window.hacked')).toBeUndefined();
});

test('call is reassigned and only the new answerer has it', async ({ page, server }) => {
  const session = await server.create('ask Where?');
  await server.tokenOf('bob', 'answer');
  await signIn(page, server);
  await shows(page, 'Where?');
  await page.locator('[aria-label^=More]').click();
  await button(page, 'Reassign…').click();
  await shows(page, 'Ask other people instead?');
  await accessible(page, 'reassign');
  await page.locator('dialog input[list]').fill('bob');
  await button(page, 'Reassign').click();
  await shows(page, 'bob can answer');
  expect((await server.openCall(session.id)).answer.from).toEqual(['bob']);
  await shows(page, 'You can read, but not answer');
});

test('claimed call is read only for others until it is released', async ({
  page,
  other,
  server,
}) => {
  const session = await server.create('approve A');
  const call = await server.openCall(session.id);
  const theirs = await other.newPage();
  await signIn(page, server);
  await signIn(theirs, server, `/?open=${call.id}`, 'bob', 'answer');
  await button(page, 'Claim').click();
  await shows(page, 'Claimed for 10 minutes.');
  expect((await server.call(call.id)).status).toBe('processing');
  await shows(theirs, 'Claimed by alice');
  await expect(button(theirs, 'Approve…')).toHaveCount(0);
  await expect(button(page, 'Approve…')).toBeEnabled();
  await button(page, 'Release').click();
  await shows(page, 'Released.');
  await expect(button(theirs, 'Approve…')).toBeEnabled();
});

test('list that is empty says how many sessions sleep', async ({ page, server }) => {
  for (const name of ['shop', 'blog']) await server.create(`deploy ${name}`);
  await signIn(page, server, '/?for=mine');
  await shows(page, 'Nothing waits for you');
  await shows(page, '2 sessions sleep.');
  await accessible(page, 'an empty list');
});

test('job gets its result by hand', async ({ page, server }) => {
  const session = await server.create('deploy shop');
  await signIn(page, server, '/?for=jobs');
  await shows(page, 'No decision is needed.');
  await button(page, 'Enter result…').click();
  const text = page.getByLabel('Result, text or JSON');
  await text.fill('{"version": 2');
  await shows(page, 'is not JSON');
  await expect(button(page, 'Send result')).toBeDisabled();
  await text.fill('{"version": 2}');
  await accessible(page, 'enter a result');
  await button(page, 'Send result').click();
  await shows(page, 'Result entered.');
  await server.atRest(session.id);
  expect(await server.lastText(session.id)).toBe('deploy shop: {"version":2}');
});

test('job is reported as failed by hand', async ({ page, server }) => {
  const session = await server.create('deploy shop');
  await signIn(page, server, '/?for=jobs');
  await button(page, 'Report failure…').click();
  await page.getByLabel('What went wrong').fill('no space left');
  await button(page, 'Report failure').click();
  await shows(page, 'Failure reported.');
  await server.atRest(session.id);
  expect(await server.lastText(session.id)).toBe('deploy shop failed: no space left');
});

test('who may only answer cannot give the result of a job', async ({ page, server }) => {
  await server.create('deploy shop');
  await signIn(page, server, '/?for=jobs', 'bob', 'answer');
  await shows(page, 'deploy');
  await expect(page.locator('article')).toBeVisible();
  await expect(button(page, 'Enter result…')).toHaveCount(0);
  await expect(button(page, 'Report failure…')).toHaveCount(0);
});

test.describe('with a gate for deploys', () => {
  test.use({
    config: `
[[gate]]
id = "deploys"
tools = ["deploy"]
ask = "Deploy {input.target}?"
`,
  });

  test('one decision for the marked calls and no other', async ({ page, server }) => {
    const sessions: string[] = [];
    for (const name of ['shop', 'blog', 'docs'])
      sessions.push((await server.create(`deploy ${name}`)).id);
    await signIn(page, server);
    await button(page, 'Select…').click();
    for (const name of ['shop', 'blog']) await page.getByLabel(`Mark: Deploy ${name}?`).check();
    await button(page, 'Approve 2…').click();
    await shows(page, 'Approve 2 calls of deploy?');
    await accessible(page, 'several calls');
    const dialog = page.locator('dialog');
    await expect(dialog).toContainText('blog');
    await expect(dialog).toContainText('shop');
    await expect(dialog).not.toContainText('docs');
    await button(page, 'Approve and run all 2').click();
    await shows(page, 'Approved: 2 calls.');
    const docs = await server.openCall(String(sessions[2]));
    expect([docs.reason, docs.status]).toEqual(['approval', 'waiting']);
    for (const session of sessions.slice(0, 2))
      expect((await server.openCall(session)).reason).toBe('tool_result');
  });

  test('standing rule is made in the confirmation and revoked in the list', async ({
    page,
    server,
  }) => {
    const first = await server.create('deploy shop');
    await signIn(page, server);
    await button(page, 'Approve…').click();
    await page.getByText('A rule…', { exact: true }).click();
    await shows(page, 'What must be the same each time');
    await expect(page.getByLabel('The last day')).not.toHaveValue('');
    await accessible(page, 'a standing rule');
    await button(page, 'Approve with this rule and run').click();
    await shows(page, 'and later calls like it do, too');
    expect((await server.openCall(first.id)).reason).toBe('tool_result');
    // Nobody is asked for the same arguments; for other ones people are.
    const same = await server.create('deploy shop');
    expect((await server.openCall(same.id)).reason).toBe('tool_result');
    const differs = await server.create('deploy blog');
    expect((await server.openCall(differs.id)).reason).toBe('approval');
    await page.goto(`${server.url}/operate/rules`);
    await shows(page, 'by you');
    await shows(page, '1 use');
    await accessible(page, 'rules');
    await button(page, 'Revoke…').click();
    await button(page, 'Revoke it').click();
    await shows(page, 'People are asked again');
    await shows(page, 'No standing rules');
    const again = await server.create('deploy shop');
    expect((await server.openCall(again.id)).reason).toBe('approval');
  });

  test('denied call never runs and the agent reads why', async ({ page, server }) => {
    const session = await server.create('deploy shop');
    await signIn(page, server);
    await shows(page, 'Deploy shop?');
    await shows(page, 'Who can decide');
    await button(page, 'Deny…').click();
    await page.locator('#reason').fill('not on a friday');
    await button(page, 'Deny the call').click();
    await shows(page, 'Denied. The agent got your reason.');
    await server.atRest(session.id);
    expect(await server.lastText(session.id)).toBe('deploy shop failed: denied: not on a friday');
  });
});

test.describe('with a gate that needs two', () => {
  test.use({
    config: `
[[gate]]
id = "deploys"
tools = ["deploy"]
ask = "Deploy {input.target}?"
need = 2
always_ask = true
`,
  });

  test('two approvals are needed and the second one runs it', async ({ page, other, server }) => {
    const session = await server.create('deploy shop');
    const theirs = await other.newPage();
    await signIn(page, server);
    await shows(page, '2 approvals are needed · 0 of 2');
    await button(page, 'Approve, 1 of 2…').click();
    // A gate that always asks takes no rules.
    await expect(page.getByText('A rule…', { exact: true })).toHaveCount(0);
    await button(page, 'Approve and run').click();
    await shows(page, 'Your approval is counted. Others must agree too.');
    expect((await server.openCall(session.id)).reason).toBe('approval');
    await signIn(theirs, server, '/', 'bob', 'answer');
    await shows(theirs, '1 of 2');
    await button(theirs, 'Approve, 2 of 2…').click();
    await button(theirs, 'Approve and run').click();
    await shows(theirs, 'Approved.');
    expect((await server.openCall(session.id)).reason).toBe('tool_result');
  });
});

test.describe('with a gate whose answer is due in ten minutes', () => {
  test.use({
    config: `
[[gate]]
id = "deploys"
tools = ["deploy"]
ask = "Deploy {input.target}?"
timeout = "10m"
`,
  });

  test('expired call says so to the person who was deciding and later', async ({
    page,
    server,
  }) => {
    const session = await server.create('deploy shop');
    const call = await server.openCall(session.id);
    await signIn(page, server);
    await shows(page, 'left');
    await shows(page, 'the call is denied and the agent gets “nobody answered in time”');
    await button(page, 'Approve…').click();
    await page.locator('#comment').fill('go ahead');
    await server.advance(601);
    const late = page.locator('.late');
    await expect(late).toContainText(/Expired at/);
    await expect(late).toContainText('You wrote “go ahead”. The text is kept here.');
    await expect(button(page, 'Approve and run')).toHaveCount(0);
    expect((await server.call(call.id)).status).toBe('expired');
    await page.goto(`${server.url}/a/${call.id}`);
    await shows(page, 'Expired');
    await shows(page, 'Nobody answered in time, so the call was denied.');
    await expect(button(page, 'Approve…')).toHaveCount(0);
    await expect(page.getByRole('link', { name: 'Open session' })).toBeVisible();
  });
});

test.describe('with a tool that has a schema', () => {
  const schema = {
    type: 'object',
    properties: {
      service: { type: 'string', minLength: 1 },
      replicas: { type: 'integer', minimum: 1, maximum: 50 },
      region: { enum: ['eu-central', 'us-east'] },
      dry: { type: 'boolean' },
      labels: { type: 'object' },
    },
    required: ['service', 'replicas'],
  };
  const input = { service: 'shop', replicas: 12, region: 'eu-central', dry: false, labels: {} };
  test.use({
    config: `tools = ["scale"]

[[tool]]
name = "scale"
kind = "command"
command = ["cat"]
input_schema_file = "scale.json"

[[gate]]
id = "scales"
tools = ["scale"]
ask = "Scale {input.service} to {input.replicas}?"
`,
    files: { 'scale.json': JSON.stringify(schema) },
  });

  test('arguments are edited in a form of the schema and shown as a diff', async ({
    page,
    provider,
    server,
  }) => {
    provider.says = (request) =>
      request.includes('"role":"tool"') ? ['Scaled.'] : [{ tool: 'scale', input }];
    const session = await server.create('scale the shop', { agentID: 'writer' });
    await signIn(page, server);
    const call = await server.openCall(session.id);
    await shows(page, 'Scale shop to 12?');
    await button(page, 'Edit').click();
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await expect(field('replicas')).toHaveAttribute('inputmode', 'decimal');
    await expect(field('region').locator('option')).toHaveText(['eu-central', 'us-east']);
    await expect(field('dry').locator('option')).toHaveText(['true', 'false']);
    for (const [name, text, error] of [
      ['service', '', 'must not be empty'],
      ['replicas', '51', 'must be at most 50'],
      ['replicas', '0', 'must be at least 1'],
      ['replicas', '1.5', 'must be a whole number'],
      ['labels', '{', 'is not JSON'],
    ] as const) {
      const before = await field(name).inputValue();
      await field(name).fill(text);
      await shows(page, error);
      await expect(field(name)).toHaveAttribute('aria-invalid', 'true');
      await field(name).fill(before);
      await expect(page.getByText(error)).toHaveCount(0);
    }
    await field('replicas').fill('6');
    await field('region').selectOption('us-east');
    await button(page, 'Done').click();
    const rows = page.locator('.exec .ch');
    await expect(rows.locator('del')).toHaveText(['12', 'eu-central']);
    await expect(rows.locator('ins')).toHaveText(['6', 'us-east']);
    await accessible(page, 'a form of a schema');
    await button(page, 'Approve with 2 changes…').click();
    await expect(page.locator('dialog .near').first()).toBeVisible();
    await button(page, 'Approve with 2 changes and run').click();
    await shows(page, 'Approved.');
    await server.atRest(session.id);
    expect((await server.call(call.id)).decision?.approved).toBe(true);
    // The tool gives back what it got, and the model read it.
    const ran = JSON.stringify({ ...input, replicas: 6, region: 'us-east' });
    const sent = JSON.parse(String(provider.requests.at(-1))) as {
      messages: { content: string }[];
    };
    expect(JSON.parse(String(sent.messages.at(-1)?.content))).toEqual(JSON.parse(ran));
  });
});
