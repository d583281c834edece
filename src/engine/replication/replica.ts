import { assert } from '../base/assert.ts';
import { EngineError } from '../base/errors.ts';
import type { LiveState } from '../session/live-state.ts';
import { operationVersion } from '../state/operation.ts';
import type { Replica } from './follower.ts';
import { ReplicationError } from './wire.ts';
import type { Snapshots } from '../commit/snapshots.ts';
import type { State } from '../state/state.ts';
import { readState } from '../state/state-snapshot.ts';
import type { LogRecord } from '../log/codec.ts';
import type { Log, LogPosition, ReceivedSnapshot } from '../log/log.ts';
import type { SnapshotPart } from '../log/snapshot-writer.ts';
import { StartupError } from '../log/startup-error.ts';
import type { CommitPipeline } from '../commit/commit-pipeline.ts';

/** What a replica is made of. */
export interface ReplicaParts {
  readonly state: State;
  readonly log: Log;
  readonly pipeline: CommitPipeline;
  readonly live: LiveState;
  readonly snapshots: Snapshots;
  readonly pause: () => Promise<void>;
}

/**
 * A follower's replica: the engine's own log and state, fed by a leader instead of callers.
 *
 * Records are appended to the log and applied like every write, and nothing else writes. A snapshot is stored and read
 * completely before it counts; then it replaces the log durably, and the state in one turn.
 */
export class EngineReplica implements Replica {
  readonly #parts: ReplicaParts;

  constructor(parts: ReplicaParts) {
    this.#parts = parts;
  }

  get position(): number {
    return this.#parts.log.lastSequence;
  }

  get historyId(): string {
    return this.#parts.log.historyId;
  }

  get epoch(): number {
    return this.#parts.log.epoch;
  }

  get parentId(): string | null {
    return this.#parts.log.parent?.historyId ?? null;
  }

  lastChecksum(): Promise<number | null> {
    const { log } = this.#parts;
    return log.checksumAt(log.lastSequence);
  }

  async append(records: readonly LogRecord[]): Promise<void> {
    const newer = records.find(({ version }) => version > operationVersion);
    if (newer !== undefined)
      throw new ReplicationError(
        'refused',
        `the leader writes operations of version ${newer.version}, and this program knows version ${operationVersion}: ` +
          'run the same version of Corollary on both',
      );
    await this.#parts.pipeline.follow(records);
  }

  async install(of: LogPosition, state: AsyncIterable<Uint8Array>): Promise<void> {
    const { log, pause, snapshots } = this.#parts;
    const received = await log.receive(of, partsOf(state));
    try {
      const restored = await readable(readState(received, pause));
      assert(restored.state.sequence === of.sequence, 'a snapshot holds the state of its last record');
      await snapshots.without(() => this.#become(received, restored.state));
    } finally {
      await received.discard();
    }
  }

  async #become(received: ReceivedSnapshot, next: State): Promise<void> {
    const { state, pipeline, live } = this.#parts;
    await received.install();
    await pipeline.between(() => {
      const before = [...state.databases.values()];
      state.become(next);
      live.replaced(before);
    });
  }
}

async function* partsOf(state: AsyncIterable<Uint8Array>): AsyncGenerator<SnapshotPart, void, undefined> {
  for await (const bytes of state) yield { section: 'state', bytes };
}

/**
 * Turns a StartupError about the snapshot into a refusal: the snapshot cannot be read, but the folder can be opened.
 */
async function readable<Result>(reading: Promise<Result>): Promise<Result> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof EngineError || !(error instanceof StartupError)) throw error;
    throw new ReplicationError(
      'refused',
      'the leader runs a newer version: run the same version of Corollary on both',
      {
        cause: error,
      },
    );
  }
}
