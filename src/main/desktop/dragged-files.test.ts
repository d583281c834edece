import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { removeDragged, writeDragged } from './dragged-files.ts';

it('a dragged file has its name, only its owner reads it, and it goes with the program', () => {
  const files = [1, 2].map((at) => writeDragged({ name: 'proof.txt', text: `${at}` }));
  expect(files.map((file) => basename(file))).toEqual(['proof.txt', 'proof.txt']);
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(['1', '2']);
  if (process.platform !== 'win32') for (const file of files) expect(statSync(file).mode & 0o077).toBe(0);
  removeDragged();
  for (const file of files) expect(existsSync(file)).toBe(false);
});
