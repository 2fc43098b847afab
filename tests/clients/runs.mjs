// Drives dormouse/runs for tests/runs.py: one command and its JSON argument, one line of JSON.
import { localClient } from 'dormouse/local';
import { askOnce, Run } from 'dormouse/runs';

const [command, text] = process.argv.slice(2);
const given = JSON.parse(text ?? '{}');
const client = localClient({
  timeoutMs: given.limitMs ?? 60_000,
  outageMs: given.limitMs ?? 300_000,
});
const onWaiting = ({ call }) => console.log(`waiting for ${call.id}`);
const options = { onWaiting, ...given.options };

async function run() {
  if (command === 'once') return (await askOnce(client, given.key, given.request, options)).value;
  const run = await Run.open(client, given.id, options);
  if (command === 'two') {
    const other = await Run.open(client, given.id, options);
    await run.save(1);
    await other.save(given.same ? 1 : 2);
  }
  if (command === 'large') {
    await run.save('x'.repeat(given.bytes));
    const { state } = await Run.open(client, given.id);
    return state.length;
  }
  if (command === 'ask') {
    const { approved, reason, value } = await run.ask('key', given.request);
    return { approved, reason, value };
  }
  return { state: run.state, ended: run.ended };
}

try {
  console.log(JSON.stringify({ value: await run() }));
} catch (error) {
  console.log(JSON.stringify({ error: error.name, message: error.message }));
}
