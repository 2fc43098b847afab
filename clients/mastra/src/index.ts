/** Mastra: suspended steps are pending calls of Dormouse, which also keeps the snapshots. */
import type { AskRequest, Client } from 'dormouse';
import { questionOf, resumeValue, Run, type Outcome, type RunOptions } from 'dormouse/runs';

/** A workflow of a Mastra instance, such as `mastra.getWorkflow('refund')`. */
export interface Workflow {
  id: string;
  mastra?: { getStorage(): unknown };
  createRun(options: { runId: string }): Promise<any>;
}

/** A step that waits: its path, such as ["refund"], and what it gave to `suspend()`. */
export interface Suspended {
  path: string[];
  payload: unknown;
}

export interface WorkflowRunOptions extends RunOptions {
  /**
   * What people read. Default: `question`, `kind`, `tool`, `arguments`, `choices` and `schema` of
   * what the step gave to `suspend()`.
   */
  question?: (step: Suspended) => AskRequest;
  /** The resume data for a step that got no answer. Default: NotAnswered is thrown. */
  onUnanswered?: (outcome: Outcome) => unknown;
}

interface Stored {
  suspended: Suspended[];
  snapshot: unknown;
}

interface Snapshots {
  loadWorkflowSnapshot(of: { workflowName: string; runId: string }): Promise<unknown>;
  persistWorkflowSnapshot(of: {
    workflowName: string;
    runId: string;
    snapshot: any;
  }): Promise<void>;
}

/**
 * Runs a workflow until it ends; each step that suspends waits in Dormouse. After a crash of program
 * or server the same call continues from the snapshot: each step is asked once. Returns the result,
 * also when the run has ended long ago. A workflow that fails throws its error.
 *
 * An approval resumes the step with {approved, reason}, other kinds with the answer.
 */
export async function runWorkflow(
  client: Client,
  id: string,
  workflow: Workflow,
  inputData: unknown,
  options: WorkflowRunOptions = {},
): Promise<any> {
  const snapshots = await snapshotsOf(workflow);
  const of = { workflowName: workflow.id, runId: id };
  const run = await Run.open<Stored>(client, id, options);
  if (run.ended) return run.ended.output;
  if (run.state) await snapshots.persistWorkflowSnapshot({ ...of, snapshot: run.state.snapshot });
  const started = await workflow.createRun({ runId: id });
  let result = run.state
    ? await resumed(run, started, options)
    : await started.start({ inputData });
  while (result.status === 'suspended') {
    const snapshot = await snapshots.loadWorkflowSnapshot(of);
    await run.save({ suspended: suspendedOf(result), snapshot });
    result = await resumed(run, started, options);
  }
  if (result.status !== 'success')
    throw result.error ?? new Error(`The workflow ended: ${result.status}`);
  return run.end(result.result);
}

async function snapshotsOf(workflow: Workflow): Promise<Snapshots> {
  const storage = workflow.mastra?.getStorage() as { getStore?(name: string): unknown } | undefined;
  const found = (await storage?.getStore?.('workflows')) as Snapshots | undefined;
  if (found) return found;
  throw new TypeError(
    'The workflow must be one of a Mastra with a storage: new Mastra({ workflows, storage: new InMemoryStore() }).',
  );
}

function suspendedOf(result: { suspended: string[][]; steps: Record<string, any> }): Suspended[] {
  return result.suspended.map((path) => ({
    path,
    payload: result.steps[path[0] ?? '']?.suspendPayload ?? null,
  }));
}

/** Waits for the answer to the first step that is suspended, and resumes it. */
async function resumed(run: Run<Stored>, started: any, options: WorkflowRunOptions): Promise<any> {
  const step = run.state?.suspended[0];
  if (!step) throw new TypeError('The workflow is suspended without a suspended step.');
  const name = step.path.join('/');
  const request =
    options.question?.(step) ?? questionOf(step.payload, `Step ${name} waits for an answer.`);
  const resumeData = resumeValue(await run.ask(name, request), options.onUnanswered);
  return started.resume({ step: step.path, resumeData });
}
