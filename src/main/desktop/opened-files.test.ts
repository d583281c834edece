import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fileOfArguments, maxOpenedBytes, readOpened } from './opened-files.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-opened-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the file named at the start', () => {
  it('is the last one that Import can read, relative to the working directory', () => {
    expect(fileOfArguments(['corollary', 'a.csv', 'b.DL'], '/work')).toBe(resolve('/work', 'b.DL'));
    expect(fileOfArguments(['corollary', resolve('/data/x.ttl')], '/work')).toBe(resolve('/data/x.ttl'));
  });

  it('is never an option, a link, the program itself or another kind of file', () => {
    for (const argv of [
      ['corollary.dl'],
      ['corollary', '--open=/facts', '--file=x.csv'],
      ['corollary', 'corollary://facts/x.csv'],
      ['corollary', 'script.sh', 'page.html', 'notes.txt', '.'],
    ])
      expect(fileOfArguments(argv, '/work')).toBeNull();
  });
});

describe('an opened file', () => {
  it('is read byte for byte', async () => {
    const path = join(folder, 'facts.dl');
    writeFileSync(path, Buffer.from([0xff, 0x00, 0x41]));
    expect(await readOpened(path)).toEqual({ name: 'facts.dl', bytes: new Uint8Array([0xff, 0x00, 0x41]) });
  });

  it('is refused with an explanation if it is of another kind, a folder, a pipe, too large or missing', async () => {
    writeFileSync(join(folder, 'a.sh'), 'echo');
    await expect(readOpened(join(folder, 'a.sh'))).rejects.toThrow('not a file of facts and rules');
    mkdirSync(join(folder, 'folder.dl'));
    await expect(readOpened(join(folder, 'folder.dl'))).rejects.toThrow('not a plain file');
    if (process.platform !== 'win32') {
      execFileSync('mkfifo', [join(folder, 'pipe.csv')]);
      await expect(readOpened(join(folder, 'pipe.csv'))).rejects.toThrow('not a plain file');
    }
    const large = join(folder, 'large.csv');
    writeFileSync(large, '');
    truncateSync(large, maxOpenedBytes + 1);
    await expect(readOpened(large)).rejects.toThrow('64 MiB');
    await expect(readOpened(join(folder, 'absent.dl'))).rejects.toThrow('ENOENT');
  });
});
