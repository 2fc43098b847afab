// The agent as a Restate workflow, in its own process as Restate requires.
import http from "node:http";
import * as restate from "@restatedev/restate-sdk";
import { model, settings } from "./job.mjs";

// Notifies the client that a session sleeps: asking Restate would cost a durable call each time.
const keep = new http.Agent({ keepAlive: true });
function notify(key) {
  const where = { host: "127.0.0.1", port: settings.notifyPort, path: `/${key}`, agent: keep };
  http.get(where, (reply) => reply.resume());
}

const agent = restate.workflow({
  name: "agent",
  handlers: {
    run: async (ctx, text) => {
      const messages = [{ role: "user", content: text }];
      messages.push(await ctx.run("model", () => model(messages)));
      ctx.set("messages", messages);
      await ctx.run("paused", () => 1);
      notify(ctx.key);
      const outcome = await ctx.promise("call_1");
      messages.push({ role: "tool", content: JSON.stringify(outcome) });
      messages.push(await ctx.run("model", () => model(messages)));
      return messages.at(-1).content;
    },
    result: restate.handlers.workflow.shared(async (ctx, outcome) => {
      await ctx.promise("call_1").resolve(outcome);
      return "taken";
    }),
  },
});
restate.serve({ services: [agent], port: settings.servicePort });
