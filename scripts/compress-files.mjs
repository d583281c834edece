import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/**
 * The last part of a build: beside every file of the workbench that benefits, the file compressed, once by Brotli and
 * once by gzip. The service sends what a browser accepts (src/main/http/files.ts) and compresses none of them itself.
 *
 * The build is reproducible: the same files give the same bytes.
 */

const folder = fileURLToPath(new URL('../out/renderer', import.meta.url));
const gaining = new Set(['.js', '.css', '.html', '.svg', '.json', '.ttf']);
/** Below this size the headers cost as much. */
const leastBytes = 1024;
/** The highest level saves a twelfth, and takes ten times as long: too long for the editor, which no first page has. */
const qualityOf = (/** @type {Buffer} */ bytes) => (bytes.length < 2_000_000 ? 11 : 9);

const byBrotli = promisify(brotliCompress);
const byGzip = promisify(gzip);

for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !gaining.has(extname(entry.name))) continue;
  const path = join(entry.parentPath, entry.name);
  const bytes = readFileSync(path);
  if (bytes.length < leastBytes) continue;
  const [brotli, gzipped] = await Promise.all([
    byBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: qualityOf(bytes) } }),
    byGzip(bytes, { level: 9 }),
  ]);
  writeFileSync(`${path}.br`, brotli);
  writeFileSync(`${path}.gz`, gzipped);
}
