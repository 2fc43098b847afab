// A browser's side of Web Push, by libraries of others: http_ece decrypts (RFC 8188 and 8291), Node's
// crypto checks the server's token (RFC 8292). Reads one JSON request from standard input and writes
// one JSON answer: {"subscribe": true} → {secret, p256dh, auth},
// {"open": {secret, auth, body, authorization}} → {text, key, claims}.
import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import ece from 'http_ece';

const request = JSON.parse(readFileSync(0, 'utf8'));
const from64 = (text) => Buffer.from(text, 'base64url');

function subscribe() {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  return {
    secret: pair.getPrivateKey('base64url'),
    p256dh: pair.getPublicKey('base64url'),
    auth: randomBytes(16).toString('base64url'),
  };
}

function decrypted({ secret, auth, body }) {
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(from64(secret));
  const bytes = ece.decrypt(Buffer.from(body, 'base64'), {
    version: 'aes128gcm',
    privateKey: pair,
    authSecret: auth,
  });
  return bytes.toString('utf8');
}

// The claims of a token that its own key signed.
function named(authorization) {
  const [, token, key] = authorization.match(/^vapid t=([\w.-]+), ?k=([\w-]+)$/);
  const [head, claims, signature] = token.split('.');
  const point = from64(key);
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  };
  const text = `${head}.${claims}`;
  const publicKey = { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' };
  if (!verify('sha256', Buffer.from(text), publicKey, from64(signature)))
    throw new Error('the signature is not of this key');
  const { alg } = JSON.parse(from64(head));
  if (alg !== 'ES256') throw new Error(`alg is ${alg}`);
  return { key, claims: JSON.parse(from64(claims)) };
}

const answer = request.subscribe
  ? subscribe()
  : { text: decrypted(request.open), ...named(request.open.authorization) };
process.stdout.write(JSON.stringify(answer));
