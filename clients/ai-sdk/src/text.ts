import { generateText, type ModelMessage } from 'ai';
import type { AskRequest, Client } from 'dormouse';
import { argumentsOf, Run, toolOf, type Outcome, type RunOptions } from 'dormouse/runs';

/** What `generateText` takes; the prompt is a text or messages. */
export type TextSettings = Omit<Parameters<typeof generateText>[0], 'prompt' | 'messages'> & {
  prompt: string | ModelMessage[];
};

/** A call of the model that waits for a person (`approvalId`) or for its result. */
export interface OpenCall {
  toolCallId: string;
  toolName: string;
  input: unknown;
  approvalId?: string;
}

export interface DurableTextOptions extends RunOptions {
  /** What people read; default: "Approve TOOL?" and "TOOL". */
  question?: (call: OpenCall) => Partial<AskRequest>;
}

type Piece = { type: string; toolCallId: string; toolName: string; input: unknown } & Record<
  string,
  unknown
>;

/**
 * `generateText` until no call is open: tools with `needsApproval` wait for the decision in
 * Dormouse, tools without `execute` for a result from outside. After a crash of program or server
 * the same call continues from the stored messages: each call is asked once. Returns text and
 * messages, also when the run has ended long ago.
 *
 * What was done since a call waited last is done again; a tool finds its `toolCallId`, the same each
 * time, in the options of `execute`. Messages must be JSON: give files as base64 or as URLs.
 */
export async function durableText(
  client: Client,
  id: string,
  settings: TextSettings,
  options: DurableTextOptions = {},
): Promise<{ text: string; messages: ModelMessage[] }> {
  const run = await Run.open<ModelMessage[]>(client, id, options);
  if (run.ended) return run.ended.output as { text: string; messages: ModelMessage[] };
  const { prompt, ...rest } = settings;
  let messages =
    run.state ??
    (typeof prompt === 'string' ? [{ role: 'user' as const, content: prompt }] : prompt);
  for (;;) {
    messages = [...messages, ...(await answers(run, messages, settings, options))];
    const result = await generateText({ ...rest, messages } as Parameters<typeof generateText>[0]);
    // From version 7 on, `response` has only the messages of the last step.
    const { responseMessages } = result as { responseMessages?: ModelMessage[] };
    messages = [...messages, ...(responseMessages ?? result.response.messages)];
    if (openCalls(messages, settings).length === 0) return run.end({ text: result.text, messages });
    await run.save(messages);
  }
}

/** Tool messages with the answers to all open calls, which are asked at once. */
async function answers(
  run: Run<ModelMessage[]>,
  messages: ModelMessage[],
  settings: TextSettings,
  options: DurableTextOptions,
): Promise<ModelMessage[]> {
  const calls = openCalls(messages, settings);
  if (calls.length === 0) return [];
  const parts = await Promise.all(calls.map((call) => answer(run, call, settings, options)));
  return [{ role: 'tool', content: parts.flat() } as ModelMessage];
}

/** Approval first; then, if nothing executes the tool here, its result. */
async function answer(
  run: Run<ModelMessage[]>,
  call: OpenCall,
  settings: TextSettings,
  options: DurableTextOptions,
): Promise<object[]> {
  const { approvalId, toolCallId } = call;
  if (!approvalId) return [resultOf(call, await ask(run, call, 'result', options))];
  const { approved, reason } = await ask(run, call, 'approval', options);
  const response = {
    type: 'tool-approval-response',
    approvalId,
    approved,
    reason: reason ?? undefined,
  };
  if (!approved || isExecuted(call.toolName, settings)) return [response];
  const result = await ask(run, { ...call, approvalId: undefined }, 'result', options);
  return [response, resultOf({ ...call, toolCallId }, result)];
}

function ask(
  run: Run<ModelMessage[]>,
  call: OpenCall,
  kind: 'approval' | 'result',
  options: DurableTextOptions,
): Promise<Outcome> {
  const { input, toolName } = call;
  return run.ask(`${kind}/${call.toolCallId}`, {
    question: kind === 'approval' ? `Approve ${toolName}?` : toolName,
    ...options.question?.(call),
    kind,
    tool: toolOf(toolName),
    arguments: argumentsOf(input),
  });
}

function resultOf({ toolCallId, toolName }: OpenCall, outcome: Outcome): object {
  const output = outcome.approved
    ? { type: 'json', value: outcome.value }
    : { type: 'error-text', value: outcome.reason ?? 'failed' };
  return { type: 'tool-result', toolCallId, toolName, output };
}

/** Calls without an answer: approvals, and calls of tools that nothing executes here. */
export function openCalls(
  messages: ModelMessage[],
  settings: Pick<TextSettings, 'tools'>,
): OpenCall[] {
  const pieces = messages.flatMap(({ content }) =>
    typeof content === 'string' ? [] : (content as unknown as Piece[]),
  );
  const of = (type: string): Piece[] => pieces.filter((one) => one.type === type);
  const done = new Set(of('tool-result').map((one) => one.toolCallId));
  const responses = new Set(of('tool-approval-response').map((one) => one.approvalId));
  const approvals = new Map(
    of('tool-approval-request').map((one) => [one.toolCallId, one.approvalId]),
  );
  return of('tool-call').flatMap(({ toolCallId, toolName, input }) => {
    const approvalId = approvals.get(toolCallId) as string | undefined;
    if (done.has(toolCallId) || (approvalId && responses.has(approvalId))) return [];
    if (!approvalId && isExecuted(toolName, settings)) return [];
    return [{ toolCallId, toolName, input, ...(approvalId ? { approvalId } : {}) }];
  });
}

function isExecuted(name: string, settings: Pick<TextSettings, 'tools'>): boolean {
  const tool = (
    settings.tools as Record<string, { execute?: unknown; type?: string }> | undefined
  )?.[name];
  return tool === undefined || tool.execute !== undefined || tool.type === 'provider';
}
