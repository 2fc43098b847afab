// The protocol's own client, whose user answers what waits in Dormouse. Arguments: the URL, the
// token. In 2025-11-25 it waits for the tool and is asked by a form.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, token] = process.argv.slice(2);
const client = new Client(
  { name: 'test', version: '1' },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: 'legacy' } },
);
const questions = [];
client.setRequestHandler('elicitation/create', async (request) => {
  questions.push(request.params.message);
  return { action: 'accept', content: { answer: 'eu' } };
});
await client.connect(
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
  }),
);
const answer = await client.callTool({
  name: 'ask_human',
  arguments: { question: 'Which region?', wait: 60000 },
});
console.log(JSON.stringify({ asked: questions, answer: answer.content[0].text }));
await client.close();
