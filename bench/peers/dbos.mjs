// DBOS on PostgreSQL, in this process. The wait is `DBOS.recv`; the result is sent to its workflow.
import { DBOS } from "@dbos-inc/dbos-sdk";
import { check, model, prompt, runJob, settings } from "./job.mjs";

const paused = new Map();
const agent = DBOS.registerWorkflow(
  async (text) => {
    const messages = [{ role: "user", content: text }];
    messages.push(await DBOS.runStep(async () => model(messages), { name: "model" }));
    paused.get(DBOS.workflowID)();
    const outcome = await DBOS.recv("call_1", { timeoutSeconds: 7 * 86400 });
    messages.push({ role: "tool", content: JSON.stringify(outcome) });
    messages.push(await DBOS.runStep(async () => model(messages), { name: "model" }));
    return messages.at(-1).content;
  },
  { name: "agent" },
);
DBOS.setConfig({
  name: "bench",
  systemDatabaseUrl: `${settings.postgres}/bench_dbos`,
  logLevel: "error",
  useListenNotify: true, // without it a wait polls every 10 s
  systemDatabasePoolSize: 20,
  applicationVersion: "1",
  executorID: "bench",
  runAdminServer: false,
});
await DBOS.launch();

const handles = new Map();
await runJob({
  async start(id) {
    const asleep = new Promise((done) => paused.set(id, done));
    handles.set(id, await DBOS.startWorkflow(agent, { workflowID: id })(prompt));
    await asleep;
    paused.delete(id);
  },
  async resume(id, result) {
    await DBOS.send(id, result, "call_1", `key-${id}`);
    check(await handles.get(id).getResult());
    handles.delete(id);
  },
});
process.exit(0); // its pool would keep the process alive
