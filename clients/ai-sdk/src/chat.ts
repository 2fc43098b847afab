import { createUIMessageStreamResponse, type UIMessage, type UIMessageChunk } from 'ai';
import { DormouseError, Refusal, type Client, type InputPart, type Message } from 'dormouse';
import { Chunks, idOf } from './chunks.js';

const BODY_MAX = 8 << 20;
const SESSION = /^ses_[A-Za-z0-9_-]{1,64}$/;
const MESSAGE = /^[\x21-\x7e]{1,200}$/;
const OPEN_REASONS = ['approval', 'user_input'];

/**
 * Answers the requests of `DefaultChatTransport`: `POST /api/chat` sends the newest message, and
 * `GET /api/chat/ID/stream` resumes. The id of a chat is the id of its session, and the session is
 * the history: other messages of the request are ignored. Check who may use that session before you
 * call it.
 */
export function chatHandler(client: Client): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      if (request.method === 'GET') return await resume(client, request);
      if (request.method === 'POST') return await send(client, request);
      return said(405, 'Only GET and POST are allowed.');
    } catch (error) {
      if (error instanceof Refusal) return said(error.status, `${error.message} ${error.remedy}`);
      if (error instanceof BadRequest) return said(400, error.message);
      if (error instanceof DormouseError) return said(502, error.message);
      throw error;
    }
  };
}

class BadRequest extends Error {}

function said(status: number, text: string): Response {
  return new Response(text, { status, headers: { 'content-type': 'text/plain; charset=utf-8' } });
}

async function send(client: Client, request: Request): Promise<Response> {
  const { id, messages, trigger } = await bodyOf(request);
  const last = messages?.at(-1);
  if (!id || !SESSION.test(id)) throw new BadRequest('id must be the id of a session (ses_…).');
  if (trigger === 'regenerate-message')
    throw new BadRequest('A session does not regenerate replies.');
  if (!Array.isArray(last?.parts)) throw new BadRequest('The newest message must have parts.');
  if (last.role === 'assistant') return answered(client, id, last, request.signal);
  if (last.role !== 'user')
    throw new BadRequest('The newest message must be of the user or the assistant.');
  // It is the idempotency key: without one of its own, another message would count as the same.
  if (typeof last.id !== 'string' || !MESSAGE.test(last.id))
    throw new BadRequest('The id of the message must have 1 to 200 visible ASCII characters.');
  const accepted = await client.prompt(id, inputOf(last), {
    idempotencyKey: `chat-${last.id}`,
    signal: request.signal,
  });
  return response(client, id, accepted.turnID, accepted.seq - 1, request.signal);
}

async function bodyOf(
  request: Request,
): Promise<{ id?: string; messages?: UIMessage[]; trigger?: string }> {
  const text = await request.text();
  if (text.length > BODY_MAX) throw new BadRequest('The body must be at most 8 MiB.');
  try {
    const body = JSON.parse(text) as { messages?: UIMessage[] } | null;
    if (Array.isArray(body?.messages)) return body;
  } catch {
    // Said below.
  }
  throw new BadRequest('The body must be JSON, with id and messages.');
}

function inputOf(message: UIMessage): InputPart[] {
  const parts = message.parts.flatMap((part): InputPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'file') return [];
    const [, mime, data] = /^data:([^;,]+);base64,(.*)$/s.exec(part.url) ?? [];
    if (!mime || data === undefined) throw new BadRequest('Files must be data: URLs in base64.');
    const type = mime.startsWith('image/') ? 'image' : 'file';
    return [{ type, mime, data, name: part.filename ?? null }];
  });
  if (parts.length === 0) throw new BadRequest('The message must have a text or a file.');
  return parts;
}

/** Submits what a person did to the open calls: approvals, and outputs that the page added. */
async function answered(
  client: Client,
  sessionID: string,
  message: UIMessage,
  signal: AbortSignal,
): Promise<Response> {
  const open = new Map<string, { id: string; inputDigest: string }>();
  for await (const call of client.listPending({ sessionID, signal }))
    if (OPEN_REASONS.includes(call.reason)) open.set(idOf(call), call);
  for (const part of message.parts) {
    if (!('toolCallId' in part)) continue;
    const call = open.get(part.toolCallId);
    if (call) await submit(client, call, part);
  }
  const { activity, lastTurn } = await client.getSession(sessionID, { signal });
  const turnID = 'turnID' in activity ? activity.turnID : lastTurn?.id;
  if (!turnID) throw new BadRequest('The session has no turn.');
  return response(
    client,
    sessionID,
    turnID,
    await startOf(client, sessionID, turnID),
    signal,
    message,
  );
}

type Tool = Extract<UIMessage['parts'][number], { toolCallId: string }>;

