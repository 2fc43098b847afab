/** Claude Agent SDK: what it may do is decided by people, through Dormouse. */
import type { CanUseTool, PermissionResult } from '@anthropic-ai/claude-agent-sdk';
import type { AskedCall, AskRequest, Client, PendingCall } from 'dormouse';
import { askOnce, toolOf, type Outcome, type RunOptions } from 'dormouse/runs';

export interface PermissionOptions extends Omit<RunOptions, 'signal'> {
  /** What people read; default: the SDK's title, else "Allow TOOL?". */
  question?: (toolName: string, input: Record<string, unknown>) => Partial<AskRequest>;
}

interface Question {
  question: string;
  multiSelect?: boolean;
  options?: { label: string; description?: string }[];
}

type Context = Parameters<CanUseTool>[2];

/**
 * The `canUseTool` of `query()`: each request is a pending call, whose key is the id of the tool use,
 * so that a session that is resumed after a crash finds its question, answered or not. Questions of
 * the tool AskUserQuestion get answers instead of an approval. Denied, expired and cancelled requests
 * are denials with the reason. If the server cannot be reached, the query ends with that as its
 * reason; resume its session later.
 */
export function canUseTool(client: Client, options: PermissionOptions = {}): CanUseTool {
  return async (toolName, input, context) => {
    try {
      return toolName === 'AskUserQuestion' && Array.isArray(input.questions)
        ? await answers(client, input, context, options)
        : await permission(client, toolName, input, context, options);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return { behavior: 'deny', message: `Dormouse could not ask: ${why}`, interrupt: true };
    }
  };
}

async function permission(
  client: Client,
  toolName: string,
  input: Record<string, unknown>,
  context: Context,
  options: PermissionOptions,
): Promise<PermissionResult> {
  const outcome = await ask(client, context.toolUseID, context.signal, options, {
    question: context.title ?? `Allow ${toolName}?`,
    ...options.question?.(toolName, input),
    kind: 'approval',
    tool: toolOf(toolName),
    arguments: input,
  });
  return outcome.approved
    ? { behavior: 'allow', updatedInput: input }
    : { behavior: 'deny', message: outcome.reason ?? 'denied' };
}

/** All questions at once; each is a pending call with the options as choices. */
async function answers(
  client: Client,
  input: Record<string, unknown>,
  context: Context,
  options: PermissionOptions,
): Promise<PermissionResult> {
  const questions = input.questions as Question[];
  const outcomes = await Promise.all(
    questions.map((one, at) =>
      ask(client, `${context.toolUseID}/${at}`, context.signal, options, {
        question: one.question,
        kind: 'answer',
        tool: 'AskUserQuestion',
        ...(one.multiSelect ? manyOf(one) : { choices: choicesOf(one) }),
      }),
    ),
  );
  const unanswered = outcomes.find(({ approved }) => !approved);
  if (unanswered) return { behavior: 'deny', message: unanswered.reason ?? 'not answered' };
  const said = outcomes.map(({ value }) => (Array.isArray(value) ? value.join(', ') : value));
  const answered = Object.fromEntries(questions.map((one, at) => [one.question, said[at]]));
  return { behavior: 'allow', updatedInput: { ...input, answers: answered } };
}

function choicesOf({ options }: Question): AskRequest['choices'] {
  return options?.map(({ label, description }) => ({
    title: label,
    ...(description ? { description } : {}),
  }));
}

function manyOf({ options }: Question): Partial<AskRequest> {
  const items = { enum: options?.map(({ label }) => label) };
  return { schema: { type: 'array', items, minItems: 1 } };
}

/** When the SDK gives the request up, its question is cancelled. */
async function ask(
  client: Client,
  key: string,
  signal: AbortSignal,
  options: PermissionOptions,
  request: AskRequest,
): Promise<Outcome> {
  let call: PendingCall | null = null;
  const onWaiting = (asked: AskedCall): void => {
    call = asked.call;
    options.onWaiting?.(asked);
  };
  try {
    return await askOnce(client, `claude/${key}`, request, { ...options, signal, onWaiting });
  } catch (error) {
    if (signal.aborted && call)
      await client.cancelPending(call, { reason: 'the agent asks no more' }).catch(() => {});
    throw error;
  }
}
