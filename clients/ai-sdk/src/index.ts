/** AI SDK: durable tools for `generateText`, and chats that are sessions of Dormouse. */
export { chatHandler, loadMessages, turnChunks } from './chat.js';
export { durableText, type DurableTextOptions, type OpenCall, type TextSettings } from './text.js';