/** The first answer wins: a refusal because somebody else was faster is no error here. */
async function submit(
  client: Client,
  call: { id: string; inputDigest: string },
  part: Tool,
): Promise<void> {
  try {
    if (part.state === 'approval-responded') {
      const { approved, reason } = part.approval;
      if (approved) await client.approve(call, { reason });
      else await client.deny(call, { reason });
    } else if (part.state === 'output-available') await client.submitResult(call.id, part.output);
    else if (part.state === 'output-error') await client.submitError(call.id, part.errorText);
  } catch (error) {
    if (!(error instanceof Refusal) || ![409, 410].includes(error.status)) throw error;
  }
}

async function resume(client: Client, request: Request): Promise<Response> {
  const [, id] = /\/([^/]+)\/stream\/?$/.exec(new URL(request.url).pathname) ?? [];
  if (!id || !SESSION.test(id)) throw new BadRequest('The path must end with SESSION_ID/stream.');
  const { activity } = await client.getSession(id, { signal: request.signal });
  if (!('turnID' in activity) || !activity.turnID) return new Response(null, { status: 204 });
  const { turnID } = activity;
  return response(client, id, turnID, await startOf(client, id, turnID), request.signal);
}

/** The event before the first of a turn. A message's id ends with the number of its event. */
async function startOf(client: Client, sessionID: string, turnID: string): Promise<number> {
  for await (const turn of client.listTurns(sessionID))
    if (turn.id === turnID) return Number(turn.inputMessageID.split('_').at(-1)) - 1;
  return 0;
}

function response(
  client: Client,
  sessionID: string,
  turnID: string,
  after: number,
  signal: AbortSignal,
  known?: UIMessage,
): Response {
  const stop = new AbortController();
  signal.addEventListener('abort', () => stop.abort(), { once: true });
  const chunks = turnChunks(client, sessionID, turnID, after, stop.signal, known);
  const stream = new ReadableStream<UIMessageChunk>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    async cancel() {
      stop.abort();
      await chunks.return(undefined).catch(() => {});
    },
  });
  return createUIMessageStreamResponse({ stream });
}

/**
 * One turn of a session as chunks of a UI message. It continues when the server restarts, and ends
 * when the turn does, or waits for an approval or an answer of a person.
 */
export async function* turnChunks(
  client: Client,
  sessionID: string,
  turnID: string,
  after: number,
  signal?: AbortSignal,
  known?: UIMessage,
): AsyncGenerator<UIMessageChunk, void, undefined> {
  const chunks = new Chunks(turnID, known);
  try {
    const events = client.events(sessionID, { after, view: 'objects', deltas: true, signal });
    for await (const item of events) {
      yield* chunks.take(item);
      if (chunks.isOver) return;
    }
    yield { type: 'error', errorText: 'The session was deleted.' };
  } catch (error) {
    if (signal?.aborted) return;
    yield {
      type: 'error',
      errorText: error instanceof Error ? error.message : 'The stream ended.',
    };
  }
}

/**
 * The messages of a session, for `new Chat({ id, messages, transport })`. The reply of a turn that is
 * open is not among them: `chat.resumeStream()` brings it.
 */
export async function loadMessages(client: Client, sessionID: string): Promise<UIMessage[]> {
  const { activity } = await client.getSession(sessionID);
  const open = 'turnID' in activity ? activity.turnID : null;
  const messages: UIMessage[] = [];
  for await (const message of client.listMessages(sessionID)) {
    if (message.role === 'user')
      messages.push({ id: message.id, role: 'user', parts: partsOf(message) });
    else if (message.turnID !== open) {
      const last = messages.at(-1);
      const parts = [{ type: 'step-start' as const }, ...partsOf(message)];
      if (last?.role === 'assistant' && last.id === message.turnID) last.parts.push(...parts);
      else messages.push({ id: message.turnID ?? message.id, role: 'assistant', parts });
    }
  }
  return messages;
}

function partsOf(message: Message): UIMessage['parts'] {
  return message.parts.flatMap((part): UIMessage['parts'] => {
    if (part.type === 'text' || part.type === 'reasoning')
      return [{ type: part.type, text: part.text, state: 'done' }];
    if (part.type !== 'tool') return [];
    const { state } = part;
    const tool = { type: 'dynamic-tool' as const, toolName: part.tool, toolCallId: idOf(part) };
    if (state.status === 'completed')
      return [{ ...tool, state: 'output-available', input: state.input, output: state.output }];
    if (state.status === 'error')
      return [{ ...tool, state: 'output-error', input: state.input, errorText: state.error }];
    return [{ ...tool, state: 'input-available', input: (state as { input?: unknown }).input }];
  });
}
