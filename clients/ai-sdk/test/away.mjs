// A request to the chat handler of a server that is away, for tests/adapters.py.
import { localClient } from 'dormouse/local';
import { chatHandler } from 'dormouse-ai-sdk';

const handler = chatHandler(localClient({ timeoutMs: 500 }));
const id = 'ses_AAAAAAF4ZetYZl8rTkQZmg';
const messages = [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'hello' }] }];
const url = 'http://page.example/api/chat';
for (const request of [
  new Request(url, { method: 'POST', body: JSON.stringify({ id, messages }) }),
  new Request(`${url}/${id}/stream`),
  new Request(url, { method: 'PUT' }),
]) {
  const answer = await handler(request);
  console.log(`${answer.status} ${await answer.text()}`);
}
