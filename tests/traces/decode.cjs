// Reads the body of a request by the published schema of OTLP, and prints what it then holds; with
// the argument `metrics` that of metrics. The schema reads ids as base64: hex digits survive that unchanged.
const path = require('node:path');
const schema = require(path.join(
  __dirname, 'node_modules/@opentelemetry/otlp-transformer/build/src/generated/root.js'));
const { trace, metrics } = schema.opentelemetry.proto.collector;
const Request = process.argv[2] === 'metrics'
  ? metrics.v1.ExportMetricsServiceRequest
  : trace.v1.ExportTraceServiceRequest;
const message = Request.fromObject(JSON.parse(require('node:fs').readFileSync(0, 'utf8')));
const wrong = Request.verify(message);
if (wrong) throw new Error(wrong);
const read = Request.decode(Request.encode(message).finish());
console.log(JSON.stringify(Request.toObject(read, { longs: String, bytes: String, enums: Number })));
