// Signs and checks with the libraries of others. Reads one JSON request from standard input and
// writes one JSON answer: {"sign": library, secret, id, body, seconds} → {headers},
// {"verify": library, secret, headers, body} → {payload} or {refused}.
import { readFileSync } from 'node:fs';
import * as octokit from '@octokit/webhooks-methods';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';

const request = JSON.parse(readFileSync(0, 'utf8'));
const make = { standardwebhooks: Webhook, svix: SvixWebhook };

async function sign({ sign: library, secret, id, body, seconds }) {
  if (library === 'octokit') {
    return { 'X-Hub-Signature-256': await octokit.sign(secret, body), 'X-GitHub-Delivery': id };
  }
  const signature = new make[library](secret).sign(id, new Date(seconds * 1000), body);
  const prefix = library === 'svix' ? 'svix' : 'webhook';
  return {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: String(seconds),
    [`${prefix}-signature`]: signature,
  };
}

async function verify({ verify: library, secret, headers, body }) {
  try {
    if (library === 'openai') {
      const client = new OpenAI({ apiKey: 'none', webhookSecret: secret });
      return { payload: await client.webhooks.unwrap(body, headers) };
    }
    // svix answers nothing: it throws, or all is well.
    const payload = new make[library](secret).verify(body, headers);
    return { payload: payload ?? JSON.parse(body) };
  } catch (error) {
    return { refused: String(error.message) };
  }
}

const answer = request.sign ? { headers: await sign(request) } : await verify(request);
process.stdout.write(JSON.stringify(answer));
