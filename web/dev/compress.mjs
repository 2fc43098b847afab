// Writes NAME.br beside each file of dist/, or of the folder named, that gets smaller by it; the server sends it to
// browsers that accept it.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const dist = process.argv[2] ?? new URL('../dist', import.meta.url).pathname;
let total = 0;
for (const name of readdirSync(dist, { recursive: true })) {
  const path = join(dist, name);
  if (!statSync(path).isFile() || name.endsWith('.br')) continue;
  const bytes = readFileSync(path);
  const small = brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 11,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
  if (small.length < bytes.length) writeFileSync(`${path}.br`, small);
  total += Math.min(small.length, bytes.length);
  console.log(
    `${String(small.length).padStart(7)} of ${String(bytes.length).padStart(7)}  ${name}`,
  );
}
console.log(`${total} bytes in all, compressed`);
