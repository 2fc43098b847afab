// LangGraph in this process, with checkpoints in SQLite (synchronous=FULL: a sync for each commit,
// as in the other systems; its default does not sync) or in PostgreSQL.
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import {
  Command,
  END,
  MessagesAnnotation,
  START,
  StateGraph,
  interrupt,
} from "@langchain/langgraph";
import { check, prompt, runJob, settings } from "./job.mjs";

async function sqliteSaver() {
  const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
  const { default: Database } = await import("better-sqlite3");
  const database = new Database(`${settings.folder}/langgraph.sqlite`);
  const saver = new SqliteSaver(database);
  saver.setup();
  database.pragma("synchronous = FULL");  // after setup, which sets its own value
  return saver;
}

async function postgresSaver() {
  const { PostgresSaver } = await import("@langchain/langgraph-checkpoint-postgres");
  const { default: pg } = await import("pg");
  const pool = new pg.Pool({ connectionString: `${settings.postgres}/bench_langgraph`, max: 32 });
  const saver = new PostgresSaver(pool);
  await saver.setup();
  return saver;
}

const deploy = { id: "call_1", name: "deploy_preview", args: { branch: "main" } };
const model = (state) => {
  const last = state.messages.at(-1);
  const told = last.getType() === "tool";
  const reply = told ? `Deployed: ${last.content}` : { content: "", tool_calls: [deploy] };
  return { messages: [new AIMessage(reply)] };
};
const tools = (state) => {
  const call = state.messages.at(-1).tool_calls[0];
  const outcome = interrupt({ tool: call.name, args: call.args });
  return {
    messages: [new ToolMessage({ content: JSON.stringify(outcome), tool_call_id: call.id })],
  };
};
const graph = new StateGraph(MessagesAnnotation)
  .addNode("model", model)
  .addNode("tools", tools)
  .addEdge(START, "model")
  .addConditionalEdges("model", (s) => (s.messages.at(-1).tool_calls?.length ? "tools" : END))
  .addEdge("tools", "model")
  .compile({ checkpointer: await (settings.store === "sqlite" ? sqliteSaver() : postgresSaver()) });

const config = (id) => ({ configurable: { thread_id: id } });
await runJob({
  async start(id) {
    const state = await graph.invoke({ messages: [new HumanMessage(prompt)] }, config(id));
    if (!state.__interrupt__) throw new Error("it did not pause");
  },
  async resume(id, result) {
    const state = await graph.invoke(new Command({ resume: result }), config(id));
    check(state.messages.at(-1).content);
  },
});
process.exit(0); // its pool would keep the process alive
