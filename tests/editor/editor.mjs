// An editor made of the protocol's own library: a prompt with an approval and a result from
// outside, then the same session in another process. Says what it saw as one object.
import * as acp from '@agentclientprotocol/sdk';
import { spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';

const [binary, server, data] = process.argv.slice(2);
const seen = { permissions: [], updates: [], replayed: [] };
let updates = seen.updates;

function start(work) {
  const child = spawn(binary, ['acp', '--agent', 'demo', '--server', server, '--data', data], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  return acp
    .client({ name: 'editor' })
    .onRequest(acp.methods.client.session.requestPermission, (context) => {
      seen.permissions.push(context.params.toolCall.title);
      const option = context.params.options.find((each) => each.kind === 'allow_once');
      return { outcome: { outcome: 'selected', optionId: option.optionId } };
    })
    .onNotification(acp.methods.client.session.update, (context) => {
      updates.push(context.params.update);
    })
    .connectWith(stream, async (context) => {
      const made = await context.request(acp.methods.agent.initialize, {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities: {},
      });
      const result = await work(context, made);
      child.kill();
      return result;
    });
}

const agent = acp.methods.agent;
const id = await start(async (context, made) => {
  seen.capabilities = made.agentCapabilities;
  const { sessionId } = await context.request(agent.session.new, { cwd: '/tmp', mcpServers: [] });
  const answer = await context.request(agent.session.prompt, {
    sessionId,
    prompt: [{ type: 'text', text: 'approve cleanup' }],
  });
  seen.stopReason = answer.stopReason;
  return sessionId;
});
updates = seen.replayed;
await start(async (context) => {
  const { sessions } = await context.request(agent.session.list, { cwd: '/tmp' });
  seen.listed = sessions.map((each) => each.sessionId);
  await context.request(agent.session.load, { sessionId: id, cwd: '/tmp', mcpServers: [] });
  seen.loaded = seen.replayed.length;
  await context.request(agent.session.resume, { sessionId: id, cwd: '/tmp', mcpServers: [] });
  const answer = await context.request(agent.session.prompt, {
    sessionId: id,
    prompt: [{ type: 'text', text: 'and you?' }],
  });
  seen.again = answer.stopReason;
});
seen.id = id;
process.stdout.write(JSON.stringify(seen));
process.exit(0);
