import type { StorageState } from '../contract/administration.ts';
import type { Snapshots } from './snapshots.ts';
import type { Log } from '../log/log.ts';

/**
 * Backups: the file of a snapshot that is written for the purpose.
 *
 * Who reads one slowly holds a file open and nothing of the state; how long that may last is for the surface to say.
 */
export class Backups {
  readonly #snapshots: Pick<Snapshots, 'take'>;
  readonly #log: Pick<Log, 'copySnapshot'>;
  readonly #now: () => number;
  /** The last one that was sent whole. */
  last: StorageState['backup'] = null;
  /** Those that were sent whole. */
  count = 0;

  constructor(snapshots: Pick<Snapshots, 'take'>, log: Pick<Log, 'copySnapshot'>, now: () => number) {
    this.#snapshots = snapshots;
    this.#log = log;
    this.#now = now;
  }

  /** Rejects with StorageUnavailable, or NotReady at the end. */
  async take(): Promise<Backup> {
    await this.#snapshots.take();
    const copy = await this.#log.copySnapshot();
    const { sequence: position, bytes } = copy;
    const takenAt = this.#now();
    return {
      position,
      bytes,
      pieces: () => copy.pieces(),
      close: async (isWhole) => {
        await copy.close();
        if (!isWhole) return;
        this.count++;
        this.last = { position, bytes, takenAt };
      },
    };
  }
}

/** Everything there was when it was taken, in the format of a snapshot. To be closed, however far it was read. */
export interface Backup {
  /** Sequence of the last record that it covers. */
  readonly position: number;
  readonly bytes: number;
  /** All of it, once, in pieces of less than 1 MiB. */
  pieces(): AsyncGenerator<Uint8Array, void, undefined>;
  /** `isWhole`: it was sent to its end. */
  close(isWhole: boolean): Promise<void>;
}
