/**
 * A leader and two followers from a seed: over a connection that loses, truncates, alters, repeats and reorders data,
 * with differing clocks, on disks that lose power at any step, with snapshots that cover the log, and with followers
 * that become leaders. At every sequence each has what the leader had there.
 */
import { test } from 'vitest';
import { Cluster } from '../testing/cluster.ts';
import { overSeeds } from '../testing/twin.ts';

const timeout = 3_600_000;

async function play(seed: number): Promise<void> {
  const cluster = new Cluster(seed);
  await cluster.open();
  try {
    for (let step = 0; step < 60; step++) await cluster.step();
    await cluster.settle();
  } finally {
    await cluster.close();
  }
}

test('whatever happens, a follower equals its leader at every sequence', { timeout }, () =>
  overSeeds({ name: 'clusters', few: 3, many: 2000 }, play),
);
