// The client of the Tasks extension (ext-tasks) against /mcp, with a server of 2025-11-25: begins
// a task and hands it off, or resumes it in another process. Arguments: begin URL TOKEN, or resume
// URL TOKEN REFERENCE. Prints the reference, or the result of the tool.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';

const [what, url, token, reference] = process.argv.slice(2);
const client = new Client({ name: 'durable', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
const transport = new StreamableHTTPClientTransport(new URL(url), {
  requestInit: { headers: { Authorization: `Bearer ${token}` } },
});
await client.connect(transport);
const session = createTaskSessionFromClient(client, { endpointId: 'dormouse' });
if (what === 'begin') {
  const execution = await session.callTool('ask_human', { question: 'Which region?' }, { task: { preference: 'require' } });
  await execution.handoff((kept) => console.log(JSON.stringify(kept)));
} else {
  const execution = await session.resumeTask(JSON.parse(reference));
  const { outcome } = await execution.settle();
  console.log(JSON.stringify(resultFromTaskOutcome(outcome)));
}
await session.close();
await client.close();
