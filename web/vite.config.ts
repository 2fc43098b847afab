/// <reference types="vitest/config" />
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

const client = fileURLToPath(new URL('../clients/typescript/src/index.ts', import.meta.url));

export default defineConfig({
  plugins: [svelte()],
  resolve: {
    alias: { 'dormouse-client': client },
    conditions: process.env.VITEST ? ['browser'] : undefined,
  },
  build: {
    target: ['chrome111', 'firefox113', 'safari16.4'],
    // A data: URL would need a wider Content-Security-Policy.
    assetsInlineLimit: 0,
    // Everything but index.html, the manifest and the service worker has its hash in its name.
    assetsDir: 'assets',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { fs: { allow: ['..'] } },
  test: {
    environment: 'jsdom',
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
  },
});
