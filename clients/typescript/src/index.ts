export type * from './api.gen.js';
export { Changes, type ChangesOptions } from './changes.js';
export { type CallOptions, type ClientOptions, type KeyedOptions } from './caller.js';
export { Client } from './client.js';
export {
  ConnectionFailed,
  DormouseError,
  Refusal,
  ResponseTooLarge,
  TimedOut,
  UnexpectedResponse,
} from './errors.js';
export { parseEvents, type ServerSentEvent } from './events.js';
export { HttpClient, type Answered, type HttpOptions, type Request } from './http.js';
export { type Artifact, type AskOptions, type EventsOptions, type PromptInput } from './options.js';
export { EventStream, type Delta, type Reset, type StreamItem } from './stream.js';
