// Dialogs of tasks, of tokens and links, and of decisions about several things at once.
import { accessible, button, copied, expect, shows, signIn, test, type Page } from './page.ts';

const dialog = (page: Page) => page.locator('dialog');

/** Opens an action of a task by its menu. */
async function act(page: Page, task: string, action: string): Promise<void> {
  await page.getByLabel(`Actions of ${task}`).click();
  await button(page.locator('details[open]'), action).click();
}

test('mail to an unknown name says which one was probably meant', async ({ page, server }) => {
  await server.create(undefined, { alias: 'legal' });
  await signIn(page, server, '/mail');
  await page.keyboard.press('w');
  await dialog(page).getByLabel('To', { exact: true }).fill('leagl');
  await dialog(page).getByLabel('Text').fill('May we?');
  await button(dialog(page), 'Send the mail').click();
  await shows(
    dialog(page),
    /unknown session 'leagl' \(did you mean 'legal'\?\)\. What you wrote is kept/,
  );
  await accessible(page, 'mail to an unknown name');
  await dialog(page).getByLabel('To', { exact: true }).fill('legal');
  await button(dialog(page), 'Send the mail').click();
  await shows(page, 'Sent to 1 session.');
});

test('task is read, resumed and cleared in its dialogs', async ({ page, server }) => {
  const session = await server.create('background hello');
  await signIn(page, server, `/sessions/${session.id}/tasks`);
  const tree = page.getByRole('tree');
  await shows(tree, 'You said: hello');
  await act(page, 'hello', 'Output');
  await shows(dialog(page), 'You said: hello');
  await accessible(page, 'output of a task');
  await button(dialog(page), 'Back').click();
  await act(page, 'hello', 'Resume…');
  await accessible(page, 'a task is resumed');
  await expect(button(dialog(page), 'Resume the task')).toBeDisabled();
  await dialog(page).locator('textarea').fill('again');
  await button(dialog(page), 'Resume the task').click();
  await shows(page, 'Resumed.');
  await shows(tree, 'You said: again');
  await act(page, 'hello', 'Clear…');
  await shows(dialog(page), 'Its history can still be read.');
  await button(dialog(page), 'Clear the task').click();
  await shows(page, 'Cleared.');
  await shows(page, 'This session has not started any.');
});

test('task that runs is cancelled with a reason', async ({ page, server }) => {
  const session = await server.create('background wait 1h');
  await signIn(page, server, `/sessions/${session.id}/tasks`);
  await act(page, 'wait 1h', 'Cancel…');
  await shows(dialog(page), 'Its run stops.');
  await dialog(page).locator('textarea').fill('not needed');
  await button(dialog(page), 'Cancel the task').click();
  await shows(page, 'Cancelled.');
  type List = { items: { status: string }[] };
  const { items } = await server.api.ok<List>('GET', `/api/sessions/${session.id}/tasks`);
  expect(items.map((one) => one.status)).toEqual(['cancelled']);
});

test('token is made, shown once, and revoked', async ({ page, server }) => {
  await signIn(page, server, '/operate/access');
  await button(page, 'New token').click();
  await expect(button(dialog(page), 'Make the token')).toBeDisabled();
  await dialog(page).getByLabel('Name of its holder').fill('robot');
  await dialog(page).getByLabel('What they may do').selectOption('read');
  await dialog(page).getByLabel('Projects (all if empty)').fill('default');
  await dialog(page).getByLabel('Lives').selectOption('1');
  await accessible(page, 'a new token');
  await button(dialog(page), 'Make the token').click();
  const secret = String(await dialog(page).locator('.cap').textContent());
  const robot = server.as(secret);
  const { name, role, projects } = await robot.ok('GET', '/api/me');
  expect({ name, role, projects }).toEqual({ name: 'robot', role: 'read', projects: ['default'] });
  await button(dialog(page), 'Copy it').click();
  await expect.poll(() => copied(page)).toBe(secret);
  await button(dialog(page), 'Back').click();
  // A second look has no secret.
  await button(page, 'New token').click();
  await expect(dialog(page).locator('.cap')).toHaveCount(0);
  await button(dialog(page), 'Back').click();
  await button(page.locator('.r', { hasText: 'robot' }), 'Revoke…').click();
  await shows(dialog(page), 'robot is refused from this moment');
  await button(dialog(page), 'Revoke it').click();
  await shows(page, 'Revoked.');
  await expect(page.locator('.r', { hasText: 'robot' })).toHaveCount(0);
  expect((await robot.call('GET', '/api/me')).status).toBe(401);
});

