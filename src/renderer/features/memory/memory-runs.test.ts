import { describe, expect, it } from 'vitest';
import { type MemoryRun, maxAtoms, maxRuns, type NewRun, withRun } from './memory-runs.ts';

const run = (atoms: readonly string[] = []): NewRun => ({
  kind: 'decay',
  at: 0,
  database: 'default',
  tenant: 'default',
  where: 'All scopes',
  outcome: '',
  before: { facts: 3, histogram: [] },
  after: null,
  list: 'Evicted',
  atoms,
});

describe('the runs of a window', () => {
  it('are listed with the latest first, and counted', () => {
    const runs = withRun(withRun([], run()), run());
    expect(runs.map(({ number }) => number)).toEqual([2, 1]);
  });

  it('are dropped if there are too many, and numbering continues', () => {
    let runs: MemoryRun[] = [];
    for (let times = 0; times < maxRuns + 5; times++) runs = withRun(runs, run());
    expect(runs).toHaveLength(maxRuns);
    expect(runs[0]?.number).toBe(maxRuns + 5);
  });

  it('keep the first atoms and their total number', () => {
    const atoms = Array.from({ length: maxAtoms + 7 }, (_, index) => `p(${index})`);
    const [noted] = withRun([], run(atoms));
    expect(noted?.atoms).toEqual(atoms.slice(0, maxAtoms));
    expect(noted?.atomCount).toBe(maxAtoms + 7);
  });
});
