import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './prepare.mjs';

/**
 * The licences of everything that is shipped: the service's dependencies, what is bundled into the workbench, and all
 * their dependencies. Electron's and Chromium's own come with Electron.
 *
 * Every shipped package has its entry, in the order of names; otherwise the list cannot be made. The packages come from
 * the lockfile; the import rules that give each its home say which development packages are bundled.
 */

/** @typedef {{name: string, version: string, licence: string, text: string}} Licence */
/** @typedef {{version?: string, license?: string, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, optional?: boolean, peer?: boolean, peerDependencies?: Record<string, string>}} Entry of the lockfile */

const licenceFile = /^(licen[cs]e|copying)([.-].*)?$/i;
const noticeFile = /^notice([.-].*)?$/i;

/**
 * @returns {Licence[]}
 */
export function collectLicences() {
  /** @type {Record<string, Entry>} */
  const entries = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  /** @type {Map<string, Licence>} */
  const found = new Map();
  const waiting = shippedPackages().map((name) => ({ name, from: '' }));
  const seen = new Set();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = placeOf(entries, next.name, next.from);
    if (path === null || seen.has(path)) continue;
    seen.add(path);
    const entry = /** @type {Entry} */ (entries[path]);
    const licence = licenceOf(path, next.name, entry);
    found.set(`${licence.name}@${licence.version}`, licence);
    for (const name of Object.keys({ ...entry.dependencies, ...entry.peerDependencies }))
      waiting.push({ name, from: path });
  }
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** The packages of package.json that are shipped: the dependencies, and those built into the workbench. */
function shippedPackages() {
  /** @type {{dependencies: Record<string, string>, devDependencies: Record<string, string>}} */
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  /** @typedef {{name: string, from: {pathNot?: string}, to: {path?: string}}} Rule */
  /** @type {{forbidden: Rule[]}} */
  const { forbidden } = createRequire(import.meta.url)('./dependency-cruiser.cjs');
  const homes = forbidden.filter(
    ({ name, from }) => name.startsWith('home-of-') && /src.*renderer/.test(from.pathNot ?? ''),
  );
  const bundled = Object.keys(devDependencies).filter((name) =>
    homes.some(
      ({ to }) => !name.startsWith('@types/') && new RegExp(to.path ?? '').test(`node_modules/${name}/`),
    ),
  );
  return [...Object.keys(dependencies), ...bundled];
}

/**
 * The lockfile's path of the package that a name inside another one refers to; null for an optional peer that is not
 * installed.
 * @param {Record<string, Entry>} entries
 * @param {string} name
 * @param {string} from path of the package that names it
 */
function placeOf(entries, name, from) {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('/node_modules/'), 0))) {
    const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (entries[path] !== undefined) return path;
    if (folder === '') return null;
    if (!folder.includes('/node_modules/')) folder = '';
  }
}

/**
 * @param {string} path in the lockfile
 * @param {string} name
 * @param {Entry} entry
 * @returns {Licence}
 */
function licenceOf(path, name, { version = '' }) {
  const folder = join(root, path);
  /** @type {{license?: string | {type: string}, author?: string | {name: string}}} */
  const { license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const licence = typeof license === 'object' ? license.type : license;
  if (licence === undefined) throw new Error(`${path} does not state its licence`);
  const names = readdirSync(folder).sort();
  // A few name their licence without its text: then the name is all there is.
  const files = [
    ...names.filter((each) => licenceFile.test(each)),
    ...names.filter((each) => noticeFile.test(each)),
  ];
  const holder = typeof author === 'object' ? author.name : (author ?? `the authors of ${name}`);
  const text =
    files.length === 0
      ? `Copyright of ${holder}, under the terms of ${licence}: https://spdx.org/licenses/`
      : files.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
  return { name, version, licence, text };
}

/**
 * The licences of the packages that a bundle has modules of, as a file to ship with it.
 * @param {Iterable<string>} modules paths
 */
export function licencesOfModules(modules) {
  /** @type {Map<string, Licence>} */
  const found = new Map();
  for (const module of modules) {
    const [, path, name] =
      /^.*?((?:node_modules\/.*)?node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(module) ?? [];
    if (path === undefined || name === undefined || found.has(path)) continue;
    const { version } = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
    found.set(path, licenceOf(path, name, { version }));
  }
  return licencesText([...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1)));
}

/**
 * The list as a file to ship, beginning with the product's own licence.
 * @param {readonly Licence[]} licences
 */
export function licencesText(licences = collectLicences()) {
  const line = '-'.repeat(100);
  const parts = licences.map(
    ({ name, version, licence, text }) => `${name} ${version} (${licence})\n\n${text}\n`,
  );
  return ['Corollary is licensed under the Apache License 2.0. It contains:\n', ...parts].join(
    `\n${line}\n\n`,
  );
}

const target = process.argv[2];
if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url) && target !== undefined)
  writeFileSync(target, licencesText());
