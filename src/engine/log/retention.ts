/**
 * What a folder retains of the past: segments and snapshots that the newest snapshot covers, for a number of days.
 *
 * Retained files keep their names. Recovery begins with the newest snapshot and ignores everything before it, so a
 * start costs the same with and without a history, and damage there refuses no start. The base of the history is the
 * newest snapshot that was already old enough when the window began, or the empty state while record 1 is in the folder;
 * every record after the base is retained, and beside it the first snapshot of each UTC day. Everything else can be
 * derived from these.
 */
import { type StorageBackend, systemErrorCode } from './backend.ts';
import { decodeSegmentHeader, type SegmentHeader } from './codec.ts';
import { readHeaderBytes } from './file-header.ts';
import { markErasing, readErasing, unmarkErasing } from './erasing.ts';
import { removeLeftOver, segmentId, segmentName, segmentNames, withFile } from './recovery.ts';
import { isBehindGap } from './retained.ts';
import { completeRewriting } from './rewriting.ts';
import { decodeSnapshotHeader, type SnapshotHeader } from './snapshot-codec.ts';
import { snapshotNames, type StoredSnapshot } from './snapshot-reader.ts';

export const DAY_MS = 86_400_000;

/** For how long the past is retained. */
interface Retention {
  /** 0: nothing is retained for its own sake. */
  readonly days: number;
  /** Whether the history begins behind the last gap that a repair left: what is before it is not rewritten. */
  readonly isErasing: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The files of the past that stay in the folder. */
interface RetainedFiles {
  /** Names of snapshots before the newest, oldest first. */
  readonly snapshots: readonly string[];
  /** Names of segments that the newest snapshot covers, in order. */
  readonly segments: readonly string[];
  /** Stamp of the oldest retained state, epoch milliseconds; null: the history begins with the first record. */
  readonly since: number | null;
}

/** What the history costs on disk, and how far it goes back. */
export interface HistoryUsage {
  readonly bytes: number;
  readonly snapshots: number;
  readonly segments: number;
  /** See `RetainedFiles.since`. */
  readonly since: number | null;
}

/** The retained history of one folder: trims it with each snapshot, and takes out of it what was erased. */
export class RetainedHistory {
  readonly #backend: StorageBackend;
  readonly #days: number;
  readonly #now: () => number;
  readonly #onWarn: (message: string) => void;
  /** Sequences of the records whose erasures are still in the history. */
  #erasures: number[] = [];
  /** True if the history has what was erased up to the newest snapshot: a power cut interrupted its rewriting. */
  isInterrupted = false;
  usage: HistoryUsage = { bytes: 0, snapshots: 0, segments: 0, since: null };

  constructor(
    backend: StorageBackend,
    days: number,
    { now, onWarn }: { readonly now: () => number; readonly onWarn: (message: string) => void },
  ) {
    this.#backend = backend;
    this.#days = days;
    this.#now = now;
    this.#onWarn = onWarn;
  }

