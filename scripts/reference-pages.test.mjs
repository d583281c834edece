import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from './prepare.mjs';
import { referencePages } from './reference-pages.mjs';

it('the reference is generated from the current contract; else run `npm run docs -- --reference`', async () => {
  const pages = await referencePages((path) => import(join(root, path)));
  for (const [path, text] of Object.entries(pages))
    expect(readFileSync(join(root, path), 'utf8'), path).toBe(text);
  expect(readdirSync(join(root, 'docs/reference')).map((name) => `docs/reference/${name}`)).toEqual(
    Object.keys(pages).sort(),
  );
});
