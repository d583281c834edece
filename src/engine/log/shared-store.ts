/** A log that several nodes share: what a node needs to follow it, and to take it. */
import type { LogRecord } from './codec.ts';

/** Where a log that several nodes share is now. */
export interface SharedPosition {
  readonly epoch: number;
  readonly history: string;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly lastChecksum: number;
  /** The node that has the log; null: none. */
  readonly owner: string | null;
  readonly ownerAddress: string | null;
  /** True if the owner's lease has not run out. */
  readonly isOwned: boolean;
}

/** Records of one frame of a shared log, in order, and the frame's end. */
export interface SharedFrame {
  readonly records: readonly LogRecord[];
  readonly end: { readonly sequence: number; readonly checksum: number };
}

/**
 * A log that several nodes share. One of them is the owner, which appends; the others hold copies, and apply what is
 * stored. `lastSequence` of a copy's log is that of the last record that it has applied.
 */
export interface SharedStore {
  /** The id of this node. */
  readonly node: string;
  readonly role: 'owner' | 'copy';
  /** Number of times that this node became the owner. A write that was judged in one term is not appended in another. */
  readonly term: number;
  /** Why this node may not take the log now, in plain language; null: it may. */
  readonly trouble: string | null;
  /** Called in the turn in which the owner becomes a copy: another node has taken the log, or its end was lost. */
  onDemoted: () => void;
  /** Asks the store. Rejects with a StatementFailed. */
  look(): Promise<SharedPosition>;
  /**
   * True if what this node has applied is a part of the log: the same history, and the same records. Asks the store where
   * the position alone cannot tell.
   */
  continues(seen: SharedPosition): Promise<boolean>;
  /** The frames after the last record applied, through this one. Rejects with a StartupError if one is damaged. */
  frames(through: number): AsyncGenerator<SharedFrame, void, undefined>;
  /** Everything through this frame's end is applied. */
  reached(end: SharedFrame['end']): void;
  /**
   * Takes the log if it ends where this copy does. False: another node is its owner and alive, or there are records to
   * apply first.
   */
  own(seen: SharedPosition): Promise<boolean>;
  /** Begins to read everything again, from the newest snapshot. What was applied was lost: the next take begins a history. */
  restart(isLost: boolean): Promise<void>;
  /** Everything through this record was read by `read`, and applied. */
  loaded(sequence: number): void;
}
