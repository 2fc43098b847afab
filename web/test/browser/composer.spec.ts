// What a person writes to a session: files from each source, the three ways to send, drafts.
import type { Locator, Page } from '@playwright/test';
import { accessible, button, expect, once, PHONE, shows, signIn, test } from './page.ts';
import { PIECES } from './provider.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const message = (page: Page): Locator => page.getByLabel('Message', { exact: true });
const attached = (page: Page): Locator => page.locator('.cmp .files .chip');

/** Puts a file where a drop or a paste has it. */
const give = (
  page: Page,
  kind: 'drop' | 'paste',
  name: string,
  mime: string,
  base64: string,
): Promise<boolean> =>
  message(page).evaluate(
    (field, [event, called, type, data]) => {
      const bytes = Uint8Array.from(atob(String(data)), (one) => one.charCodeAt(0));
      const all = new DataTransfer();
      all.items.add(new File([bytes], String(called), { type: String(type) }));
      const options = { bubbles: true, cancelable: true };
      return field.dispatchEvent(
        event === 'drop'
          ? new DragEvent('drop', { ...options, dataTransfer: all })
          : new ClipboardEvent('paste', { ...options, clipboardData: all }),
      );
    },
    [kind, name, mime, base64],
  );

/** Pictures of the newest message have loaded with this width. */
const widths = (page: Page): Promise<number[]> =>
  page
    .locator('.msg .media img')
    .evaluateAll((all) => all.map((one) => (one as HTMLImageElement).naturalWidth));

test.describe('on a phone', () => {
  test.use(PHONE);

  test('pictures of the camera travel into the prompt', async ({ page, provider, server }) => {
    provider.says = () => ['Seen.'];
    const session = await server.create(undefined, { agentID: 'writer' });
    await signIn(page, server, `/sessions/${session.id}`);
    const take = button(page, 'Take a picture');
    const picture = {
      name: 'image.png',
      mimeType: 'image/png',
      buffer: Buffer.from(PIXEL, 'base64'),
    };
    // A camera may call each picture the same.
    for (const count of [1, 2]) {
      const [chooser] = await Promise.all([page.waitForEvent('filechooser'), take.tap()]);
      const input = chooser.element();
      expect(await input.getAttribute('capture')).toBe('environment');
      expect(await input.getAttribute('accept')).toBe('image/*');
      expect(chooser.isMultiple()).toBe(false);
      await chooser.setFiles(picture);
      await expect(attached(page)).toHaveCount(count);
      // The browser reports no change if the same file is chosen again.
      expect(await input.evaluate((one: HTMLInputElement) => one.value)).toBe('');
    }
    await button(page, 'Remove image.png').first().tap();
    await expect(attached(page)).toHaveCount(1);
    await accessible(page, 'a picture in the composer');
    await message(page).fill('what is this?');
    await button(page, 'Send').tap();
    await shows(page, 'Seen.');
    await expect(attached(page)).toHaveCount(0);
    await expect.poll(() => widths(page)).toEqual([1]);
    // The model got the picture as it was taken.
    expect(provider.requests.at(-1)).toContain(`data:image/png;base64,${PIXEL}`);
  });
});

test('files are dropped and pasted, and text is pasted as text', async ({ page, server }) => {
  const session = await server.create();
  await signIn(page, server, `/sessions/${session.id}`);
  await expect(message(page)).toBeVisible();
  // The browser must not open what is dropped.
  expect(await give(page, 'drop', 'rows.csv', 'text/csv', btoa('a,b'))).toBe(false);
  await expect(attached(page)).toHaveText([/rows\.csv/]);
  await give(page, 'paste', 'image.png', 'image/png', PIXEL);
  await expect(attached(page)).toHaveText([/rows\.csv/, /image\.png/]);
  await page.evaluate(() => navigator.clipboard.writeText('pasted words'));
  await message(page).focus();
  await page.keyboard.press('Control+v');
  await expect(message(page)).toHaveValue('pasted words');
  await button(page, 'Send').click();
  await shows(page, 'You said: pasted words');
  await expect.poll(() => widths(page)).toEqual([1]);
  await expect(page.locator('.msg .media a')).toHaveText('rows.csv');
});

/** A picture without compression, as a BMP: white, with 24 bits a pixel. */
function bitmap(width: number, height: number): Buffer {
  const out = Buffer.alloc(54 + 3 * width * height, 255);
  out.fill(0, 0, 54);
  out.write('BM');
  out.writeUInt32LE(out.length, 2);
  out.writeUInt32LE(54, 10);
  out.writeUInt32LE(40, 14);
  out.writeInt32LE(width, 18);
  out.writeInt32LE(height, 22);
  out.writeUInt16LE(1, 26);
  out.writeUInt16LE(24, 28);
  return out;
}