test('first token is revoked when another one administers', async ({ page, server }) => {
  await signIn(page, server, '/operate/access');
  const first = page.locator('.r', { hasText: 'built in' });
  const revoke = async (): Promise<void> => {
    await button(first, 'Revoke…').click();
    await shows(dialog(page), 'first is refused from this moment');
    await button(dialog(page), 'Revoke it').click();
  };
  await revoke();
  await shows(page, 'No other token could create tokens.');
  await expect(first).toHaveCount(1);
  const body = { name: 'operator', role: 'admin' };
  const { secret } = await server.api.ok<{ secret: string }>('POST', '/api/tokens', body);
  await revoke();
  await shows(page, 'Revoked.');
  await expect(first).toHaveCount(0);
  expect((await server.api.call('GET', '/api/me')).status).toBe(401);
  server.api = server.as(secret);
  expect((await server.api.call('GET', '/api/me')).status).toBe(200);
});

test('sign-in link that is made on a phone signs its person in', async ({ page, server }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await signIn(page, server, '/operate/access');
  await page.getByLabel('New: token, sign-in link').click();
  await button(page, 'New sign-in link').click();
  await dialog(page).getByLabel('Name of the person').fill('bob');
  await dialog(page).getByLabel('What they may do').selectOption('answer');
  await button(dialog(page), 'Make the link').click();
  const link = String(await dialog(page).locator('.cap').textContent());
  await accessible(page, 'a new link');
  await page.goto(link);
  await button(page, 'Sign in as bob').click();
  await shows(page, 'Nothing waits for you');
  expect((await page.request.get(`${server.url}/api/me`)).ok()).toBe(true);
});

test.describe('several calls', () => {
  test.use({
    config: `
[[gate]]
id = "deploys"
tools = ["approve_deploy"]
ask = "Deploy {input.target} to production?"
`,
  });

  test('are denied together, except one that another person decided', async ({ page, server }) => {
    const made = [];
    for (const name of ['A', 'B', 'C']) made.push(await server.create(`approve-deploy ${name}`));
    const calls = await Promise.all(made.map((one) => server.openCall(one.id)));
    await signIn(page, server);
    await button(page, 'Select…').click();
    for (const box of await page.locator('.tick').all()) await box.check();
    await button(page, 'Deny 3…').click();
    await shows(dialog(page), 'Deny 3 calls of approve_deploy?');
    await accessible(page, 'several are denied');
    await dialog(page).locator('textarea').fill('not on a Friday');
    await server.decide(calls[1]!, true);
    await button(dialog(page), 'Deny all 3').click();
    await shows(dialog(page), '1 call did not take your answer.');
    await shows(dialog(page), /Already approved by .*first/);
    await button(dialog(page), 'Back').click();
    const decided = await Promise.all(calls.map((one) => server.call(one.id)));
    expect(decided.map((one) => one.decision?.approved)).toEqual([false, true, false]);
    expect(decided[0]?.decision?.reason).toBe('not on a Friday');
  });
});

test('deliveries that were given up are sent again together', async ({ page, server }) => {
  const delivery = {
    id: 'dlv_1',
    projectID: 'default',
    type: 'call_settled',
    url: 'https://hooks.example/x',
    state: 'dead',
    attempts: 8,
    lastStatus: 503,
    lastError: null,
    nextAt: null,
    time: { created: Date.now(), completed: null },
  };
  const sent: string[] = [];
  await page.route(/\/api\/deliveries/, (route) => {
    const [, id] = /deliveries\/([^/]+)\/retry/.exec(route.request().url()) ?? [];
    if (id) sent.push(id);
    const items = sent.length > 0 ? [] : [delivery, { ...delivery, id: 'dlv_2' }];
    return route.fulfill({ json: id ? { ...delivery, id } : { items, next: null } });
  });
  await signIn(page, server, '/operate/deliveries');
  await button(page, 'Send 2 again…').click();
  await shows(dialog(page), 'Send 2 deliveries again?');
  await accessible(page, 'deliveries are sent again');
  await button(dialog(page), 'Back').click();
  expect(sent).toEqual([]);
  await button(page, 'Send 2 again…').click();
  await button(dialog(page), 'Send 2 again').click();
  await shows(page, '2 deliveries are sent again.');
  expect(sent).toEqual(['dlv_1', 'dlv_2']);
});

