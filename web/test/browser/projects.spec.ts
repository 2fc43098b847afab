// Several projects: one inbox, a choice of the project for lists; what sessions cost.
import { expect, shows, signIn, test, type Page } from './page.ts';

const row = (page: Page, title: string) => page.locator('tr', { hasText: title });

test('inbox has the calls of all projects and lists are of one', async ({ page, server }) => {
  await server.create('approve A', { title: 'In default' });
  await server.create('approve B', { project: 'second', title: 'In second' });
  await signIn(page, server, '/', 'bob', 'operate');
  await expect(page.locator('.nav .n.wait')).toHaveText('2');
  await shows(page, 'demo · second');
  // What happens in any project arrives.
  const third = await server.create('approve C', { project: 'third', title: 'In third' });
  await expect(page.locator('.nav .n.wait')).toHaveText('3');
  const call = await server.openCall(third.id);
  await server.decide(call, false);
  await expect(page.locator('.nav .n.wait')).toHaveText('2');

  await page.goto(`${server.url}/sessions`);
  await expect(row(page, 'In default')).toBeVisible();
  await expect(row(page, 'In second')).toHaveCount(0);
  await page.locator('.nav').getByLabel('Project').selectOption('second');
  await expect(row(page, 'In second')).toBeVisible();
  await expect(row(page, 'In default')).toHaveCount(0);
  await expect(page).toHaveURL(/[?&]project=second(&|$)/);
  await server.create('hello', { project: 'second', title: 'Came later' });
  await expect(row(page, 'Came later')).toBeVisible();
  await server.create('hello', { title: 'Came elsewhere' });
  await page.goto(`${server.url}/sessions?project=default`);
  await expect(row(page, 'Came elsewhere')).toBeVisible();
  await expect(page.locator('.nav').getByLabel('Project')).toHaveValue('default');
});

test.describe('prices', () => {
  test.use({
    config: `
[[model]]
id = "priced"
kind = "scripted"
input_price = 5000
output_price = 5000

[[agent]]
id = "priced"
model = "priced"
`,
  });
  test('sessions show what they cost', async ({ page, server }) => {
    const { id } = await server.create('hello', { agentID: 'priced', title: 'Paid' });
    const { usage } = await server.session(id);
    const amount = `$${(((usage.cost as Record<string, number>)['USD'] ?? 0) / 1e6).toFixed(2)}`;
    expect(amount).not.toBe('$0.00');
    await signIn(page, server);
    await page.goto(`${server.url}/sessions`);
    await expect(row(page, 'Paid')).toContainText(amount);
    await page.goto(`${server.url}/sessions/${id}`);
    await shows(page, amount);
    await page.goto(`${server.url}/sessions/${id}/timeline`);
    await expect(page.locator('svg text', { hasText: amount })).toBeVisible();
  });
});
