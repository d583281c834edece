/** What an engine tells of itself to metrics. */
import type { MemoryReading } from '../commit/high-water-mark.ts';
import type { SharedTotals } from '../log/shared-store.ts';
import type { ThreadCounters, ThreadFigures } from '../reasoning/reasoning-threads.ts';
import type { LiveCounters, LiveFigures } from '../session/live-figures.ts';

/** The engine's counters for metrics. All are totals since the start, except `facts`. */
export interface EngineCounters extends LiveCounters {
  records: number;
  commits: number;
  /** Bytes of written frames. */
  logBytes: number;
  /** Number of snapshots written. */
  snapshots: number;
  /** Number of backups sent completely. */
  backups: number;
  /** Writes refused by a quota, writes refused for want of memory, and questions and transactions refused by a quota. */
  writesOverQuota: number;
  writesOutOfMemory: number;
  questionsOverQuota: number;
  /** Of the reasoning threads. */
  reasoning: ThreadCounters;
  /** Of a log that several nodes share. */
  shared: SharedTotals & { readonly takes: number };
}

/** The engine's current figures, for gauges. */
export interface EngineFigures extends LiveFigures {
  readonly openTransactions: number;
  /** For how long the oldest open transaction has been open; 0: none is. */
  readonly oldestTransactionMs: number;
  /** Sessions with a remembered context window. */
  readonly windowSessions: number;
  /** Texts of facts that are embedded, and the memory of their vectors. */
  readonly embeddings: { readonly vectors: number; readonly bytes: number };
  /** Bytes of all log segments on disk. */
  readonly logBytes: number;
  readonly logSegments: number;
  /** Bytes of records that are not yet durable. */
  readonly logWaitingBytes: number;
  /** The last snapshot; null: none. `at` is in epoch milliseconds. */
  readonly snapshot: { readonly bytes: number; readonly at: number } | null;
  /** Duration of the last snapshot of this process; null: none was written. */
  readonly snapshotTookMs: number | null;
  /** Sequence of the last record. */
  readonly position: number;
  readonly isEncrypted: boolean;
  /** The memory of the process and its marks; null: it is not measured. */
  readonly memory: MemoryReading | null;
  /** When the last complete backup was taken, epoch milliseconds; null: none since the start. */
  readonly backupAt: number | null;
  readonly reasoning: ThreadFigures;
}
