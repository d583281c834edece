import { test, vi } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { overSeeds } from '../testing/twin.ts';
import { Worlds } from '../testing/worlds.ts';

/**
 * All features combined: facts, rules, scopes, transactions, databases, tenants, repeated requests and time, on an
 * engine that is closed, killed and snapshotted, and on one in memory that never is. They answer alike.
 */
const timeout = 3_600_000;

async function play(seed: number, mayKill: boolean): Promise<void> {
  const worlds = new Worlds(new Prng(seed), mayKill);
  const prng = new Prng(~seed);
  let now = 0;
  // Any check of the clock may be the last of a slice.
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += prng.chance(0.2) ? 6 : 0));
  try {
    await worlds.open();
    for (let step = 0; step < 90; step++) await worlds.step();
    await worlds.compare();
  } catch (error) {
    const told = worlds.done
      .slice(-25)
      .map((each) => each.slice(0, 500))
      .join('\n');
    throw new Error(
      `${(error as Error).message}\nafter ${worlds.done.length} steps, the last of them:\n${told}`,
      {
        cause: error,
      },
    );
  } finally {
    time.mockRestore();
    await worlds.close();
  }
}

test('a clean end, a start and snapshots change nothing visible', { timeout }, () =>
  overSeeds({ name: 'worlds', few: 1, many: 1000 }, (seed) => play(seed, false)),
);

test('a kill changes nothing except uses by questions', { timeout }, () =>
  overSeeds({ name: 'killed worlds', few: 1, many: 1000 }, (seed) => play(seed, true)),
);
