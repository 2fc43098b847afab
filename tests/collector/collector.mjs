// A collector of OTLP that others wrote, at the port named. Prints `ready`, then answers each line of
// standard input, `trace ID` or `metric NAME`, with what it has stored, in one line.
import { createInterface } from 'node:readline';
import { createApp } from 'autotel-mcp';

const collector = await createApp({ argv: ['--collector-port', process.argv[2]], env: {} });
await collector.start();
console.log('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [kind, name] = line.split(' ');
  const read = kind === 'trace' ? 'getTrace' : 'getMetricSeries';
  console.log(JSON.stringify(await collector.backend[read](name)));
}
await collector.stop();
