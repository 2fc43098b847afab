// The chunks of a reply whose first attempt was cut off, for tests/adapters.py: one line each.
import { Chunks } from '../dist/chunks.js';

const turnID = 'trn_1';
const event = (type, data, object) => ({ type, turnID, data, object });
const delta = (step, attempt, offset, text) => ({
  type: 'delta',
  kind: 'text',
  turnID,
  step,
  attempt,
  offset,
  text,
  messageID: `msg_${attempt}`,
  partID: `prt_${attempt}`,
});
const part = { id: 'prt_5', type: 'text', text: 'Hällo you' };
const items = [
  event('turn_started', {}),
  delta(2, 1, 0, 'before its step'),
  event('model_requested', { step: 1, attempt: 1 }),
  delta(1, 1, 0, process.argv[2]),
  delta(1, 1, 0, process.argv[2]),
  event('model_requested', { step: 1, attempt: 2 }),
  delta(1, 2, 0, 'Hä'),
  event('model_replied', {}, { id: 'msg_5', role: 'assistant', parts: [part] }),
  delta(1, 2, 3, 'after its reply'),
  event('turn_ended', { finishReason: 'stop' }),
];
const chunks = new Chunks(turnID);
for (const item of items)
  for (const { type, delta: text } of chunks.take(item)) console.log(text ?? type);
console.log(chunks.isOver);
