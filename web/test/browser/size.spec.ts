// What the page costs: bytes that a browser loads first, and bytes that it adds to the program.
import { brotliDecompressSync } from 'node:zlib';
import { request } from 'node:http';
import { expect, shows, signIn, test } from './page.ts';
import type { Server } from './server.ts';

const FIRST_LOAD_MOST = 150_000;
const PROGRAM_MOST = 1_000_000;

/** A file as it is sent to a browser that takes Brotli, or to one that does not. */
const file = (server: Server, path: string, encoding: string): Promise<Buffer> =>
  new Promise((done, failed) => {
    const headers = { 'accept-encoding': encoding };
    request(server.url + path, { headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => done(Buffer.concat(chunks)));
    })
      .on('error', failed)
      .end();
  });

test.describe('a browser that was never here', () => {
  // The sign-in starts the worker, which keeps files of the page.
  test.use({ serviceWorkers: 'block' });

  test('first load is at most 150 KB compressed', async ({ page, server }) => {
    await signIn(page, server);
    const session = await page.context().newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.clearBrowserCache');
    let bytes = 0;
    session.on('Network.loadingFinished', (one) => (bytes += one.encodedDataLength));
    await page.goto(server.url, { waitUntil: 'load' });
    await shows(page, 'Nothing waits for you');
    await shows(page, 'Connected');
    console.log(`first load: ${bytes} bytes, with heads and data`);
    expect(bytes).toBeGreaterThan(50_000); // it was loaded, and not from the cache
    expect(bytes).toBeLessThanOrEqual(FIRST_LOAD_MOST);
  });
});

test('files of the page add at most 1 MB to the program', async ({ server }) => {
  const shell = (await file(server, '/index.html', 'identity')).toString();
  const assets = [...shell.matchAll(/"(\/assets\/[^"]+)"/g)].map((match) => String(match[1]));
  expect(assets.length).toBeGreaterThanOrEqual(2);
  let bytes = 0;
  for (const path of ['/index.html', '/service-worker.js', '/icon.svg', ...assets]) {
    const plain = await file(server, path, 'identity');
    const small = await file(server, path, 'br');
    expect(brotliDecompressSync(small).equals(plain), path).toBe(true);
    expect(small.length, path).toBeLessThan(plain.length);
    bytes += plain.length + small.length;
  }
  console.log(`files of the page: ${bytes} bytes, plain and compressed`);
  expect(bytes).toBeLessThanOrEqual(PROGRAM_MOST);
});