test('picture that is too large is made smaller, and another file is refused', async ({
  page,
  server,
}) => {
  const session = await server.create();
  await signIn(page, server, `/sessions/${session.id}`);
  const chooser = page.locator('.cmp input[type=file]').first();
  await chooser.setInputFiles({
    name: 'photo.bmp',
    mimeType: 'image/bmp',
    buffer: bitmap(2400, 1000),
  });
  await shows(page, 'photo.bmp was made smaller');
  await expect(attached(page)).toHaveText([/photo\.jpg/]);
  for (const [name, mimeType] of [
    ['rows.csv', 'text/csv'],
    ['broken.png', 'image/png'],
  ] as const) {
    await chooser.setInputFiles({ name, mimeType, buffer: Buffer.alloc(5_300_000, 'a') });
    await shows(page, `${name} must be at most 5.2 MB`);
  }
  await message(page).fill('see');
  await button(page, 'Send').click();
  await shows(page, 'You said: see');
  await expect.poll(() => widths(page)).toEqual([2048]);
});

test.describe('while a turn is open', () => {
  const choose = async (page: Page, mode: string): Promise<void> => {
    await page.getByLabel('How it is sent: Queue').click();
    await page.locator('.cmp').getByRole('button', { name: mode }).click();
  };
  const send = async (page: Page, text: string): Promise<void> => {
    await message(page).fill(text);
    await button(page, 'Send').click();
    await expect(message(page)).toHaveValue('');
  };

  test('prompt is queued for the next turn', async ({ page, provider, server }) => {
    const session = await server.create(undefined, { agentID: 'writer' });
    await signIn(page, server, `/sessions/${session.id}`);
    await send(page, 'begin');
    await shows(page, String(PIECES[0]).trim());
    await send(page, 'and then this');
    await expect(page.locator('.queued')).toContainText('and then this');
    expect(provider.requests).toHaveLength(1);
    provider.release(100);
    await expect(page.locator('.queued')).toHaveCount(0);
    await server.atRest(session.id);
    await once(page, 'and then this');
    expect(provider.requests).toHaveLength(2);
    expect(provider.requests[1]).toContain(PIECES.join('').slice(-12));
  });

  test('prompt interrupts the turn', async ({ page, provider, server }) => {
    const session = await server.create(undefined, { agentID: 'writer' });
    await signIn(page, server, `/sessions/${session.id}`);
    await send(page, 'begin');
    await shows(page, String(PIECES[0]).trim());
    provider.says = () => ['Heard at once.'];
    await choose(page, 'Interrupt');
    await send(page, 'stop, do this');
    // The first request is abandoned: nothing has released its other pieces.
    await shows(page, 'Heard at once.');
    await server.atRest(session.id);
    await once(page, 'stop, do this');
  });

  test('prompt steers the turn that waits', async ({ page, server }) => {
    const session = await server.create('deploy shop');
    const [call] = await server.openCalls(session.id);
    await signIn(page, server, `/sessions/${session.id}`);
    await shows(page, 'Asleep for');
    await choose(page, 'Steer');
    await send(page, 'be quick');
    const turn = async (): Promise<unknown> => (await server.session(session.id)).activity;
    await shows(page.locator('.th'), 'be quick');
    await server.result(String(call?.id), { version: 2 });
    await server.atRest(session.id);
    expect(await turn()).toMatchObject({ type: 'idle' });
    type Events = { items: { type: string; data: { when?: string } }[] };
    const path = `/api/sessions/${session.id}/events?limit=200`;
    const { items } = await server.api.ok<Events>('GET', path);
    const inputs = items.filter((one) => one.type === 'input_received');
    expect(inputs.map((one) => one.data.when ?? 'queue')).toEqual(['queue', 'steer']);
    await expect(page.locator('.msg').getByText('be quick', { exact: true })).toHaveCount(1);
  });
});

test('draft is kept for each session over a reload', async ({ page, server }) => {
  const sessions = [await server.create(), await server.create()];
  const [first, second] = sessions.map((one) => `/sessions/${one.id}`);
  await signIn(page, server, String(first));
  await message(page).fill('for the first');
  await page.goto(server.url + String(second));
  await expect(message(page)).toHaveValue('');
  await message(page).fill('for the second');
  await page.reload();
  await expect(message(page)).toHaveValue('for the second');
  await page.goto(server.url + String(first));
  await expect(message(page)).toHaveValue('for the first');
  await button(page, 'Send').click();
  await shows(page, 'You said: for the first');
  await page.reload();
  await shows(page, 'You said: for the first');
  await expect(message(page)).toHaveValue('');
});
