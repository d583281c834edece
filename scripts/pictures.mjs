import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { tool } from './check.mjs';
import { ensureChromium } from './chromium.mjs';
import { Refusal, runCommand } from './prepare.mjs';

/**
 * `npm run pictures`: retakes the pictures of docs/screenshots from the existing build, and compresses them: a picture
 * of a workbench has few relevant colours, and with a palette of 256 takes a third of the space. The loss is below the
 * threshold of the comparison.
 */

const folder = 'docs/screenshots';
const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** @typedef {{width: number, height: number, pixels: Buffer}} Picture `pixels`: three bytes each */

/**
 * The chunks of a PNG in order.
 * @param {Buffer} file
 */
function chunksOf(file) {
  const chunks = [];
  for (let at = signature.length; at < file.length; ) {
    const length = file.readUInt32BE(at);
    chunks.push({
      type: file.toString('latin1', at + 4, at + 8),
      data: file.subarray(at + 8, at + 8 + length),
    });
    at += 12 + length;
  }
  return chunks;
}

/**
 * Paeth's predictor, as the PNG specification defines it.
 * @param {number} left
 * @param {number} above
 * @param {number} corner
 */
function paeth(left, above, corner) {
  const estimate = left + above - corner;
  const toLeft = Math.abs(estimate - left);
  const toAbove = Math.abs(estimate - above);
  const toCorner = Math.abs(estimate - corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
}

/**
 * Reads a PNG of eight bits a colour without transparency, as a browser writes it; null for any other.
 * @param {Buffer} file
 * @returns {Picture | null}
 */
function readPicture(file) {
  const chunks = chunksOf(file);
  const header = chunks.find(({ type }) => type === 'IHDR')?.data;
  if (header === undefined || header[8] !== 8 || header[9] !== 2 || header[12] !== 0) return null;
  const width = header.readUInt32BE(0);
  const height = header.readUInt32BE(4);
  const filtered = inflateSync(
    Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)),
  );
  const line = width * 3;
  const pixels = Buffer.alloc(line * height);
  for (let y = 0; y < height; y += 1) {
    const filter = filtered[y * (line + 1)] ?? 0;
    for (let x = 0; x < line; x += 1) {
      const at = y * line + x;
      const left = x < 3 ? 0 : (pixels[at - 3] ?? 0);
      const above = y === 0 ? 0 : (pixels[at - line] ?? 0);
      const corner = x < 3 || y === 0 ? 0 : (pixels[at - line - 3] ?? 0);
      const guesses = [0, left, above, (left + above) >> 1, paeth(left, above, corner)];
      pixels[at] = ((filtered[y * (line + 1) + 1 + x] ?? 0) + (guesses[filter] ?? 0)) & 0xff;
    }
  }
  return { width, height, pixels };
}

/**
 * The 256 most frequent colours, and for each colour of the picture the nearest of them.
 * @param {Picture} picture
 */
function paletteOf({ pixels }) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let at = 0; at < pixels.length; at += 3) {
    const colour = pixels.readUIntBE(at, 3);
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, 256)
    .map(([colour]) => colour);
  /** @param {number} one @param {number} other */
  const distance = (one, other) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 0xff) - ((other >> shift) & 0xff)) ** 2, 0);
  /** @param {number} colour */
  const nearest = (colour) =>
    palette.reduce(
      (best, candidate, index) =>
        distance(candidate, colour) < distance(palette[best] ?? 0, colour) ? index : best,
      0,
    );
  return { palette, places: new Map([...counts.keys()].map((colour) => [colour, nearest(colour)])) };
}

/**
 * @param {string} type
 * @param {Buffer} data
 */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

/**
 * The picture as a PNG with a palette.
 * @param {Picture} picture
 */
function packed(picture) {
  const { width, height, pixels } = picture;
  const { palette, places } = paletteOf(picture);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.alloc(palette.length * 3);
  for (const [index, colour] of palette.entries()) colours.writeUIntBE(colour, index * 3, 3);
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      lines[y * (width + 1) + 1 + x] = places.get(pixels.readUIntBE((y * width + x) * 3, 3)) ?? 0;
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function packAll() {
  let bytes = 0;
  const names = readdirSync(folder).filter((name) => name.endsWith('.png'));
  for (const name of names) {
    const path = join(folder, name);
    const file = readFileSync(path);
    const picture = readPicture(file);
    const written = picture === null ? file : packed(picture);
    if (picture !== null) writeFileSync(path, written);
    bytes += written.length;
  }
  console.log(`${names.length} pictures, ${(bytes / 1e6).toFixed(1)} MB`);
}

await runCommand(async () => {
  if (!process.argv.includes('--pack-only')) {
    if (!(await ensureChromium()))
      throw new Refusal('There is no Chromium. Install one, or set CHROMIUM_PATH.');
    const { ok } = await tool(
      'node_modules/@playwright/test/cli.js',
      ['test', 'screens', '--update-snapshots=all'],
      { show: true, environment: { LONG: '1' } },
    );
    if (!ok) throw new Refusal('Not all pictures could be taken: see above.');
  }
  packAll();
});
