// The overview: what needs a person, dead letters, the disk.
import { accessible, button, expect, shows, signIn, test } from './page.ts';

test('overview and navigation count the same things, with dead letters and the disk', async ({
  page,
  server,
}) => {
  const delivery = {
    id: 'dlv_x',
    projectID: 'default',
    url: 'https://hooks.example/x',
    state: 'dead',
    attempts: 8,
    lastStatus: 503,
    lastError: null,
    time: { created: Date.now(), completed: null },
  };
  await page.route('**/api/deliveries*', (route) =>
    route.fulfill({ json: { items: [delivery, { ...delivery, id: 'dlv_y' }], next: null } }),
  );
  await signIn(page, server, '/operate');
  await shows(page, '2 things need a person');
  await expect(page.locator('.nr', { hasText: 'answered 503' })).toHaveCount(2);
  await expect(page.locator('.nav a[href="/operate"] .n')).toHaveText('2');
  const figure = (name: string) => page.locator('.nums > div').filter({ hasText: name });
  await expect(figure('Dead letters').locator('dd')).toContainText('2');
  await expect(figure('Disk free').locator('dd')).toContainText(/\d+(\.\d+)? [KMGT]B/);
  await expect(figure('Disk free').locator('dd')).toContainText('the store has');
  await accessible(page, 'overview with dead letters');
  await figure('Dead letters').getByRole('link').click();
  await expect(page).toHaveURL(/\/operate\/deliveries\?state=dead/);
});

test('index that cannot be written needs a person', async ({ page, server }) => {
  await page.route('**/api/doctor*', async (route) => {
    const doctor = await (await route.fetch()).json();
    const indexes = [
      {
        name: 'files',
        state: 'failed',
        why: 'index.json: No space left on device',
        behindSince: 1,
      },
      { name: 'redis', state: 'current', why: null, behindSince: null },
    ];
    await route.fulfill({ json: { ...doctor, indexes } });
  });
  await signIn(page, server, '/operate');
  await shows(page, '1 thing needs a person');
  const row = page.locator('.nr', { hasText: 'The index files cannot be written' });
  await shows(row, 'No space left on device');
  await expect(page.locator('.nav a[href="/operate"] .n')).toHaveText('1');
  await accessible(page, 'overview with a failing index');
  await row.getByRole('link', { name: 'Nodes' }).click();
  await expect(page).toHaveURL(/\/operate\/nodes/);
});

test('repair looks first and says what it found', async ({ page, server }) => {
  await server.create('hello');
  await signIn(page, server, '/operate');
  await shows(page, 'Nothing needs a person');
  await button(page, 'Repair…').click();
  await shows(page, 'Nothing to repair. 1 session checked.');
});

test('charts show what happened since the page was opened', async ({ page, server }) => {
  const session = await server.create('deploy shop');
  await signIn(page, server, '/operate');
  const card = (name: string) => page.locator('.ch .card').filter({ hasText: name });
  await shows(card('Waiting calls on the server'), '1 now');
  await shows(card('Wake latency'), 'No session has continued with a result');
  await shows(card('Dead letters'), '0 now');
  await server.result((await server.openCall(session.id)).id, 'live');
  // With the next figures.
  await shows(card('Wake latency'), /99 %: /);
  await shows(card('Waiting calls on the server'), '0 now');
  await expect(card('Results received').locator('rect.full')).toHaveCount(1);
  await shows(card('Results received'), '1 applied');
  await accessible(page, 'charts of the overview');
  await button(page, 'Show as table').click();
  const row = page.locator('.times tbody tr').last();
  await expect(row.locator('td')).toHaveText([/:/, '0', '0', /s$/, /s$/, '1', '0', '0']);
  await accessible(page, 'the charts as a table');
});
