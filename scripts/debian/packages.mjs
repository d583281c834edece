import { spawn } from 'node:child_process';
import { createReadStream, existsSync, readdirSync } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { Refusal } from '../prepare.mjs';

/**
 * Debian's package lists as facts: package(name), depends(name, needed) and provides(name, virtual).
 *
 * A list is a sequence of stanzas of `Field: value` lines, separated by blank lines. Every package is returned once
 * (the newest version if apt itself reads the lists, the first one found in files), every fact once, in the order of
 * the list. Depends and Pre-Depends are treated alike, and each alternative of `a | b` is a dependency. Versions,
 * architectures and build profiles are left out.
 */

/**
 * @typedef {{name: string, needs: string[], provides: string[]}} Package names in the order of the list, each once
 * @typedef {{predicate: string, args: string[]}} Fact
 */

const listsFolder = '/var/lib/apt/lists';

/**
 * All packages of the machine's own lists, as apt reads them, or of the given list files (plain, or compressed as .gz,
 * .xz, .lz4 or .zst).
 * @param {string[]} files
 * @returns {Promise<Package[]>}
 */
export async function readPackages(files) {
  /** @type {Map<string, Package>} */
  const found = new Map();
  /** @type {AsyncIterable<string>[]} */
  const sources = files.length > 0 ? files.map(readFile) : [aptLists()];
  for (const source of sources)
    for await (const each of parsePackages(source)) if (!found.has(each.name)) found.set(each.name, each);
  if (found.size === 0) throw new Refusal('The package lists contain no package.');
  return [...found.values()];
}

/** The packages known to apt: its lists merged, one stanza a package. */
function aptLists() {
  if (!existsSync(listsFolder))
    throw new Refusal(
      'This machine has no Debian package lists. Run this on Debian or a relative, or give --packages FILE: ' +
        'a Packages file as mirrors have it, such as dists/stable/main/binary-amd64/Packages.xz.',
    );
  if (!readdirSync(listsFolder).some((name) => name.includes('_Packages')))
    throw new Refusal('The package lists have not been fetched yet: run `apt-get update` as root first.');
  return output('apt-cache', ['dumpavail']);
}

/**
 * @param {string} path
 * @returns {AsyncIterable<string>}
 */
function readFile(path) {
  if (!existsSync(path)) throw new Refusal(`There is no file ${path}.`);
  if (path.endsWith('.xz')) return output('xz', ['-dc', path]);
  if (path.endsWith('.lz4')) return output('lz4', ['-dc', path]);
  if (path.endsWith('.zst')) return output('zstd', ['-dc', path]);
  const bytes = createReadStream(path);
  return path.endsWith('.gz') ? bytes.pipe(createGunzip()).setEncoding('utf8') : bytes.setEncoding('utf8');
}

/**
 * The output of a program, piece by piece; throws if it cannot be started or fails.
 * @param {string} program
 * @param {string[]} argumentList
 * @returns {AsyncGenerator<string>}
 */
async function* output(program, argumentList) {
  const child = spawn(program, argumentList, { stdio: ['ignore', 'pipe', 'inherit'] });
  /** @type {Promise<string | null>} */
  const end = new Promise((settle) => {
    child.on('error', (error) => settle(error.message));
    child.on('close', (code) => settle(code === 0 ? null : `it ended with code ${code}`));
  });
  child.stdout.setEncoding('utf8');
  yield* /** @type {AsyncIterable<string>} */ (child.stdout);
  const problem = await end;
  if (problem !== null) throw new Refusal(`${program} failed: ${problem}`);
}

/**
 * The packages of a list, from its text in pieces of any size.
 * @param {AsyncIterable<string> | Iterable<string>} pieces
 * @returns {AsyncGenerator<Package>}
 */
export async function* parsePackages(pieces) {
  let rest = '';
  /** @type {Map<string, string>} */
  let fields = new Map();
  let current = '';
  for await (const piece of pieces) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') {
        if (fields.has('Package')) yield packageOf(fields);
        fields = new Map();
        current = '';
      } else current = readLine(line, fields, current);
    }
  }
  if (rest !== '') readLine(rest, fields, current);
  if (fields.has('Package')) yield packageOf(fields);
}

const wanted = new Set(['Package', 'Depends', 'Pre-Depends', 'Provides']);

/**
 * Adds a line to the fields if it belongs to a wanted one. Returns that field's name, or '' for any other: lines that
 * start with white space continue the field before them.
 * @param {string} line
 * @param {Map<string, string>} fields
 * @param {string} current
 */
function readLine(line, fields, current) {
  if (line.startsWith(' ') || line.startsWith('\t')) {
    if (current !== '') fields.set(current, `${fields.get(current) ?? ''} ${line.trim()}`);
    return current;
  }
  const colon = line.indexOf(':');
  const name = line.slice(0, colon);
  if (colon < 0 || !wanted.has(name)) return '';
  fields.set(name, line.slice(colon + 1).trim());
  return name;
}

/**
 * @param {Map<string, string>} fields
 * @returns {Package}
 */
function packageOf(fields) {
  return {
    name: fields.get('Package') ?? '',
    needs: names(`${fields.get('Pre-Depends') ?? ''},${fields.get('Depends') ?? ''}`),
    provides: names(fields.get('Provides') ?? ''),
  };
}

/**
 * The package names of a relation field such as `libc6 (>= 2.34), perl:any | perl-base [amd64] <!nocheck>`.
 * @param {string} field
 */
function names(field) {
  const all = field.split(/[,|]/).map((each) => /^\s*([^\s:([<]+)/.exec(each)?.[1] ?? '');
  return [...new Set(all.filter((name) => name !== ''))];
}

/**
 * The facts of a package.
 * @param {Package} each
 * @returns {Fact[]}
 */
export function factsOf({ name, needs, provides }) {
  return [
    { predicate: 'package', args: [name] },
    ...needs.map((needed) => ({ predicate: 'depends', args: [name, needed] })),
    ...provides.map((virtual) => ({ predicate: 'provides', args: [name, virtual] })),
  ];
}
