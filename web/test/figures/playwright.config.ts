import { defineConfig } from '@playwright/test';
import base from '../browser/playwright.config.ts';

export default defineConfig({
  ...base,
  testDir: '.',
  timeout: 600_000,
  outputDir: '../../../build/browser-figures',
});
