// Calls canUseTool as the SDK does, for tests/adapters.py: `give-up`, `many`, or what it says.
import { localClient } from 'dormouse/local';
import { canUseTool } from 'dormouse-claude-agent-sdk';

const [command, limitMs] = process.argv.slice(2);
const stop = new AbortController();
const onWaiting = ({ call }) => {
  console.log(`waiting for ${call.id}`);
  if (command === 'give-up') stop.abort();
};
const client = localClient({ timeoutMs: Number(limitMs ?? 60_000) });
const ask = canUseTool(client, { onWaiting, ask: { withinMs: 60_000 } });
const questions = [
  { question: 'Which?', multiSelect: true, options: [{ label: 'a' }, { label: 'b' }] },
];
const [tool, input] =
  command === 'many' ? ['AskUserQuestion', { questions }] : ['mcp__shop refund', { order: 42 }];
const result = await ask(tool, input, { signal: stop.signal, toolUseID: 'toolu_9' });
console.log(JSON.stringify(result));
