// Files that a person attaches to a message or an answer.
import { bytes } from './text';

export interface Attached {
  name: string;
  mime: string;
  data: string;
  size: number;
}

export const FILE_BYTES_MOST = 5 * 1024 * 1024;
// A request has at most 8 MiB, and base64 takes a third more.
const TOGETHER_MOST = 5.5 * 1024 * 1024;

/** Reads the files, and says of each that cannot be attached why. `most`: how many there may be. */
export async function attach(
  list: Iterable<File>,
  before: Attached[],
  most: number,
  refuse: (why: string) => void,
): Promise<Attached[]> {
  const all = [...before];
  for (const file of list) {
    const together = all.reduce((sum, one) => sum + one.size, file.size);
    if (all.length >= most) {
      refuse(`At most ${most} files can be attached.`);
      break;
    }
    if (file.size === 0) refuse(`${file.name} is empty.`);
    else if (file.size > FILE_BYTES_MOST)
      refuse(`${file.name} must be at most ${bytes(FILE_BYTES_MOST)}.`);
    else if (together > TOGETHER_MOST)
      refuse(`All files together must be at most ${bytes(TOGETHER_MOST)}.`);
    else all.push(await read(file));
  }
  return all;
}

async function read(file: File): Promise<Attached> {
  const buffer = new Uint8Array(await file.arrayBuffer());
  let binary = '';
  for (let at = 0; at < buffer.length; at += 32_768)
    binary += String.fromCharCode(...buffer.subarray(at, at + 32_768));
  return {
    name: file.name || 'picture.png',
    mime: file.type || 'application/octet-stream',
    data: btoa(binary),
    size: file.size,
  };
}

/** As the server takes it. */
export const filePart = ({ name, mime, data }: Attached) => ({
  type: /^image\/(png|jpeg|gif|webp)$/.test(mime) ? ('image' as const) : ('file' as const),
  name,
  mime,
  data,
});
