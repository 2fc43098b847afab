// The protocol's own client against /mcp. Arguments: legacy or modern, the URL, the token.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [era, url, token] = process.argv.slice(2);
const versionNegotiation = { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' };
const client = new Client({ name: 'test', version: '1' }, { versionNegotiation });
const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
await client.connect(transport);
const { tools } = await client.listTools();
const text = async (name, args) =>
  (await client.callTool({ name, arguments: args })).content[0].text;
const question = await text('ask_human', { question: 'Which region?' });
const id = question.match(/pnd_[A-Za-z0-9_-]+/)[0];
const collected = await text('collect_answer', { id });
console.log(
  JSON.stringify({
    tools: tools.map((tool) => tool.name),
    collected,
    version: client.getNegotiatedProtocolVersion(),
  }),
);
await client.close();
