// For programs beside the server: Node, Deno, Bun. Browsers do not load it.
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { ClientOptions } from './caller.js';
import { Client } from './client.js';

function storedToken(env: Record<string, string | undefined>): string | undefined {
  const data = env.XDG_DATA_HOME || join(env.HOME || homedir(), '.local/share');
  try {
    return readFileSync(join(data, 'dormouse/token'), 'utf8').split('\n')[0]?.trim() || undefined;
  } catch {
    return undefined;
  }
}

/**
 * A Client as the command line finds its server: `$DORMOUSE_URL`, else http://127.0.0.1:3676; the
 * token of `$DORMOUSE_TOKEN`, else of the data directory. `options` come first; with `base` no
 * token is looked for, so that it goes to no other server.
 */
export function localClient(options: ClientOptions = {}): Client {
  const env = process.env;
  const base = options.base ?? (env.DORMOUSE_URL || 'http://127.0.0.1:3676');
  const found = options.base === undefined ? env.DORMOUSE_TOKEN || storedToken(env) : undefined;
  const token = options.token ?? found;
  return new Client({ ...options, base, token });
}
