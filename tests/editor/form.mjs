// An editor made of the protocol's own library that shows forms: it loads a session that waits for
// an answer, gives the one it is given, and prints the form.
import * as acp from '@agentclientprotocol/sdk';
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';

const [binary, server, data, sessionId, answer] = process.argv.slice(2);
const child = spawn(binary, ['acp', '--agent', 'ops', '--server', server, '--data', data], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
let show;
const form = new Promise((resolve) => (show = resolve));
await acp
  .client({ name: 'editor' })
  .onRequest(acp.methods.client.elicitation.create, (context) => {
    setImmediate(() => show(context.params));
    return JSON.parse(answer);
  })
  .onNotification(acp.methods.client.session.update, () => {})
  .connectWith(stream, async (context) => {
    await context.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { elicitation: { form: {} } },
    });
    await context.request(acp.methods.agent.session.load, { sessionId, cwd: '/', mcpServers: [] });
    process.stdout.write(JSON.stringify(await form));
    // Its response comes after the agent has read the answer.
    await context.request('_test/none', {}).catch(() => {});
  });
child.kill();
process.exit(0);
