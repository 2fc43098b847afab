// Makes the built TypeScript client speak the protocol of README.md.
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { Client } from 'dormouse';

const running = new Map();
let client = null;

const write = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

function described(error, cancelled) {
  const { name, message, code, status, next, remedy, retryAfterMs } = error;
  const kind = cancelled ? 'cancelled' : name;
  const known = { code, status, next, remedy, retryAfterMs };
  return {
    kind,
    message,
    ...(name === 'Refusal' ? known : { status }),
    shown: inspect(error, { depth: 9 }),
  };
}

const plain = (value) =>
  value?.bytes instanceof Uint8Array
    ? { ...value, bytes: Buffer.from(value.bytes).toString('base64') }
    : value;

async function iterate({ id, iterate, args = [], options = {} }, signal) {
  const items = client[iterate](...args, { ...options, signal });
  for await (const item of items) write({ id, item, cursor: items.cursor ?? null });
  write({ id, end: true });
}

async function handle(line) {
  const controller = new AbortController();
  running.set(line.id, controller);
  try {
    if (line.new) {
      client = new Client(line.new);
      write({ id: line.id, value: null });
    } else if (line.show) {
      write({
        id: line.id,
        value: inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client),
      });
    } else if (line.cancel) {
      running.get(line.cancel)?.abort();
      write({ id: line.id, value: null });
    } else if (line.iterate) {
      await iterate(line, controller.signal);
    } else {
      const options = { ...line.options, signal: controller.signal };
      write({
        id: line.id,
        value: plain(await client[line.call](...(line.args ?? []), options)) ?? null,
      });
    }
  } catch (error) {
    write({ id: line.id, error: described(error, controller.signal.aborted) });
  } finally {
    running.delete(line.id);
  }
}

createInterface({ input: process.stdin })
  .on('line', (line) => void handle(JSON.parse(line)))
  .on('close', () => process.exit());