test('mail is written to named sessions, and says who did not get it', async ({ page, server }) => {
  const buyer = await server.create(undefined, { alias: 'buyer' });
  await server.create(undefined, { alias: 'legal' });
  await signIn(page, server, '/mail');
  await expect(button(page, 'Write').first()).toBeVisible();
  await page.keyboard.press('w');
  const send = button(dialog(page), 'Send the mail');
  await expect(send).toBeDisabled();
  await dialog(page).getByLabel('To').fill('buyer, nobody');
  await dialog(page).getByLabel('Text').fill('ü'.repeat(32_769));
  await shows(dialog(page), 'must be at most 64 KiB');
  await expect(send).toBeDisabled();
  await dialog(page).getByLabel('Text').fill('May we ask for 60 days?');
  await dialog(page).getByText('Options').click();
  await dialog(page).getByLabel('It wakes').selectOption('none');
  await accessible(page, 'a new mail');
  await page.keyboard.press('Escape');
  await button(page, 'Write').first().click();
  // What was written is kept until it is sent.
  await expect(dialog(page).getByLabel('Text')).toHaveValue('May we ask for 60 days?');
  await dialog(page).getByLabel('Text').press('Control+Enter');
  await shows(dialog(page), 'Not delivered to one session');
  await shows(dialog(page), 'nobody');
  await button(dialog(page), 'Back').click();
  await shows(page, 'May we ask for 60 days?');
  type Inbox = { items: { text: string; by: { name: string } }[] };
  const { items } = await server.api.ok<Inbox>('GET', `/api/sessions/${buyer.id}/inbox`);
  expect(items.map((one) => [one.text, one.by.name])).toEqual([
    ['May we ask for 60 days?', 'alice'],
  ]);
});

test('refused mail keeps what was written and says why', async ({ page, server }) => {
  await server.create();
  await signIn(page, server, '/mail');
  await button(page, 'Write').first().click();
  await dialog(page).getByLabel('To').fill('nobody');
  await dialog(page).getByLabel('Text').fill('Hello');
  await button(dialog(page), 'Send the mail').click();
  await expect(dialog(page).getByRole('alert')).toContainText('What you wrote is kept.');
  await expect(dialog(page).getByLabel('Text')).toHaveValue('Hello');
});

test('mail that was not delivered is shown with its reason', async ({ page, server }) => {
  const hub = await server.create(undefined, { alias: 'hub' });
  await server.create(undefined, { alias: 'legal' });
  const ended = await server.create();
  await server.api.ok('POST', `/api/sessions/${ended.id}/end`, {});
  const mail = { to: ['legal', ended.id], from: hub.id, text: 'To both of you' };
  await server.api.ok('POST', '/api/mail', mail);
  await signIn(page, server, '/mail');
  const item = page.locator('.ml').filter({ hasText: 'Not delivered to 1 session' });
  await shows(item, 'To both of you');
  await button(item, 'Show why').click();
  await expect(item.locator('li')).toHaveCount(1);
  await expect(item.locator('li')).toHaveText(/\S+: \S+/);
  await accessible(page, 'mail that was not delivered');
});

test('task is started from the list and from its session', async ({ page, server }) => {
  const session = await server.create('hello', { title: 'The parent' });
  await signIn(page, server, '/tasks');
  await expect(button(page, 'New task').first()).toBeVisible();
  await page.keyboard.press('n');
  const start = button(dialog(page), 'Start the task');
  await expect(start).toBeDisabled();
  await expect(dialog(page).getByLabel('Of the session', { exact: true })).toHaveValue(session.id);
  await dialog(page).getByLabel('Agent').selectOption('demo');
  await dialog(page).getByLabel('What it shall do').fill('first of two');
  await dialog(page).getByLabel('Name in the list').fill('The first');
  await accessible(page, 'a new task');
  await start.click();
  await shows(page.getByRole('tree'), 'The first');
  await page.goto(`${server.url}/sessions/${session.id}/tasks`);
  await button(page, 'New task').click();
  await dialog(page).getByLabel('What it shall do').fill('second of two');
  await dialog(page).getByLabel('Begin with the messages').check();
  await dialog(page).getByLabel('What it shall do').press('Control+Enter');
  await shows(page.getByRole('tree'), 'second of two');
  type List = { items: { prompt: string; description: string }[] };
  const { items } = await server.api.ok<List>('GET', `/api/sessions/${session.id}/tasks`);
  expect(items.map((one) => one.prompt)).toEqual(['first of two', 'second of two']);
});

test('reader is offered neither mail nor tasks', async ({ page, server }) => {
  const session = await server.create('background hello');
  await signIn(page, server, '/mail', 'rita', 'read');
  await shows(page, 'No mail');
  await page.keyboard.press('w');
  await expect(page.getByRole('button', { name: 'Write' })).toHaveCount(0);
  await page.goto(`${server.url}/sessions/${session.id}/tasks`);
  await shows(page.getByRole('tree'), 'hello');
  await page.keyboard.press('n');
  await expect(page.getByRole('button', { name: 'New task' })).toHaveCount(0);
  await expect(dialog(page)).toHaveCount(0);
});
