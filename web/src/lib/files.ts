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
// The longer side, in pixels, of a picture that was too large and is drawn again.
const PIXELS_MOST = 2048;
/** Larger pictures are not even decoded. */
const PICTURE_BYTES_MOST = 64 * 1024 * 1024;

/** Reads the files; says of each that cannot be attached why, and of each picture that it was made smaller. `most`: how
 * many there may be. */
export async function attach(
  list: Iterable<File>,
  before: Attached[],
  most: number,
  say: (what: string) => void,
): Promise<Attached[]> {
  const all = [...before];
  for (const chosen of list) {
    const file = chosen.size > FILE_BYTES_MOST ? await smaller(chosen) : chosen;
    if (file !== chosen)
      say(`${chosen.name} was made smaller: ${bytes(file.size)} instead of ${bytes(chosen.size)}.`);
    const together = all.reduce((sum, one) => sum + one.size, file.size);
    if (all.length >= most) {
      say(`At most ${most} files can be attached.`);
      break;
    }
    if (file.size === 0) say(`${file.name} is empty.`);
    else if (file.size > FILE_BYTES_MOST)
      say(`${file.name} must be at most ${bytes(FILE_BYTES_MOST)}.`);
    else if (together > TOGETHER_MOST)
      say(`All files together must be at most ${bytes(TOGETHER_MOST)}.`);
    else all.push(await read(file));
  }
  return all;
}

/** A picture as a JPEG with fewer pixels; any other file, and what the browser cannot draw, as it is. */
async function smaller(file: File): Promise<File> {
  if (!file.type.startsWith('image/') || file.size > PICTURE_BYTES_MOST) return file;
  const picture = await createImageBitmap(file).catch(() => null);
  if (!picture) return file;
  const scale = Math.min(1, PIXELS_MOST / Math.max(picture.width, picture.height));
  const canvas = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  );
  canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.85 });
  return new File([blob], file.name.replace(/\.\w+$/, '') + '.jpg', { type: blob.type });
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
