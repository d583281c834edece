import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { clauses } from './clauses.mjs';
import { variants } from './probes.mjs';

it('every clause occurs exactly once in its file', () => {
  const edits = [...clauses, ...Object.values(variants).flat()];
  const lost = edits.filter(({ file, from }) => {
    const text = readFileSync(new URL(`../../src/engine/${file}`, import.meta.url), 'utf8');
    return text.split(from).length !== 2;
  });
  expect(lost).toEqual([]);
  expect(clauses.length).toBeGreaterThan(80);
});