  /** What stays beside the newest snapshot when the folder is opened. Rejects with the system's error. */
  async atStart(newest: SnapshotHeader): Promise<RetainedFiles> {
    await completeRewriting(this.#backend, newest);
    const erasing = await readErasing(this.#backend);
    // A mark of what the snapshot does not cover is set again when the record is replayed.
    this.isInterrupted = erasing !== null && erasing <= newest.sequence;
    if (erasing !== null && this.isInterrupted) this.erase(erasing);
    const retained = await this.#retained(newest, false);
    this.usage = await usageOf(this.#backend, retained);
    return retained;
  }

  /** What was to go has gone, goes again once its record is replayed, or waits. Rejects with the system's error. */
  async opened(): Promise<void> {
    if (!this.isInterrupted) await unmarkErasing(this.#backend);
  }

  /** What this record erased leaves the history with the next snapshot that covers it. */
  erase(sequence: number): void {
    this.#erasures.push(sequence);
  }

  /** Call it before the snapshot gets its name. Rejects with the system's error. */
  async prepare(snapshot: SnapshotHeader): Promise<void> {
    if (this.erases(snapshot)) await markErasing(this.#backend, snapshot.sequence);
  }

  /**
   * Removes what the snapshot covers and is not retained; segments from `firstSegment` on are needed all the same. If
   * something is to be erased, `rewrite` takes it out of what is retained; null, or if that fails: nothing is retained.
   * Rejects with the system's error: the next snapshot or start tries again.
   */
  async trim(
    snapshot: StoredSnapshot,
    firstSegment: number | undefined,
    rewrite: (() => Promise<void>) | null,
  ): Promise<void> {
    const { header } = snapshot;
    const isErasing = this.erases(header);
    let retained = await this.#retained(header, isErasing, rewrite === null);
    await removeLeftOver(this.#backend, snapshot, retained, firstSegment);
    if (isErasing && rewrite !== null && retained.segments.length > 0) {
      await rewrite().catch(async (error: unknown) => {
        this.#onWarn(
          `The history could not be rewritten without what was erased, and ends: ${error instanceof Error ? error.message : String(error)}`,
        );
        retained = await this.#retained(header, true, true);
        await removeLeftOver(this.#backend, snapshot, retained, firstSegment);
      });
    }
    this.usage = await usageOf(this.#backend, retained);
    if (!isErasing) return;
    await unmarkErasing(this.#backend);
    // What was erased since is in the history until the next snapshot.
    this.#erasures = this.#erasures.filter((each) => each > header.sequence);
    this.isInterrupted = false;
  }

  /** Another log's snapshot with this stamp replaced everything. */
  replaced(time: number): void {
    this.usage = { bytes: 0, snapshots: 0, segments: 0, since: time };
  }

  /** True if the history is rewritten, or goes, with the snapshot. */
  erases({ sequence }: SnapshotHeader): boolean {
    return this.#erasures.some((each) => each <= sequence);
  }

  /** `isEnding`: what is erased cannot be taken out of it. */
  #retained(newest: SnapshotHeader, isErasing: boolean, isEnding = false): Promise<RetainedFiles> {
    const days = isErasing && isEnding ? 0 : this.#days;
    return retainedFiles(this.#backend, newest, { days, isErasing, now: this.#now() });
  }
}

/** Chooses what to retain beside the newest snapshot. Rejects with the system's error. */
async function retainedFiles(
  backend: StorageBackend,
  newest: SnapshotHeader,
  { days, isErasing, now }: Retention,
): Promise<RetainedFiles> {
  if (days === 0) return { snapshots: [], segments: [], since: newest.time };
  const names = await backend.list();
  const all = await headersOf(backend, snapshotNames(names), newest);
  const repaired = await repairedOf(backend, [...all.map(({ header }) => header), newest]);
  const lastRepaired = Math.max(0, ...repaired);
  const older = isErasing ? all.filter(({ header }) => header.sequence >= lastRepaired) : all;
  const covered = segmentNames(names).filter((name) => segmentId(name) < newest.segment);
  const cutoff = now - days * DAY_MS;
  const isOld = ({ header }: OlderSnapshot): boolean => header.time <= cutoff;
  const isWhole = isConnected(covered, 1, newest.segment) && (!isErasing || lastRepaired === 0);
  // The newest of the old ones answers for the beginning of the window.
  const base = newest.time <= cutoff ? null : (older.findLast(isOld) ?? (isWhole ? 'beginning' : older[0]));
  if (base === null || base === undefined) return { snapshots: [], segments: [], since: newest.time };
  const first = base === 'beginning' ? 1 : base.header.segment;
  if (!isConnected(covered, first, newest.segment))
    return { snapshots: [], segments: [], since: newest.time };
  const after = base === 'beginning' ? older : older.slice(older.indexOf(base) + 1);
  const daily = new Set(firstOfEachDay(after));
  // What is behind a gap begins with the snapshot of the repair.
  const needed = after.filter((each) => daily.has(each) || repaired.has(each.header.sequence));
  const kept = [...(base === 'beginning' ? [] : [base]), ...needed];
  return {
    snapshots: kept.map(({ name }) => name),
    segments: covered.filter((name) => segmentId(name) >= first),
    since: base === 'beginning' ? null : base.header.time,
  };
}

/** The sizes of retained files. Rejects with the system's error. */
async function usageOf(backend: StorageBackend, retained: RetainedFiles): Promise<HistoryUsage> {
  let bytes = 0;
  for (const name of [...retained.snapshots, ...retained.segments])
    bytes += await withFile(backend, name, 'read', (file) => file.size());
  const { snapshots, segments, since } = retained;
  return { bytes, snapshots: snapshots.length, segments: segments.length, since };
}

interface OlderSnapshot {
  readonly name: string;
  readonly header: SnapshotHeader;
}

/** The readable snapshots before the newest, oldest first. One whose header is damaged cannot answer for anything. */
async function headersOf(
  backend: StorageBackend,
  names: readonly string[],
  newest: SnapshotHeader,
): Promise<OlderSnapshot[]> {
  const found: OlderSnapshot[] = [];
  for (const name of names) {
    const reading = decodeSnapshotHeader(await withFile(backend, name, 'read', readHeaderBytes));
    if (reading.kind === 'header' && reading.header.sequence < newest.sequence)
      found.push({ name, header: reading.header });
  }
  return found;
}

/** Sequences of the snapshots that a repair wrote behind a gap. */
async function repairedOf(
  backend: StorageBackend,
  headers: readonly SnapshotHeader[],
): Promise<ReadonlySet<number>> {
  const repaired = new Set<number>();
  for (const { isAlone, sequence, segment, historyId, parent } of headers) {
    if (!isAlone || parent === null || parent.sequence >= sequence) continue;
    const before = await segmentHeaderOf(backend, segmentName(segment - 1));
    const place = { id: segment, historyId, parent, firstSequence: sequence + 1 };
    if (before !== null && isBehindGap(before, place)) repaired.add(sequence);
  }
  return repaired;
}

/** The header of a segment; null: there is none that verifies. */
async function segmentHeaderOf(backend: StorageBackend, name: string): Promise<SegmentHeader | null> {
  try {
    const reading = decodeSegmentHeader(await withFile(backend, name, 'read', readHeaderBytes));
    return reading.kind === 'header' ? reading.header : null;
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

/** True if these have every segment from one id up to another, exclusive. */
function isConnected(names: readonly string[], first: number, end: number): boolean {
  const present = new Set(names);
  for (let id = Math.max(1, first); id < end; id++) if (!present.has(segmentName(id))) return false;
  return true;
}

function firstOfEachDay(snapshots: readonly OlderSnapshot[]): OlderSnapshot[] {
  const days = new Set<number>();
  return snapshots.filter(({ header }) => {
    const day = Math.floor(header.time / DAY_MS);
    if (days.has(day)) return false;
    days.add(day);
    return true;
  });
}
