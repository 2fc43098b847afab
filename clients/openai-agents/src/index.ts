/** OpenAI Agents JS: the state and the approvals of a run are kept by Dormouse. */
import { Agent, RunState, Runner, type RunToolApprovalItem } from '@openai/agents';
import type { AskRequest, Client } from 'dormouse';
import { argumentsOf, Run, toolOf, type Outcome, type RunOptions } from 'dormouse/runs';

export interface AgentRunOptions extends RunOptions {
  /** Default: a new Runner. */
  runner?: Runner;
  /** Context of the run; it is part of the state, and must be JSON. */
  context?: Record<string, unknown>;
  /** What people read; default: "Approve TOOL?". Its `arguments` are those of the call. */
  question?: (item: RunToolApprovalItem) => Partial<AskRequest>;
}

/**
 * Runs an agent until it ends; tools with `needsApproval` wait for the decision in Dormouse. After
 * a crash of program or server the same call continues from the stored state: each approval is
 * asked once. Returns the final output, also when the run has ended long ago.
 *
 * What the agent did since the state was saved last is done again; give `details.toolCall.callId`
 * to what a tool must do only once.
 */
export async function runAgent(
  client: Client,
  id: string,
  agent: Agent<any, any>,
  input: string,
  options: AgentRunOptions = {},
): Promise<unknown> {
  const run = await Run.open<string>(client, id, options);
  if (run.ended) return run.ended.output;
  const runner = options.runner ?? new Runner();
  let state = run.state === null ? null : await RunState.fromString(agent, run.state);
  for (;;) {
    if (state) await decide(run, state, options);
    const result = await runner.run(agent, (state ?? input) as string, {
      context: options.context,
    });
    if (result.interruptions.length === 0) return run.end(result.finalOutput);
    state = result.state as unknown as RunState<any, any>;
    await run.save(state.toString());
  }
}

/** Asks for all approvals at once, and gives the decisions to the state. */
async function decide(
  run: Run<string>,
  state: RunState<any, any>,
  options: AgentRunOptions,
): Promise<void> {
  const items = state.getInterruptions();
  const outcomes = await Promise.all(items.map((item) => ask(run, item, options)));
  items.forEach((item, at) => {
    const { approved, reason } = outcomes[at] as Outcome;
    if (approved) state.approve(item);
    else state.reject(item, { message: `denied: ${reason ?? 'no reason was given'}` });
  });
}

function ask(
  run: Run<string>,
  item: RunToolApprovalItem,
  options: AgentRunOptions,
): Promise<Outcome> {
  const tool = item.name ?? 'tool';
  const raw = item.rawItem as { callId?: string; id?: string };
  const key = raw.callId ?? raw.id;
  if (!key)
    throw new TypeError(`The call of ${tool} has no id, so its approval cannot be found again.`);
  return run.ask(key, {
    question: `Approve ${tool}?`,
    ...options.question?.(item),
    kind: 'approval',
    tool: toolOf(tool),
    arguments: inputOf(item),
  });
}

function inputOf(item: RunToolApprovalItem): Record<string, unknown> {
  const raw: unknown = item.arguments ?? (item.rawItem as { action?: unknown }).action ?? {};
  try {
    return argumentsOf(typeof raw === 'string' ? JSON.parse(raw) : raw);
  } catch {
    return { value: raw };
  }
}
