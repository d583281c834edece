import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'vitest';
import { ScopeTwin } from '../testing/scope-twin.ts';
import { overSeeds } from '../testing/twin.ts';

/**
 * Forks, diffs, merges and deletions of scopes beside plain writes and questions, the engine beside a model built from
 * the contract alone; and everything again after a start from the log.
 */
async function runCase(seed: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'scopes-'));
  const one = new ScopeTwin(seed, folder);
  await one.open();
  try {
    const { prng } = one;
    const steps: readonly (readonly [number, () => Promise<void>])[] = [
      [30, () => one.tell()],
      [8, () => one.forget()],
      [8, () => one.changeRules()],
      [18, () => one.fork()],
      [12, () => one.diff()],
      [40, () => one.merge()],
      [6, () => one.drop()],
      [6, () => one.passTime()],
      [2, () => one.reopen()],
    ];
    const total = steps.reduce((sum, [weight]) => sum + weight, 0);
    for (let index = 0; index < 40; index++) {
      let choice = prng.below(total);
      const step = steps.find(([weight]) => (choice -= weight) < 0);
      await step?.[1]();
      await one.compare();
      if (prng.chance(0.4)) await one.ask();
    }
    await one.reopen();
    await one.ask();
  } finally {
    await one.on.close();
    await rm(folder, { recursive: true });
  }
}

test('forks, diffs, merges, deletes and answers like the model', { timeout: 3_600_000 }, () =>
  overSeeds({ name: 'scopes', few: 20, many: 2000 }, runCase),
);
