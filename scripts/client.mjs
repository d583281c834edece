import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tool } from './check.mjs';
import { clientSource } from './client-source.mjs';
import { withModules } from './module-loader.mjs';
import { root } from './prepare.mjs';

/** `npm run client`: writes the generated part of the client package. A test fails if it is outdated. */

const files = await withModules(clientSource);
for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
const { ok, output } = await tool('node_modules/@biomejs/biome/bin/biome', [
  'format',
  '--write',
  ...Object.keys(files),
]);
if (!ok) throw new Error(output);
