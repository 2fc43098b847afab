import type { ChangesOptions, Client, PendingCall } from 'dormouse';
import { useEffect, useState } from 'react';

export interface PendingCallsOptions {
  /** Only of this session; else of the project. */
  sessionID?: string;
  project?: string;
  tool?: string;
  /** `inbox`: with what a person needs to decide. */
  view?: 'inbox';
}

export interface PendingCallsState {
  /** Open calls, newest first. */
  calls: PendingCall[];
  /** true until the first list is there. */
  loading: boolean;
  /** Why the list is not current any more, or null. */
  error: Error | null;
}

const OPEN = ['waiting', 'processing'];
const START: PendingCallsState = { calls: [], loading: true, error: null };

/** `calls` with one that changed: settled ones leave, new ones come first. */
function changed(calls: PendingCall[], call: PendingCall): PendingCall[] {
  const isOpen = OPEN.includes(call.status);
  const known = calls.some((one) => one.id === call.id);
  if (!isOpen) return calls.filter((one) => one.id !== call.id);
  return known ? calls.map((one) => (one.id === call.id ? call : one)) : [call, ...calls];
}

/**
 * The open calls of a session or a project, kept current. Use `client.approve`, `deny` and
 * `submitResult` on them.
 */
export function usePendingCalls(
  client: Client,
  options: PendingCallsOptions = {},
): PendingCallsState {
  const [state, setState] = useState<PendingCallsState>(START);
  const { sessionID, project, tool, view } = options;
  useEffect(() => {
    const stop = new AbortController();
    const query: ChangesOptions = { sessionID, project, tool, view, signal: stop.signal };
    const follow = async (): Promise<void> => {
      setState(START);
      // The position first: what changes while the list is read comes again.
      const changes = client.changes(query);
      await changes.start();
      const calls: PendingCall[] = [];
      for await (const call of client.listPending(query as object)) calls.push(call);
      if (stop.signal.aborted) return;
      setState({ calls, loading: false, error: null });
      for await (const call of changes) {
        setState((before) => ({ ...before, calls: changed(before.calls, call) }));
      }
    };
    follow().catch((error: Error) => {
      if (!stop.signal.aborted) setState((before) => ({ ...before, loading: false, error }));
    });
    return () => stop.abort();
  }, [client, sessionID, project, tool, view]);
  return state;
}
