// What a person needs beside a call: who requested the turn, and the agent's last words before it. A later server tells
// it with the call; of one of today it is read from the session, for the call that is open.
import { client } from './api';
import type { Schema } from './schema';
import type { Call } from './words';

export interface Context {
  requester: string;
  text: string;
  callback: string;
}

const found = $state<Record<string, Context>>({});
const asked = new Set<string>();
const PAGES = 5;

async function messageText(call: Call): Promise<string> {
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const list = await client.call('listMessages', {
      path: { id: call.sessionID },
      query: { limit: 200, cursor },
    });
    const place = list.items.findIndex((one) => one.id === call.messageID);
    const message = list.items[place];
    if (message) {
      const said = message.parts.filter((part) => part.type === 'text');
      return said.map((part) => ('text' in part ? part.text : '')).join('\n\n');
    }
    cursor = list.next ?? undefined;
    if (!cursor) break;
  }
  return '';
}

async function requester(call: Call): Promise<string> {
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page += 1) {
    const list = await client.call('listTurns', {
      path: { id: call.sessionID },
      query: { limit: 200, cursor },
    });
    const turn = list.items.find((one) => one.id === call.turnID);
    if (turn) return turn.cause.by.name ?? '';
    cursor = list.next ?? undefined;
    if (!cursor) break;
  }
  return '';
}

async function read(call: Call): Promise<void> {
  const [text, by] = await Promise.all([
    messageText(call).catch(() => ''),
    requester(call).catch(() => ''),
  ]);
  found[call.id] = { text, requester: by, callback: '' };
}

export function context(call: Call): Context {
  const told = {
    requester: call.requestedBy?.name ?? '',
    text: call.lastText ?? '',
    callback: (call as { callbackURL?: string }).callbackURL ?? '',
  };
  if (call.lastText !== undefined && call.requestedBy !== undefined) return told;
  if (!asked.has(call.id)) {
    asked.add(call.id);
    // Not while a component is drawn: this changes state.
    queueMicrotask(() => void read(call));
  }
  return found[call.id] ?? told;
}

let tools: Promise<Map<string, Schema | null>> | null = null;

/** The schema of a tool's arguments, or null. */
export async function schemaOf(tool: string): Promise<Schema | null> {
  tools ??= client.call('listTools').then(
    (list) => new Map(list.items.map((one) => [one.name, one.inputSchema as Schema | null])),
    () => new Map(),
  );
  return (await tools).get(tool) ?? null;
}
