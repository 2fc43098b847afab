import { execFileSync } from 'node:child_process';
import { defineConfig } from '@playwright/test';

const chromium = ['chromium-headless-shell', 'chromium']
  .map((name) => {
    try {
      return execFileSync('which', [name], { encoding: 'utf8' }).trim();
    } catch {
      return '';
    }
  })
  .find(Boolean);
if (!chromium) throw new Error('not installed: chromium-headless-shell (tools/setup.sh test)');

// No other host is reached; these names are the tests' own.
const NAMES = ['evil.example', 'rebound.example'];
const rules = [
  ...NAMES.map((name) => `MAP ${name} 127.0.0.1`),
  'MAP * ~NOTFOUND',
  'EXCLUDE 127.0.0.1',
  'EXCLUDE localhost',
  'EXCLUDE 0.0.0.0',
];

export default defineConfig({
  testDir: '.',
  outputDir: '../../../build/browser',
  workers: 1,
  timeout: 60_000,
  expect: { timeout: 20_000 },
  forbidOnly: true,
  use: {
    viewport: { width: 1440, height: 900 },
    actionTimeout: 20_000,
    permissions: ['clipboard-read', 'clipboard-write'],
    timezoneId: 'Europe/Berlin',
    locale: 'en-GB',
    launchOptions: {
      executablePath: chromium,
      // Root can run it without a sandbox only.
      args: ['--no-sandbox', '--disable-gpu', `--host-resolver-rules=${rules.join(',')}`],
    },
  },
});
