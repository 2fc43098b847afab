import type { Client, Delta, Event, Message, Part, Session, StreamItem } from 'dormouse';
import { useEffect, useState } from 'react';

export interface SessionState {
  /** null until it is loaded. */
  session: Session | null;
  /** Oldest first. */
  messages: Message[];
  /** The text of the reply that is being written; empty if none is. */
  draft: string;
  /** Why the state is not current any more, or null. */
  error: Error | null;
}

const START: SessionState = { session: null, messages: [], draft: '', error: null };
const bytes = new TextEncoder();
const text = new TextDecoder();

/** `items` with one of them replaced, or with a new one at the end. */
function put<Item extends { id: string }>(items: Item[], item: Item): Item[] {
  const known = items.some((one) => one.id === item.id);
  return known ? items.map((one) => (one.id === item.id ? item : one)) : [...items, item];
}

function withPart(messages: Message[], part: Part): Message[] {
  return messages.map((message) =>
    message.id === part.messageID
      ? { ...message, parts: put(message.parts as Part[], part) }
      : message,
  );
}

/** The offset counts bytes of UTF-8: what is known before it stays. */
function drafted(draft: string, delta: Delta): string {
  return delta.kind === 'text'
    ? text.decode(bytes.encode(draft).slice(0, delta.offset)) + delta.text
    : draft;
}

/** true for an event about a pending call. */
function isCall(item: StreamItem): boolean {
  const object = (item as Event).object;
  return typeof object === 'object' && object !== null && 'continuation' in object;
}

/** The state after an event of `view=objects`, whose `object` says what it is about. */
function applied(state: SessionState, item: StreamItem): SessionState {
  if (item.type === 'delta') return { ...state, draft: drafted(state.draft, item as Delta) };
  const object = (item as Event).object as Record<string, unknown> | null | undefined;
  const draft = item.type === 'model_replied' || item.type === 'turn_ended' ? '' : state.draft;
  if (!object) return { ...state, draft };
  if ('parts' in object)
    return { ...state, draft, messages: put(state.messages, object as unknown as Message) };
  if ('messageID' in object && 'type' in object) {
    return { ...state, draft, messages: withPart(state.messages, object as unknown as Part) };
  }
  if ('agentID' in object && 'activity' in object)
    return { ...state, draft, session: object as unknown as Session };
  return { ...state, draft };
}

/**
 * A session, its messages and the reply that is being written, kept current across restarts of the
 * server.
 */
export function useSession(client: Client, sessionID: string): SessionState {
  const [state, setState] = useState<SessionState>(START);
  useEffect(() => {
    const stop = new AbortController();
    const { signal } = stop;
    const set = (change: (before: SessionState) => SessionState): void => {
      if (!signal.aborted) setState(change);
    };
    const load = async (): Promise<Session> => {
      const session = await client.getSession(sessionID, { signal });
      const messages: Message[] = [];
      for await (const message of client.listMessages(sessionID, { signal }))
        messages.push(message);
      set((before) => ({ ...before, session, messages }));
      return session;
    };
    const follow = async (): Promise<void> => {
      set(() => START);
      const { seq } = await load();
      const events = client.events(sessionID, {
        after: seq,
        view: 'objects',
        deltas: true,
        signal,
      });
      for await (const item of events) {
        // A call that pauses or settles changes the part of a message, which only the list has.
        if (item.type === 'reset' || isCall(item)) await load();
        else set((before) => applied(before, item));
        // Only then its activity has changed.
        if ('activity' in item || 'status' in item || item.type === 'turn_ended') {
          const session = await client.getSession(sessionID, { signal });
          set((before) => ({ ...before, session }));
        }
      }
      set((before) => ({ ...before, session: null }));
    };
    follow().catch((error: Error) => set((before) => ({ ...before, error })));
    return () => stop.abort();
  }, [client, sessionID]);
  return state;
}
