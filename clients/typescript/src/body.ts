import { ConnectionFailed, ResponseTooLarge } from './errors.js';

/** All bytes of a response. ResponseTooLarge if there are more than `max`; the rest is not read. */
export async function readBytes(response: Response, max: number): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = (): ResponseTooLarge =>
    new ResponseTooLarge(`The answer must be at most ${max} bytes.`);
  const announced = Number(response.headers.get('content-length') ?? 0);
  if (announced > max) {
    await response.body?.cancel().catch(() => {});
    throw tooLarge();
  }
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = response.body?.getReader();
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done || !value) break;
      size += value.length;
      if (size > max) throw tooLarge();
      pieces.push(value);
    }
  } catch (error) {
    if (error instanceof TypeError)
      throw new ConnectionFailed('The connection ended before the answer did.');
    throw error;
  } finally {
    await reader?.cancel().catch(() => {});
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
