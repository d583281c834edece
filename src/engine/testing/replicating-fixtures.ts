/** Leaders and followers on disks in memory, for tests: each with a clock that is advanced by hand. */
import { onTestFinished } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import { Prng } from './prng.ts';
import { Follower, type LeaderConnection } from '../replication/follower.ts';
import { type MemoryBackend, memoryBackend } from '../log/backend.ts';
import { RandomRecords } from './random-records.ts';
import { openReplicating, type Replicating } from './replicating.ts';

const prng = new Prng(7);
export const asker = { id: 'a follower', address: null };

export interface Leading extends Replicating {
  readonly disk: MemoryBackend;
  readonly clock: ManualClock;
  write(count: number): Promise<void>;
}

export interface Followed extends Replicating {
  readonly disk: MemoryBackend;
  readonly clock: ManualClock;
  readonly follower: Follower;
  readonly warnings: string[];
  readonly infos: string[];
  readonly bugs: unknown[];
}

export async function openLeading(disk = memoryBackend(), seed = 1): Promise<Leading> {
  const clock = new ManualClock(1_700_000_000_000);
  const parts = await openReplicating(disk, { leads: true, clock, prng });
  onTestFinished(() => parts.close());
  const records = new RandomRecords(new Prng(seed), parts.state, Math.max(parts.state.time, clock.now()));
  const write = async (count: number): Promise<void> => {
    for (let left = count; left > 0; left--) await parts.pipeline.follow([records.next()]);
  };
  return { ...parts, disk, clock, write };
}

export async function openFollowing(leader: LeaderConnection, disk = memoryBackend()): Promise<Followed> {
  const clock = new ManualClock(1_700_000_500_000);
  const parts = await openReplicating(disk, { leads: false, clock, prng });
  onTestFinished(() => parts.close());
  const heard = { warnings: [] as string[], infos: [] as string[], bugs: [] as unknown[] };
  const follower = new Follower({
    replica: parts.replica,
    leader,
    now: () => clock.now(),
    pollIntervalMs: 5000,
    onWarn: (message) => void heard.warnings.push(message),
    onInfo: (message) => void heard.infos.push(message),
    onBug: (error) => void heard.bugs.push(error),
  });
  return { ...parts, ...heard, disk, clock, follower };
}

/** The connection to the current leader. */
export function wayTo(leading: () => Replicating): LeaderConnection {
  return {
    records: (after) => leading().leader.records(after, asker),
    snapshot: () => leading().leader.snapshot(asker),
  };
}

/** The contents of the disk, to be restored later. */
export async function copyOf(disk: MemoryBackend): Promise<MemoryBackend> {
  return memoryBackend(new Map((await disk.list()).map((name) => [name, disk.contents(name).slice()])));
}
