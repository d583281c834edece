import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { clientSource } from './client-source.mjs';
import { root } from './prepare.mjs';

it('the client package is generated from the current contract; else run `npm run client`', async () => {
  const files = await clientSource((path) => import(join(root, path)));
  for (const [path, text] of Object.entries(files)) {
    const formatted = execFileSync(
      process.execPath,
      [join(root, 'node_modules/@biomejs/biome/bin/biome'), 'format', `--stdin-file-path=${path}`],
      { cwd: root, input: text, encoding: 'utf8' },
    );
    expect(readFileSync(join(root, path), 'utf8')).toBe(formatted);
  }
});

it('the client and the product have the same version', () => {
  /** @param {string} path */
  const versionOf = (path) => JSON.parse(readFileSync(join(root, path), 'utf8')).version;
  expect(versionOf('client/package.json')).toBe(versionOf('package.json'));
});
