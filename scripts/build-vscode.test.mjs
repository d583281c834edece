import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { crc32, inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { filesOfExtension } from './build-vscode.mjs';
import { zipped } from './zip.mjs';

const folder = mkdtempSync(join(tmpdir(), 'corollary-vscode-'));
/** @type {Map<string, Buffer>} */
let files;

beforeAll(async () => {
  files = unzipped(zipped(await filesOfExtension()));
  for (const [name, bytes] of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package/rules.kb'), 'p(?x) :- q(?x), not r(?y).\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

/**
 * The files of an archive, by its directory.
 * @param {Buffer} archive
 */
function unzipped(archive) {
  const found = new Map();
  const end = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let entry = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = archive.readUInt16LE(entry + 28);
    const name = archive.toString('ascii', entry + 46, entry + 46 + nameLength);
    const local = archive.readUInt32LE(entry + 42);
    const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    const bytes = inflateRawSync(archive.subarray(start, start + archive.readUInt32LE(entry + 20)));
    expect(crc32(bytes), name).toBe(archive.readUInt32LE(entry + 16));
    expect(archive.toString('ascii', local + 30, local + 30 + nameLength)).toBe(name);
    found.set(name, bytes);
    entry += 46 + nameLength + archive.readUInt16LE(entry + 30) + archive.readUInt16LE(entry + 32);
  }
  return found;
}

/** @param {string} name */
function text(name) {
  return files.get(name)?.toString() ?? '';
}

it('states the type of each of its files, and has the files that its manifests name', () => {
  const types = [...text('[Content_Types].xml').matchAll(/Extension="([^"]+)"/g)].map(([, end]) => end);
  for (const name of files.keys())
    if (name !== '[Content_Types].xml') expect(types).toContain(/\.[a-z]+$/.exec(name)?.[0]);
  const manifest = text('extension.vsixmanifest');
  for (const [, path = ''] of manifest.matchAll(/(?:Path="|<License>|<Icon>)([^"<]+)/g))
    expect([...files.keys()]).toContain(path);
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const described = JSON.parse(text('extension/package.json'));
  expect(described.version).toBe(version);
  expect(manifest).toContain(`Id="corollary" Version="${version}" Publisher="corollary"`);
  const { main, icon, contributes } = described;
  for (const path of [main, icon, contributes.languages[0].configuration, contributes.grammars[0].path])
    expect([...files.keys()]).toContain(`extension/${path.replace('./', '')}`);
});

it('has a grammar whose patterns are regular expressions, and whose includes are there', () => {
  const grammar = JSON.parse(text('extension/syntaxes/corollary.tmLanguage.json'));
  /** @param {unknown} value */
  const check = (value) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, each] of Object.entries(value)) {
      if (key === 'match' || key === 'begin' || key === 'end')
        expect(() => new RegExp(each, 'u')).not.toThrow();
      else if (key === 'include') expect(Object.keys(grammar.repository)).toContain(each.slice(1));
      else check(each);
    }
  };
  check(grammar);
  const { wordPattern } = JSON.parse(text('extension/language-configuration.json'));
  expect('p(?x, a.b) :- q'.match(new RegExp(wordPattern, 'g'))).toEqual(['p', '?x', 'a.b', 'q']);
});

/**
 * The extension in a stand-in for VS Code, until it has noted `last`.
 * @param {string} last
 * @param {string} [program]
 */
async function run(last, program = '') {
  const standIn = fileURLToPath(new URL('./vscode/stand-in.cjs', import.meta.url));
  const argumentList = [standIn, join(folder, 'extension'), join(folder, 'package'), program];
  const child = spawn(process.execPath, argumentList, { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  /** @type {{kind: string, what?: unknown}[]} */
  const notes = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const note = JSON.parse(line);
    notes.push(note);
    if (note.kind === last) child.stdin.end('end\n');
  }
  const [code] = await exited;
  return { notes, code, of: (/** @type {string} */ kind) => notes.filter((note) => note.kind === kind) };
}

it('starts its own language server, offers what it can do, shows diagnostics, and ends it', async () => {
  const { notes, code, of } = await run('diagnostics');
  expect(of('error')).toEqual([]);
  expect(of('registerCommand')).toEqual([{ kind: 'registerCommand', what: 'corollary.restart' }]);
  expect(of('watch').map(({ what }) => what)).toEqual(['**/*.kb', '**/corollary.toml']);
  expect(notes.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining([
      'registerCompletionItemProvider',
      'registerHoverProvider',
      'registerDefinitionProvider',
      'registerReferenceProvider',
      'registerRenameProvider',
      'registerDocumentFormattingEditProvider',
      'registerCodeActionsProvider',
      'registerDocumentSymbolProvider',
    ]),
  );
  // q and r are unknown, and ?y is unsafe.
  expect(of('diagnostics')).toEqual([{ kind: 'diagnostics', what: ['rules.kb', 3] }]);
  expect(notes.at(-1)?.kind).toBe('deactivated');
  expect(code).toBe(0);
});

it('starts the program of the setting instead, and says so if that fails', async () => {
  const program = join(folder, 'program');
  const server = join(folder, 'extension/server.mjs');
  writeFileSync(program, `#!/bin/sh\n[ "$1" = lsp ] && exec '${process.execPath}' '${server}'\n`);
  chmodSync(program, 0o755);
  expect((await run('diagnostics', program)).of('error')).toEqual([]);
  const missing = join(folder, 'missing');
  const { of } = await run('error', missing);
  expect(String(of('error')[0]?.what)).toContain(missing);
});
