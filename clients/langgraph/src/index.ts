/** LangGraph JS: interrupts are pending calls of Dormouse, which also keeps the checkpoints. */
import { Command, INTERRUPT, MemorySaver, type Interrupt } from '@langchain/langgraph';
import type { AskRequest, Client } from 'dormouse';
import { questionOf, resumeValue, Run, type Outcome, type RunOptions } from 'dormouse/runs';

/** A compiled graph. */
export interface Graph {
  checkpointer?: unknown;
  invoke(input: any, config?: any): Promise<any>;
}

export interface GraphRunOptions extends RunOptions {
  /**
   * What people read. Default: an interrupt's value that is a text is the question; of an object
   * `question`, `kind`, `tool`, `arguments`, `choices` and `schema` are used.
   */
  question?: (interrupt: Interrupt) => AskRequest;
  /** The value for an interrupt that got no answer. Default: NotAnswered is thrown. */
  onUnanswered?: (outcome: Outcome) => unknown;
  /** More of LangGraph's config, such as `context` or `recursionLimit`. */
  config?: Record<string, unknown>;
}

interface Stored {
  interrupts: Interrupt[];
  checkpoints: string | null;
}

/**
 * Invokes a graph until it ends; each `interrupt()` waits in Dormouse. After a crash of program or
 * server the same call continues from the checkpoint of the interrupts: each is asked once. Returns
 * the values of the graph, also when the run has ended long ago.
 *
 * With a MemorySaver the checkpoints are kept by Dormouse; another checkpointer keeps them itself,
 * under thread `id`. An approval resumes with {approved, reason}, other kinds with the answer.
 */
export async function runGraph(
  client: Client,
  id: string,
  graph: Graph,
  input: unknown,
  options: GraphRunOptions = {},
): Promise<any> {
  const saver = checkpointerOf(graph);
  const run = await Run.open<Stored>(client, id, options);
  if (run.ended) return run.ended.output;
  const config = { ...options.config, configurable: { ...configurable(options), thread_id: id } };
  if (run.state?.checkpoints) restore(saver as MemorySaver, run.state.checkpoints);
  for (;;) {
    const next = run.state ? new Command({ resume: await answers(run, options) }) : input;
    const values = (await graph.invoke(next, config)) as Record<string, unknown>;
    const interrupts = values[INTERRUPT] as Interrupt[] | undefined;
    if (!interrupts?.length) return run.end(values);
    const checkpoints = saver instanceof MemorySaver ? dumped(saver, id) : null;
    await run.save({ interrupts, checkpoints });
  }
}

function configurable(options: GraphRunOptions): object {
  return (options.config?.configurable ?? {}) as object;
}

function checkpointerOf(graph: Graph): object {
  if (typeof graph.checkpointer === 'object' && graph.checkpointer !== null)
    return graph.checkpointer;
  throw new TypeError('The graph must be compiled with a checkpointer, such as new MemorySaver().');
}

/** The value for each interrupt, by its id. */
async function answers(
  run: Run<Stored>,
  options: GraphRunOptions,
): Promise<Record<string, unknown>> {
  const interrupts = run.state?.interrupts ?? [];
  const values = await Promise.all(interrupts.map((one) => answer(run, one, options)));
  return Object.fromEntries(interrupts.map((one, at) => [one.id ?? '', values[at]]));
}

async function answer(
  run: Run<Stored>,
  one: Interrupt,
  options: GraphRunOptions,
): Promise<unknown> {
  const request =
    options.question?.(one) ?? questionOf(one.value, 'The graph waits for an answer.');
  return resumeValue(await run.ask(one.id ?? '', request), options.onUnanswered);
}

type Threads = Pick<MemorySaver, 'storage' | 'writes'>;

/** Checkpoints and writes of one thread, as JSON with their bytes in base64. */
function dumped(saver: Threads, id: string): string {
  const writes = Object.entries(saver.writes).filter(([key]) => JSON.parse(key)[0] === id);
  const value = { storage: { [id]: saver.storage[id] }, writes: Object.fromEntries(writes) };
  return JSON.stringify(value, (_, one: unknown) =>
    one instanceof Uint8Array
      ? { base64: btoa(Array.from(one, (byte) => String.fromCharCode(byte)).join('')) }
      : one,
  );
}

function restore(saver: Threads, text: string): void {
  const value = JSON.parse(text, (_, one: { base64?: unknown } | null) =>
    typeof one?.base64 === 'string'
      ? Uint8Array.from(atob(one.base64), (letter) => letter.charCodeAt(0))
      : one,
  ) as Threads;
  Object.assign(saver.storage, value.storage);
  Object.assign(saver.writes, value.writes);
}
