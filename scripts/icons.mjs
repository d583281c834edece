#!/usr/bin/env node
/**
 * Draws the icons that packages need from the SVG files in resources/icons: PNG at 16 to 1024 pixels, the tray icon at
 * one and two times, an .ico and an .icns. The results are in the repository, so that this script is needed only after
 * a change of the drawing. It needs `rsvg-convert` (Debian: librsvg2-bin).
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(fileURLToPath(import.meta.url)), '..', 'resources', 'icons');
const sizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
/** Up to this size the simplified drawing is clearer. */
const greatestSmall = 32;

/** @typedef {{size: number, png: Buffer}} Image */

/**
 * A drawing as PNG.
 * @param {string} svg
 * @param {number} size pixels
 */
function raster(svg, size) {
  const options = ['--width', String(size), '--height', String(size), join(folder, svg)];
  return execFileSync('rsvg-convert', options, { maxBuffer: 16 * 1024 * 1024 });
}

/**
 * An .ico of PNG images: a header of 6 bytes, 16 bytes an image, then the images.
 * @param {Image[]} images
 */
function ico(images) {
  const header = Buffer.alloc(6 + 16 * images.length);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(images.length, 4);
  let offset = header.length;
  images.forEach(({ size, png }, index) => {
    const at = 6 + 16 * index;
    // 0 means 256, the largest size in an .ico.
    header.writeUInt8(size % 256, at);
    header.writeUInt8(size % 256, at + 1);
    header.writeUInt16LE(1, at + 4);
    header.writeUInt16LE(32, at + 6);
    header.writeUInt32LE(png.length, at + 8);
    header.writeUInt32LE(offset, at + 12);
    offset += png.length;
  });
  return Buffer.concat([header, ...images.map(({ png }) => png)]);
}

/**
 * An .icns of PNG images: `icns` and the length, then type, length and image each.
 * @param {Image[]} images
 */
function icns(images) {
  /** @type {Record<number, string>} */
  const types = { 16: 'icp4', 32: 'icp5', 64: 'icp6', 128: 'ic07', 256: 'ic08', 512: 'ic09', 1024: 'ic10' };
  const parts = images
    .filter(({ size }) => size in types)
    .map(({ size, png }) => {
      const head = Buffer.alloc(8);
      head.write(types[size] ?? '', 'latin1');
      head.writeUInt32BE(png.length + 8, 4);
      return Buffer.concat([head, png]);
    });
  const head = Buffer.alloc(8);
  head.write('icns', 'latin1');
  head.writeUInt32BE(8 + parts.reduce((sum, part) => sum + part.length, 0), 4);
  return Buffer.concat([head, ...parts]);
}

const images = sizes.map((size) => ({
  size,
  png: raster(size <= greatestSmall ? 'corollary-small.svg' : 'corollary.svg', size),
}));
for (const { size, png } of images) writeFileSync(join(folder, `${size}x${size}.png`), png);
writeFileSync(join(folder, 'corollary.ico'), ico(images.filter(({ size }) => size <= 256)));
writeFileSync(join(folder, 'corollary.icns'), icns(images));
writeFileSync(join(folder, 'trayTemplate.png'), raster('corollary-tray.svg', 16));
writeFileSync(join(folder, 'trayTemplate@2x.png'), raster('corollary-tray.svg', 32));
