/** A log that several nodes share: what a node needs to follow it, and to take it. */
import type { EngineError } from '../base/errors.ts';
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
  /** Milliseconds until the owner's lease runs out, unless it is renewed; 0: it has, or there is no owner. */
  readonly leaseMs: number;
}

/** What a node says of itself with each beat. */
export interface NodeReport {
  /** The state lacks nothing that was stored so many milliseconds ago. */
  readonly staleMs: number;
  /** Memory of the process, and the mark at which no more knowledge is stored; null: not measured, or no limit. */
  readonly usedBytes: number | null;
  readonly memoryBytes: number | null;
  /** Why it cannot follow or take the log, in plain language; null: it can. */
  readonly problem: string | null;
}

/** A node of the store, as it told with its last beat. */
export interface SharedNode extends NodeReport {
  readonly id: string;
  /** Where other nodes reach it. */
  readonly address: string;
  /** True if its lease has not run out. */
  readonly isAlive: boolean;
  /** Sequence of the last record that it has applied. */
  readonly position: number;
  /** How often it has taken the log since its start. */
  readonly takes: number;
}

/** What happened to a node's part of the log since its start. */
export interface SharedTotals {
  /** Times that another node had taken the log, or its end was lost. */
  readonly fenced: number;
  /** Appends whose outcome was unknown at first. */
  readonly inDoubt: number;
  /** Times that PostgreSQL had lost what this node had applied. */
  readonly endsLost: number;
}

/** One frame of a shared log, and its end. */
export interface SharedFrame {
  /** In order, each decoded when it is its turn; to be read once. */
  readonly records: Iterable<LogRecord>;
  readonly end: { readonly sequence: number; readonly checksum: number };
}

/**
 * A log that several nodes share. One of them is the owner, which appends; the others hold copies, and apply what is
 * stored. `lastSequence` of a copy's log is that of the last record that it has applied.
 */
export interface SharedStore {
  /** The id of this node. */
  readonly node: string;
  /** The id of the log in its store. */
  readonly log: number;
  readonly role: 'owner' | 'copy';
  /** Number of times that this node became the owner. A write that was judged in one term is not appended in another. */
  readonly term: number;
  /** Why this node may not take the log now, in plain language; null: it may. */
  readonly trouble: string | null;
  /** The owner appends no operation of a later version: nodes of an earlier program could not apply it. */
  readonly writesVersion: number;
  /** By how much this machine's clock is ahead of the store's, in milliseconds, as of the last beat. */
  readonly clockSkewMs: number;
  /** Called in the turn in which the owner becomes a copy, with the refusal of writes that were not appended. */
  onDemoted: (refusal: EngineError) => void;
  /** Asked for with each beat, of all logs, and shown to all nodes. */
  report: () => Pick<NodeReport, 'staleMs' | 'problem'>;
  /** The same of the process, asked of one log. */
  memory: () => Pick<NodeReport, 'usedBytes' | 'memoryBytes'>;
  readonly totals: SharedTotals;
  /** The nodes of the store, also those that ended without a word within the last hour. Rejects with a StatementFailed. */
  nodes(): Promise<readonly SharedNode[]>;
  /** When the present epoch began, in epoch milliseconds by PostgreSQL's clock; null: not known. */
  ownedSince(): Promise<number | null>;
  /**
   * The owner gives the log to another node, and is a copy from then on; false: that node is not alive, and nothing changed.
   * No append may be under way. Rejects with a StatementFailed, or NoOwner if the log was lost.
   */
  give(to: string): Promise<boolean>;
  /**
   * The log of this node, or one that it gave to `of`, which has not taken it, becomes nobody's: whichever node sees it first
   * takes it. This node is a copy from then on. No append may be under way. Rejects with a StatementFailed.
   */
  release(of: string): Promise<void>;
  /** Takes back what was given to a node that has not taken it yet; false: it has. Rejects with a StatementFailed. */
  takeBack(from: string): Promise<boolean>;
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
