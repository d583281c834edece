/** The replicating parts of an engine on given files: log, state and snapshots, to lead or to follow, without APIs. */
import { TICK_MS, TimerWheel } from '../base/timer-wheel.ts';
import { DerivedMemory } from '../session/derived-memory.ts';
import type { ManualClock } from '../base/clock.ts';
import { unshared } from '../base/scheduler.ts';
import type { Prng } from './prng.ts';
import { LiveState } from '../session/live-state.ts';
import { openStored } from '../open-part.ts';
import { EngineReplica } from '../replication/follower.ts';
import { Leader } from '../replication/leader.ts';
import { Snapshots } from '../commit/snapshots.ts';
import type { State } from '../state/state.ts';
import type { StorageBackend } from '../log/backend.ts';
import type { FsyncMode, Log } from '../log/log.ts';
import { CommitPipeline } from '../commit/commit-pipeline.ts';

export interface Replicating {
  readonly log: Log;
  readonly state: State;
  readonly pipeline: CommitPipeline;
  readonly snapshots: Snapshots;
  readonly leader: Leader;
  readonly replica: EngineReplica;
  close(): Promise<void>;
}

export interface ReplicatingOptions {
  readonly leads: boolean;
  readonly clock: ManualClock;
  readonly prng: Prng;
  readonly fsync?: FsyncMode;
  /** Called after every applied record. */
  readonly onApplied?: () => void;
}

const pause = async (): Promise<void> => {};
const scheduler = unshared(pause);

export async function openReplicating(
  backend: StorageBackend,
  { leads, clock, prng, fsync = 'always', onApplied = () => {} }: ReplicatingOptions,
): Promise<Replicating> {
  const { log, state, tallies } = await openStored(backend, {
    fsync,
    segmentBytes: 3000,
    leaderUrl: leads ? null : 'leader',
    clock,
    pause,
    random: (bytes) => Uint8Array.from({ length: bytes }, () => prng.below(256)),
  });
  const onBug = (error: unknown): never => {
    throw error;
  };
  const live = new LiveState({
    state,
    clock,
    derived: new DerivedMemory(1e8, 1e8),
    scheduler,
    tallies,
    onBug,
  });
  const pipeline = new CommitPipeline(state, log, clock, scheduler, {
    applying: (record) => live.applying(record),
    applied: (record, report) => {
      live.applied(record, report);
      onApplied();
    },
  });
  const snapshots: Snapshots = new Snapshots({
    state,
    log,
    pipeline,
    talliesOf: live.talliesOf.bind(live),
    pause,
    neededAfter: () => leader.neededAfter(),
    intervalMs: 1e9,
    wheel: new TimerWheel(TICK_MS),
    onWarn: () => {},
  });
  const leader = new Leader({ log, now: () => clock.now(), takeSnapshot: () => snapshots.take() });
  const replica = new EngineReplica({ state, log, pipeline, live, snapshots, pause });
  const close = async (): Promise<void> => {
    await live.close();
    await snapshots.close(0);
    await log.close();
  };
  return { log, state, pipeline, snapshots, leader, replica, close };
}
