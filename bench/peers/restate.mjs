// Restate, one node, over HTTP: its server, the service with the workflow, and this client.
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import { check, prompt, runJob, settings } from "./job.mjs";

const { ingressPort, adminPort, nodePort, servicePort, notifyPort, folder } = settings;
const keep = new http.Agent({ keepAlive: true, maxSockets: 256 });

function call(port, method, path, body, headers = {}) {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const typed = text
    ? { "content-type": "application/json", "content-length": Buffer.byteLength(text) }
    : {};
  return new Promise((done, fail) => {
    const options = { host: "127.0.0.1", port, method, path, agent: keep };
    const request = http.request({ ...options, headers: { ...typed, ...headers } }, (reply) => {
      let received = "";
      reply.on("data", (part) => (received += part));
      reply.on("end", () => {
        if (reply.statusCode >= 300) fail(new Error(`${path}: ${reply.statusCode} ${received}`));
        else done(received ? JSON.parse(received) : null);
      });
    });
    request.on("error", fail);
    request.end(text);
  });
}

async function until(what, ask) {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`${what}: ${error.message}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

const paused = new Map();
const listener = http.createServer((request, reply) => {
  paused.get(request.url.slice(1))?.();
  reply.end();
});
listener.keepAliveTimeout = 120_000;
await new Promise((done) => listener.listen(notifyPort, "127.0.0.1", done));

const log = fs.openSync(`${folder}/restate.log`, "a");
const stdio = ["ignore", log, log];
const server = spawn(
  settings.restateServer,
  ["--base-dir", `${folder}/restate`, "--bind-ip", "127.0.0.1", "--bind-port", `${nodePort}`,
   "--listen-mode", "tcp", "--advertised-host", "127.0.0.1", "--node-name", "bench"],
  {
    stdio,
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
      RESTATE_DISABLE_TELEMETRY: "true",
      DO_NOT_TRACK: "1",
    },
  },
);
const service = spawn(process.execPath, ["restate_service.mjs", process.argv[2]], {
  stdio,
  env: { ...process.env, RESTATE_LOGGING: "ERROR" },
});
process.on("exit", () => [server, service].forEach((child) => child.kill("SIGKILL")));

await until("Restate's admin port", () => call(adminPort, "GET", "/health"));
await until("Restate's ingress port", () => call(ingressPort, "GET", "/restate/health"));
const uri = `http://127.0.0.1:${servicePort}`;
await until("the service", () => call(adminPort, "POST", "/deployments", { uri, force: true }));

await runJob({
  async start(id) {
    const asleep = new Promise((done) => paused.set(id, done));
    await call(ingressPort, "POST", `/agent/${id}/run/send`, prompt);
    await asleep;
    paused.delete(id);
  },
  async resume(id, result) {
    const key = { "idempotency-key": `key-${id}` };
    await call(ingressPort, "POST", `/agent/${id}/result`, result, key);
    check(await call(ingressPort, "GET", `/restate/workflow/agent/${id}/attach`));
  },
});
process.exit(0);
