import { crc32, deflateSync, inflateSync } from 'node:zlib';

/** Pictures as PNG files with a palette, and as a browser or a virtual display writes them. */

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
export function readPicture(file) {
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
export function packed(picture) {
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

/**
 * Reads what Xvfb shows (`-fbdir`): a window dump of X11 with 32 bits a pixel.
 * @param {Buffer} dump
 * @returns {Picture}
 */
export function readDump(dump) {
  /** @param {number} index */
  const field = (index) => dump.readUInt32BE(4 * index);
  const [width, height, bytesPerLine] = [field(4), field(5), field(12)];
  if (field(1) !== 7 || field(11) !== 32) throw new Error('this is no window dump with 32 bits a pixel');
  const start = field(0) + 12 * field(19);
  const isLittle = field(7) === 0;
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const at = start + y * bytesPerLine + 4 * x;
      const colour = (isLittle ? dump.readUInt32LE(at) : dump.readUInt32BE(at)) & 0xffffff;
      pixels.writeUIntBE(colour, (y * width + x) * 3, 3);
    }
  return { width, height, pixels };
}

/**
 * The smallest part of the picture that contains everything but the background, which is the colour of its last pixel.
 * @param {Picture} picture
 * @returns {Picture}
 */
export function withoutMargins({ width, height, pixels }) {
  const background = pixels.readUIntBE(pixels.length - 3, 3);
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      if (pixels.readUIntBE((y * width + x) * 3, 3) === background) continue;
      left = Math.min(left, x);
      right = Math.max(right, x + 1);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y + 1);
    }
  if (right <= left) throw new Error('the picture shows nothing');
  const lines = Array.from({ length: bottom - top }, (_, line) =>
    pixels.subarray(((top + line) * width + left) * 3, ((top + line) * width + right) * 3),
  );
  return { width: right - left, height: bottom - top, pixels: Buffer.concat(lines) };
}
