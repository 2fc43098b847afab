// usage: node deploy.mjs [SESSION]    Kill it, kill the server, start both again with the session's id.
// The fake takes the place of Claude Code; leave pathToClaudeCodeExecutable out to use the real one.
import { fileURLToPath } from 'node:url';
import { query } from '@anthropic-ai/claude-agent-sdk';
import { localClient } from 'dormouse/local';
import { canUseTool } from 'dormouse-claude-agent-sdk';

const onWaiting = ({ call }) => console.log(`waiting for ${call.id}`);
const options = {
  canUseTool: canUseTool(localClient(), { onWaiting }),
  permissionMode: 'default',
  pathToClaudeCodeExecutable: fileURLToPath(new URL('claude.mjs', import.meta.url)),
  resume: process.argv[2],
};
// canUseTool needs streaming input: a prompt that is an iterator.
async function* prompt() {
  const message = { role: 'user', content: 'Deploy 4.2' };
  yield { type: 'user', message, parent_tool_use_id: null, session_id: '' };
}
for await (const message of query({ prompt: prompt(), options })) {
  if (message.type === 'system') console.log(`session ${message.session_id}`);
  if (message.type === 'result') console.log(`output: ${message.result}`);
}
