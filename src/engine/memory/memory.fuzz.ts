import { test, vi } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from '../testing/prng.ts';
import { openEngine } from '../open-engine.ts';
import { sessionOf, startTime, testCaller } from '../testing/engine-fixtures.ts';
import { MemoryPlay } from '../testing/memory-play.ts';
import { overSeeds } from '../testing/twin.ts';

/** Decay, consolidation and restoring, in random order among random writes, questions and time, against a naive model. */
const timeout = 3_600_000;

async function play(seed: number): Promise<void> {
  const prng = new Prng(seed);
  const clock = new ManualClock(startTime);
  const bugs: unknown[] = [];
  const engine = await openEngine({ storageDir: null, clock, onBug: (error) => void bugs.push(error) });
  const session = sessionOf(engine, clock, testCaller());
  const world = new MemoryPlay(prng, session);
  const slices = new Prng(~seed);
  let now = 0;
  // Any check of the clock may be the last of a slice.
  const time = vi.spyOn(performance, 'now').mockImplementation(() => (now += slices.chance(0.2) ? 6 : 0));
  try {
    await world.begin();
    for (let step = 0; step < 60; step++) await world.step();
    await world.thereAndBack();
    if (bugs.length > 0) throw new Error(`a bug: ${String(bugs[0])}`, { cause: bugs[0] });
  } catch (error) {
    throw new Error(`${(error as Error).message}\nafter:\n${world.done.join('\n')}`, { cause: error });
  } finally {
    time.mockRestore();
    await engine.close();
  }
}

test('decays, consolidates and restores as in the naive model', { timeout }, () =>
  overSeeds({ name: 'memory', few: 5, many: 2000 }, play),
);
