import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from './prepare.mjs';
import { withoutTabularHyphen } from './tabular-hyphen.mjs';

/**
 * `node scripts/fonts.mjs`: makes the fonts of the workbench in src/renderer/ui/fonts, and fonts.css, from the packages of
 * Fontsource: only the scripts, weights and typographic features that the workbench shows. Run it after an update of the
 * packages, and commit what it makes; the build takes the files as they are.
 */

const folder = join(root, 'src/renderer/ui/fonts');
const require = createRequire(import.meta.url);
const { resolve } = require;
/** @type {(font: Buffer, text: string, options: object) => Promise<Buffer>} */
const subsetFont = require('subset-font');

/** The scripts, by the names of Fontsource. The latin files are preloaded by index.html. */
const scripts = ['latin', 'latin-ext', 'greek', 'cyrillic'];

/** Kerning, marks and figures of one width, but for the hyphen; no ligatures, alternates or fractions, which are half of some files. */
const keepFeatures = ['ccmp', 'kern', 'mark', 'mkmk', 'tnum', 'case', 'locl'];

/**
 * Combining marks, which are left out of the preloaded files: few of all are there, so that the system draws most decomposed
 * letters anyway, and their anchors are a tenth of the file.
 */
const combining = /\p{M}/u;

/**
 * @typedef {{family: string, package: string, file: string, weight: string, name: string, axes?: {wght: {min: number, max: number}}}} Face
 * @type {readonly Face[]}
 */
const faces = [
  {
    family: 'Inter Variable',
    package: '@fontsource-variable/inter',
    file: 'inter-SCRIPT-wght-normal.woff2',
    weight: '400 600',
    name: 'inter',
    axes: { wght: { min: 400, max: 600 } },
  },
  ...[400, 600].map((weight) => ({
    family: 'JetBrains Mono',
    package: '@fontsource/jetbrains-mono',
    file: `jetbrains-mono-SCRIPT-${weight}-normal.woff2`,
    weight: String(weight),
    name: `jetbrains-mono-${weight}`,
  })),
];

/**
 * The characters of a unicode-range.
 * @param {string} range such as `U+0-7F,U+2190`
 */
function charactersOf(range) {
  const parts = range.split(',').map((part) => {
    const [first = 0, last = first] = part
      .replace('U+', '')
      .split('-')
      .map((point) => Number.parseInt(point, 16));
    return Array.from({ length: last - first + 1 }, (_, index) => String.fromCodePoint(first + index)).join(
      '',
    );
  });
  return parts.join('');
}

/**
 * A unicode-range without its combining marks; those of the latin range are parts of one character each.
 * @param {string} range
 */
const rangeWithoutMarks = (range) =>
  range
    .split(',')
    .filter((part) => !combining.test(charactersOf(part)))
    .join(',');

/**
 * The rule of a style sheet for one file.
 * @param {Face} face
 * @param {string} script
 * @param {string} file
 * @param {string} range
 */
function faceRule(face, script, file, range) {
  const lines = range.split(',').reduce(
    (/** @type {string[]} */ found, part) => {
      const last = found.at(-1) ?? '';
      return `${last} ${part},`.length > 108
        ? [...found, `    ${part},`]
        : [...found.slice(0, -1), `${last} ${part},`];
    },
    ['   '],
  );
  return `@font-face {
  font-family: "${face.family}";
  font-style: normal;
  font-weight: ${face.weight};
  font-display: ${script === 'latin' ? 'block' : 'swap'};
  src: url("./fonts/${file}") format("woff2");
  unicode-range:
${lines.join('\n').replace(/,$/, ';')}
}
`;
}

const heading = `/*
 * The two families, made by scripts/fonts.mjs from the packages of Fontsource under the Open Font License (decision 0066):
 * Inter for the interface, of any weight from 400 to 600, and JetBrains Mono for code, in two weights. The browser fetches
 * the scripts that are shown; the latin files are preloaded by index.html, so that the first text is drawn in its final
 * font, and hidden until then (\`block\`) rather than drawn twice. Other characters come from the fonts of the system.
 */
`;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const rules = [heading];
let bytes = 0;
for (const face of faces) {
  /** @type {Record<string, string>} */
  const ranges = JSON.parse(readFileSync(resolve(`${face.package}/unicode.json`), 'utf8'));
  for (const script of scripts) {
    const range = ranges[script];
    if (range === undefined) throw new Error(`${face.package} has no ${script}`);
    const whole = readFileSync(resolve(`${face.package}/files/${face.file.replace('SCRIPT', script)}`));
    const text = charactersOf(range);
    const isPreloaded = script === 'latin';
    const shown = isPreloaded ? [...text].filter((character) => !combining.test(character)).join('') : text;
    const options = { keepFeatures, ...(face.axes === undefined ? {} : { variationAxes: face.axes }) };
    const hasHyphen = face.name === 'inter' && shown.includes('-');
    const source = hasHyphen
      ? withoutTabularHyphen(await subsetFont(whole, shown, { ...options, targetFormat: 'sfnt' }))
      : whole;
    const part = await subsetFont(source, shown, {
      ...(hasHyphen ? { keepFeatures } : options),
      targetFormat: 'woff2',
    });
    const file = `${face.name}-${script}.woff2`;
    writeFileSync(join(folder, file), part);
    rules.push(faceRule(face, script, file, isPreloaded ? rangeWithoutMarks(range) : range));
    bytes += part.length;
    console.log(`${file}: ${(whole.length / 1000).toFixed(1)} kB -> ${(part.length / 1000).toFixed(1)} kB`);
  }
}
writeFileSync(join(root, 'src/renderer/ui/fonts.css'), rules.join('\n'));
console.log(`${rules.length - 1} files, ${(bytes / 1000).toFixed(1)} kB`);
