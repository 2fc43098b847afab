#!/usr/bin/env node
// Serves dist/ with the headers that the server will send, and hands everything else to a Dormouse server, or to the
// fake one. `node dev/serve.mjs [--port 4170] [--to http://127.0.0.1:3676] [--token TOKEN] [--fake]`
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webmanifest': 'application/manifest+json',
};
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svelte-trusted-html dormouse-worker',
].join('; ');
const API = /^\/(api|async-tool|c|openapi\.json|metrics|healthz|readyz)(\/|$|\?)/;

function file(path, answer, accepts) {
  const name = normalize(join(DIST, path));
  const found =
    name.startsWith(DIST) && existsSync(name) && statSync(name).isFile()
      ? name
      : join(DIST, 'index.html');
  const headers = {
    'content-type': TYPES[extname(found)] ?? 'application/octet-stream',
    'cache-control': found.includes('/assets/')
      ? 'public, max-age=31536000, immutable'
      : 'no-cache',
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    vary: 'accept-encoding',
  };
  const small = accepts.includes('br') && existsSync(`${found}.br`);
  if (small) headers['content-encoding'] = 'br';
  answer.writeHead(200, headers);
  createReadStream(small ? `${found}.br` : found).pipe(answer);
}

function proxy(incoming, answer, to, token) {
  const url = new URL(to);
  const headers = { ...incoming.headers, host: url.host };
  if (headers.origin) headers.origin = url.origin;
  if (token) headers.authorization = `Bearer ${token}`;
  const out = request(
    { host: url.hostname, port: url.port, path: incoming.url, method: incoming.method, headers },
    (reply) => {
      answer.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(answer);
    },
  );
  out.on('error', () => answer.writableEnded || answer.destroy());
  answer.on('close', () => out.destroy());
  incoming.pipe(out);
}

export function serve({ port = 0, to = '', token = '', fake = null } = {}) {
  const server = createServer((incoming, answer) => {
    const isApi =
      API.test(incoming.url) || (incoming.url.startsWith('/sign-in') && incoming.method !== 'GET');
    if (!isApi)
      return file(
        new URL(incoming.url, 'http://x').pathname,
        answer,
        incoming.headers['accept-encoding'] ?? '',
      );
    if (fake) return fake.handle(incoming, answer);
    return proxy(incoming, answer, to, token);
  });
  return new Promise((done) => {
    server.listen(port, '127.0.0.1', () => done(server));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = (name, otherwise) => {
    const place = process.argv.indexOf(`--${name}`);
    return place < 0 ? otherwise : process.argv[place + 1];
  };
  const fake = process.argv.includes('--fake') ? (await import('./fake.mjs')).fake() : null;
  const server = await serve({
    port: Number(option('port', '4170')),
    to: option('to', 'http://127.0.0.1:3676'),
    token: option('token', process.env.DORMOUSE_TOKEN ?? ''),
    fake,
  });
  console.log(`http://127.0.0.1:${server.address().port}`);
}
