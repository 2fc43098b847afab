// What a person needs beside a call: who requested the turn, the agent's last words before it, and the schema of its tool.
import { client } from './api';
import type { Schema } from './schema';
import type { Call } from './words';

export interface Context {
  requester: string;
  text: string;
}

/** Calls of the view `inbox` have it; others have not. */
export const context = (call: Call): Context => ({
  requester: call.requestedBy?.name ?? '',
  text: call.lastText ?? '',
});

let tools: Promise<Map<string, Schema | null>> | null = null;

/** The schema of a tool's arguments, or null. */
export async function schemaOf(tool: string): Promise<Schema | null> {
  tools ??= client.call('listTools').then(
    (list) => new Map(list.items.map((one) => [one.name, one.inputSchema as Schema | null])),
    () => new Map(),
  );
  return (await tools).get(tool) ?? null;
}
