import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type Place, Runs } from './runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'corollary-runs-'));
afterEach(() => rmSync(folder, { recursive: true }));

const place: Place = { workload: 'closure', size: 'full', contestant: 'A', version: '1' };
const outcome = { answers: 7, load: 1, solve: 2, peakBytes: null };

test('finds measurements in the file by version, and repeats a failure for all later ones', () => {
  const file = join(folder, 'runs.jsonl');
  const before = new Runs(file);
  before.add(place, outcome);
  before.add(place, outcome);
  before.add({ ...place, contestant: 'B' }, { reason: 'over 9 s' });
  const after = new Runs(file);
  expect(after.count(place)).toBe(2);
  expect(after.cell(place)).toEqual({ outcomes: [outcome, outcome] });
  expect(after.count({ ...place, version: '2' })).toBe(0);
  expect(after.cell({ ...place, version: '2' })).toEqual({ reason: 'not measured' });
  expect(after.count({ ...place, contestant: 'B' })).toBe(Number.POSITIVE_INFINITY);
  expect(after.cell({ ...place, contestant: 'B' })).toEqual({ reason: 'over 9 s' });
});
