import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = fileURLToPath(new URL('run.mjs', import.meta.url));

test('ten million facts are loaded, asked for, retracted, kept in a snapshot and read again, each in 2 GB', async () => {
  // It fails if an answer is wrong, or if a process takes more at any time.
  const { stdout } = await promisify(execFile)(process.execPath, [run, 'large']);
  expect(stdout).toContain('10,000,000 facts of two arguments');
});
