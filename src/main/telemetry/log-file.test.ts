import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { logFileWriter } from './log-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'corollary-log-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the log file', () => {
  it('is created with its folder, for its user alone, and continued by the next start', () => {
    const path = join(folder, 'logs', 'corollary.log');
    logFileWriter(path)('one\n');
    logFileWriter(path)('two\n');
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  it('keeps two older files, and no more', () => {
    const path = join(folder, 'corollary.log');
    const write = logFileWriter(path);
    for (const name of ['a', 'b', 'c', 'd']) write(name.repeat(5_000_001));
    write('end\n');
    expect(readdirSync(folder).toSorted()).toEqual(['corollary.log', 'corollary.log.1', 'corollary.log.2']);
    expect(readFileSync(path, 'utf8')).toBe('end\n');
    expect(readFileSync(`${path}.1`, 'utf8').startsWith('d')).toBe(true);
    expect(readFileSync(`${path}.2`, 'utf8').startsWith('c')).toBe(true);
  });

  it('reports once that it cannot be written, and goes on when it can', () => {
    const path = join(folder, 'logs', 'corollary.log');
    writeFileSync(join(folder, 'logs'), 'a file in the place of the folder');
    const told = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const write = logFileWriter(path);
    write('lost\n');
    write('lost\n');
    expect(told).toHaveBeenCalledOnce();
    told.mockRestore();
    rmSync(join(folder, 'logs'));
    expect(existsSync(path)).toBe(false);
    logFileWriter(path)('kept\n');
    expect(readFileSync(path, 'utf8')).toBe('kept\n');
  });
});
