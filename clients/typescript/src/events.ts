import { ResponseTooLarge } from './errors.js';

export interface ServerSentEvent {
  id: string | null;
  event: string;
  data: string;
}

/**
 * Reads Server-Sent Events from a body, as the HTML standard says; `onByte` is called for each
 * piece. ResponseTooLarge if one event has more than `max` characters.
 */
export async function* parseEvents(
  body: ReadableStream<Uint8Array>,
  onByte: () => void = () => {},
  max = 64 << 20,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let size = 0;
  let frame: { id: string | null; event: string; data: string[] } = {
    id: null,
    event: '',
    data: [],
  };
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onByte();
      rest += decoder.decode(value, { stream: true });
      size += value.length;
      const lines = rest.split(/\r\n|\n|\r(?!$)/);
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (line === '') {
          // A frame with an id and nothing else says where the stream begins; its data is empty.
          if (frame.data.length > 0 || frame.id !== null) {
            yield { id: frame.id, event: frame.event || 'message', data: frame.data.join('\n') };
          }
          frame = { id: null, event: '', data: [] };
          size = rest.length;
          continue;
        }
        const [, field, text] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
        if (field === 'data') frame.data.push(text ?? '');
        else if (field === 'event') frame.event = text ?? '';
        else if (field === 'id') frame.id = text ?? '';
        else if (field === 'retry' || field === '') size = rest.length;
      }
      if (size > max) throw new ResponseTooLarge(`An event must have at most ${max} bytes.`);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
