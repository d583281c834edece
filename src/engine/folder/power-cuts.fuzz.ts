/**
 * Power cuts at every moment of a run, with every outcome that the disk can have: docs/format.md says what a start
 * makes of it, contract section 9 what it must not lose.
 *
 * A failure prints its seed: SEED=n begins with that one. LONG=1 continues until a hundred thousand starts were
 * examined.
 */
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { Prng } from '../testing/prng.ts';
import { type Exploration, explorePowerCuts, noExploration } from '../testing/power-cuts.ts';
import { workloads } from '../testing/power-cut-workloads.ts';
import { RecordedRun } from '../testing/recorded-run.ts';

const isLong = process.env['LONG'] === '1';
const seed = Number(process.env['SEED'] ?? 1);
const limits = isLong ? { outcomes: 200, again: 0.5 } : { outcomes: 6, again: 0.1 };
/** Minimum number of starts per workload. */
const least = isLong ? Math.ceil(100_000 / workloads.length) : 40;
const timeout = 3_600_000;
const total = noExploration();

afterAll(() => {
  if (isLong) console.log(`power cuts: ${JSON.stringify(total)}`);
});

for (const { name, fsync, key, run: work } of workloads)
  test(`no power cut loses an acknowledged write or leaves half of one (${name}, FSYNC=${fsync}${key === null ? '' : ', encrypted'})`, {
    timeout,
  }, async () => {
    const counts = noExploration();
    for (let round = 0; counts.opened + counts.again < least; round++) {
      const run = await recorded(work, new RecordedRun(seed + round, fsync, key));
      await explorePowerCuts(run, new Prng(seed + round), limits, counts);
    }
    for (const [kind, count] of Object.entries(counts)) total[kind as keyof Exploration] += count;
    if (fsync !== 'never') expect(counts.refused).toBe(0);
  });

async function recorded(work: (typeof workloads)[number]['run'], run: RecordedRun): Promise<RecordedRun> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await run.start();
  await work(run);
  await run.end();
  vi.useRealTimers();
  return run;
}
