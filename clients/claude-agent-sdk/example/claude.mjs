#!/usr/bin/env node
// A fake of Claude Code, as the SDK starts it: it wants to run one command, and asks one question.
import { createInterface } from 'node:readline';

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const session_id = '8d2f1c1e-0000-4000-8000-000000000042';
const waiting = new Map();

function request(tool_use_id, tool_name, input) {
  const request_id = `ask-${tool_use_id}`;
  say({
    type: 'control_request',
    request_id,
    request: { subtype: 'can_use_tool', tool_name, input, tool_use_id },
  });
  return new Promise((resolve) => waiting.set(request_id, resolve));
}

async function work() {
  say({
    type: 'system',
    subtype: 'init',
    session_id,
    tools: ['Bash'],
    model: 'fake',
    cwd: process.cwd(),
    mcp_servers: [],
    permissionMode: 'default',
    apiKeySource: 'none',
    slash_commands: [],
    uuid: session_id,
  });
  const ran = await request('toolu_1', 'Bash', { command: 'deploy 4.2' });
  let result = `denied: ${ran.message}`;
  if (ran.behavior === 'allow') {
    const question = 'Where?';
    const options = [{ label: 'staging' }, { label: 'production', description: 'eu' }];
    const asked = await request('toolu_2', 'AskUserQuestion', {
      questions: [{ question, options }],
    });
    result =
      asked.behavior === 'allow'
        ? `deployed to ${asked.updatedInput.answers[question]}`
        : asked.message;
  }
  say({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result,
    session_id,
    num_turns: 1,
    uuid: session_id,
    duration_ms: 1,
    duration_api_ms: 1,
    total_cost_usd: 0,
    usage: {},
    modelUsage: {},
    permission_denials: [],
  });
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.type === 'control_request') {
    const response = {
      commands: [],
      agents: [],
      models: [],
      account: {},
      output_style: 'default',
      available_output_styles: [],
    };
    say({
      type: 'control_response',
      response: { subtype: 'success', request_id: message.request_id, response },
    });
  } else if (message.type === 'control_response') {
    const { request_id, response, error } = message.response;
    waiting.get(request_id)?.(response ?? { behavior: 'deny', message: error });
  } else if (message.type === 'user') work();
}
