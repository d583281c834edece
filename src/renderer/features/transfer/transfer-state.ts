/** What is known of this window's imports. `transfer-store.ts` runs them, once there are any. */
import { create } from 'zustand';
import type { ImportPlan, ImportState, Undoing } from './import-run.ts';

/** An import. */
export interface ImportEntry {
  readonly number: number;
  readonly plan: ImportPlan;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly state: ImportState;
  readonly undoing: Undoing;
}

interface TransferState {
  /** Newest first, without checks. */
  readonly imports: readonly ImportEntry[];
  /** The check of the current form. */
  readonly check: ImportEntry | null;
  readonly dropped: File | null;
  /** The import whose notice was closed. */
  readonly dismissed: number | null;
}

/** Store of the imports. */
export const useTransfers = create<TransferState>()(() => ({
  imports: [],
  check: null,
  dropped: null,
  dismissed: null,
}));

/** Stores a dropped file. */
export function dropFile(file: File): void {
  useTransfers.setState({ dropped: file });
}
