// What calls of the client take and give, besides the API's own objects.
import type { Operations } from './api.gen.js';
import type * as Api from './api.gen.js';
import type { KeyedOptions } from './caller.js';

/** A text, or parts: texts, images, files. */
export type PromptInput = string | Api.InputPart[];

export type Body<Name extends keyof Operations> = NonNullable<Operations[Name]['body']>;

export interface EventsOptions {
  /** Cursor of an earlier stream; events after it come. Default: from the beginning. */
  after?: string | number | null;
  /** `objects`: each event has `object`, what it is about, in its present state. */
  view?: 'events' | 'objects';
  /** true: also pieces of replies that are being written. */
  deltas?: boolean;
  /** true: also the events of tasks below the session. */
  children?: boolean;
  signal?: AbortSignal;
  outageMs?: number;
}

/** What `ask` takes beside the question. */
export type AskOptions = KeyedOptions & { project?: string } & Omit<Api.AskRequest, 'question'>;

export interface Artifact {
  bytes: Uint8Array<ArrayBuffer>;
  /** Media type, such as `text/plain`. */
  mime: string;
  /** SHA-256 in hex. */
  digest: string;
}
