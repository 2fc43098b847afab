// The job that every system does: N sessions start and pause at their tool call (pause phase); then
// each gets its result, continues and answers (resume phase). A session has completed a phase when
// its new state is durable and this client has seen it.
//
// A system is {start(id), resume(id, result)}. Prints one JSON object for each number of
// connections.

const result = { status: "ok", url: "https://preview-123.example.com" };

// A fake model that takes no time: asks for one tool, and answers once it has the result.
export const model = (messages) => {
  const last = messages.at(-1);
  if (last.role === "tool") return { role: "assistant", content: `Deployed: ${last.content}` };
  return {
    role: "assistant",
    content: "",
    tool_calls: [{ id: "call_1", name: "deploy_preview", args: { branch: "main" } }],
  };
};
export const prompt = "Deploy branch main to a preview environment";

export const settings = JSON.parse(process.argv[2]);

export function check(answer) {
  if (!/^Deployed/.test(answer)) throw new Error(`not the answer: ${JSON.stringify(answer)}`);
}

// Calls `each` with 0 … count-1, `connections` at a time. Returns calls per second, and p50 and p99
// of their milliseconds.
async function timed(count, connections, each) {
  const took = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const at = next++;
      const start = performance.now();
      await each(at);
      took.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: connections }, worker));
  const all = performance.now() - start;
  took.sort((a, b) => a - b);
  const share = (part) => took[Math.min(took.length - 1, Math.floor(part * took.length))];
  return { perS: (count / all) * 1000, p50Ms: share(0.5), p99Ms: share(0.99) };
}

export async function runJob(system) {
  let number = 0;
  const stamp = `${process.pid}-${Date.now()}`;
  const ids = (count) => Array.from({ length: count }, () => `s-${stamp}-${number++}`);
  const warm = ids(20);
  await timed(warm.length, 4, (i) => system.start(warm[i]));
  await timed(warm.length, 4, (i) => system.resume(warm[i], result));
  for (const connections of settings.connections) {
    const count = connections === 1 ? Math.ceil(settings.sessions / 3) : settings.sessions;
    const sessions = ids(count);
    const pause = await timed(count, connections, (i) => system.start(sessions[i]));
    const resume = await timed(count, connections, (i) => system.resume(sessions[i], result));
    console.log(JSON.stringify({ connections, sessions: count, pause, resume }));
  }
}
