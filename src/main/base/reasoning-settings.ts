import type { RetainedFolder } from '../../engine/index.ts';

/** What a reasoning thread is given when it starts. */
export interface ReasoningSettings {
  /** Bytes for all that is derived, and for one question. */
  readonly memoryBytes: number;
  readonly questionBytes: number;
  /** The log that it reads the past from; null: it is not in a folder. */
  readonly log: RetainedFolder | null;
}
