import { systemClock, type Clock } from '../base/clock.ts';
import type { Tallies } from '../datalog/model/program.ts';
import { type DatabaseState, State } from '../state/state.ts';
import { type RestoredState, readState, stateOf, pinState } from '../state/state-snapshot.ts';
import type { StorageBackend } from '../log/backend.ts';
import { openFileBackend } from '../log/file-backend.ts';
import { lockFolder } from '../log/lock.ts';
import { apply } from '../state/apply.ts';
import { folderKeyOf, type FolderKey, sealingOf } from '../log/cipher.ts';
import { type Damage, examine, readStoredLog } from '../log/examine.ts';
import { StartupError } from '../log/startup-error.ts';
import { markErasing } from '../log/erasing.ts';
import { RetainedLog } from '../log/retained.ts';
import { completeRewriting, writeFor } from '../log/rewriting.ts';
import type { SnapshotHeader } from '../log/snapshot-codec.ts';
import { readSection, snapshotName, snapshotNames, verifySnapshot } from '../log/snapshot-reader.ts';
import { erasureOf } from '../state/redaction.ts';
import { type SnapshotPart, writeSnapshot } from '../log/snapshot-writer.ts';
import { asideName, journalNames, readJournal, writeJournal } from '../log/journal.ts';
import type { Log, LogPosition } from '../log/log.ts';
import { openLog } from '../log/open-log.ts';
import { hexadecimal, SALT_BYTES } from '../log/codec.ts';
import { type LogContents, removeLeftOver, segmentId, segmentNames } from '../log/recovery.ts';

/**
 * The context of a task on a folder while no service runs on it: verify, repair, restore or convert.
 *
 * Each task is a function over a storage backend, so that tests can run it on a simulated disk with power cuts; here it
 * gets the real folder.
 */
export interface FolderTask {
  readonly backend: StorageBackend;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  /** Receives warnings for the operator, in plain language. */
  readonly onWarn: (message: string) => void;
}

/**
 * Runs a task while this process holds the folder's lock; creates the folder if needed. Rejects with a StartupError if
 * another process holds the lock.
 */
export async function inLockedFolder<Result>(
  storageDir: string,
  onWarn: (message: string) => void,
  run: (task: FolderTask) => Promise<Result>,
): Promise<Result> {
  const backend = await openFileBackend(storageDir);
  const lock = await lockFolder(storageDir, { now: () => systemClock.now(), onWarn });
  try {
    return await run(folderTask(backend, onWarn));
  } finally {
    await lock.release();
  }
}

/** The context of a task on these files. */
export function folderTask(backend: StorageBackend, onWarn: (message: string) => void): FolderTask {
  const random = (bytes: number): Uint8Array => crypto.getRandomValues(new Uint8Array(bytes));
  return { backend, clock: systemClock, random, onWarn };
}

/** The contents of a state, in numbers. */
export interface Contents {
  readonly databases: number;
  readonly tenants: number;
  readonly facts: number;
  readonly rules: number;
}

/** Counts the contents of a state. */
export function contentsOf(state: State): Contents {
  const contents = { databases: state.databases.size, tenants: 0, facts: 0, rules: 0 };
  for (const { tenants, rules, generation } of state.databases.values()) {
    contents.tenants += tenants.size;
    contents.rules += rules.size;
    for (const { facts } of tenants.values()) contents.facts += facts.countStored(generation, state.time);
  }
  return contents;
}

/** How often rules had fired when the state was written; empty if unknown. */
export function talliesOf({ tallies }: RestoredState): (database: DatabaseState) => Tallies {
  return (database) => tallies.get(database) ?? new Map();
}

/** The pause of tasks that no other work waits for. */
export async function noPause(): Promise<void> {
  // Nothing else runs, so there is nothing to yield to.
}

/** The result of a verification. A folder is sound if a start accepts it; otherwise `damages` gives the reasons. */
export interface Verified {
  readonly damages: readonly Damage[];
  /** null: the folder is not sound. */
  readonly contents: Contents | null;
  /** Sequence of the last record. */
  readonly position: number;
  readonly records: number;
  readonly segments: number;
  /** Bytes of the newest snapshot; null: none. */
  readonly snapshotBytes: number | null;
  /** The torn tail that the next start cuts off, in words; null: none. */
  readonly tail: string | null;
  /** What is retained of the past; null: the folder is not sound, so nothing of it was read. */
  readonly history: VerifiedHistory | null;
}

/** The retained history. Damage in it refuses no start, but questions about the past that need the file. */
interface VerifiedHistory {
  readonly segments: number;
  readonly snapshots: number;
  /** The first damage of each damaged file, in words. */
  readonly damages: readonly string[];
}

/**
 * Reads and verifies a whole folder and rebuilds its state as a start does, without changing anything. Refuses with a
 * StartupError if the key is not the folder's or a file is of a newer version.
 */
export async function verifyFolder(backend: StorageBackend, encryptionKey: string | null): Promise<Verified> {
  const key = folderKeyOf(encryptionKey);
  try {
    return await sound(backend, encryptionKey);
  } catch (error) {
    if (!(error instanceof StartupError) || error.key !== null || error.offset === null) throw error;
    const examined = await examine(backend, key);
    const { damages } = examined;
    const first = { file: error.file ?? '', from: error.offset, to: error.offset, what: error.message };
    const position = examined.frames.at(-1)?.lastSequence ?? examined.snapshot?.header.sequence ?? 0;
    return {
      damages: damages.length === 0 ? [first] : damages,
      contents: null,
      position,
      records: examined.frames.reduce((sum, { header }) => sum + header.count, 0),
      segments: examined.segments,
      snapshotBytes: examined.snapshot?.bytes ?? null,
      tail: null,
      history: null,
    };
  }
}

async function sound(backend: StorageBackend, encryptionKey: string | null): Promise<Verified> {
  const { contents, tail, log } = await readStoredLog(backend, folderKeyOf(encryptionKey));
  const { snapshot, segments, lastSequence } = contents;
  const state = snapshot === null ? new State() : (await readState(log, noPause)).state;
  let records = 0;
  for await (const record of log.read(state.sequence)) {
    apply(state, record);
    records++;
  }
  const history = await verifiedHistory(backend, encryptionKey, contents);
  return {
    damages: [],
    contents: contentsOf(state),
    position: lastSequence,
    records,
    segments: segments.length,
    snapshotBytes: snapshot?.bytes ?? null,
    tail:
      tail === null
        ? null
        : `${backend.location(tail.name)}, offset ${tail.offset}: ${tail.reason} (${tail.bytes} bytes)`,
    history,
  };
}

/** Reads everything that is retained of the past. Rejects with the system's error. */
async function verifiedHistory(
  backend: StorageBackend,
  encryptionKey: string | null,
  { segments, snapshot }: LogContents,
): Promise<VerifiedHistory> {
  const damages: string[] = [];
  const noting = async (read: () => Promise<void>): Promise<void> => {
    try {
      await read();
    } catch (error) {
      if (!(error instanceof StartupError)) throw error;
      const { file, offset } = error;
      damages.push(file === null ? error.message : `${backend.location(file)}, offset ${offset ?? 0}`);
    }
  };
  let [earlier, snapshots] = [0, 0];
  const key = folderKeyOf(encryptionKey);
  await noting(async () => {
    const retained = await RetainedLog.find(backend, key, { segments, snapshot });
    for (const part of retained.parts()) {
      for (const segment of part.segments) {
        if (segments.includes(segment)) continue;
        earlier++;
        const { firstSequence } = segment.header;
        await noting(async () => {
          for await (const _record of part.records(firstSequence - 1, segment.lastSequence));
        });
      }
      for (const base of part.bases) {
        if (base.snapshot === null || base.snapshot.name === snapshot?.name) continue;
        snapshots++;
        const { name } = base.snapshot;
        await noting(async () => void (await verifySnapshot(backend, name, key)));
      }
    }
  });
  return { segments: earlier, snapshots, damages };
}

/** A verified backup. */
export interface VerifiedBackup {
  /** Sequence of the last record that it covers. */
  readonly position: number;
  readonly contents: Contents;
  /**
   * Restores the backup into an empty folder, encrypted like the backup; a power cut leaves either an empty folder or
   * all of it. The restored folder begins a new history that names the backup's as its parent, so followers of that one
   * do not take it for the same. Refuses with a StartupError if the folder is not empty.
   */
  install(task: FolderTask): Promise<void>;
}

/**
 * Verifies a whole backup and reads its contents. Refuses with a StartupError if it is damaged or encrypted with
 * another key.
 */
export async function openBackup(
  from: StorageBackend,
  name: string,
  encryptionKey: string | null,
): Promise<VerifiedBackup> {
  const key = folderKeyOf(encryptionKey);
  const backup = await verifySnapshot(from, name, key);
  const { sequence, time, checksum, epoch, historyId } = backup.header;
  const readSnapshot = (section: SnapshotPart['section']) => readSection(from, backup, section);
  const { state } = await readState({ readSnapshot }, noPause);
  return {
    position: sequence,
    contents: contentsOf(state),
    install: async (task) => {
      const { backend, clock, random, onWarn } = task;
      await requireEmpty(backend);
      const covered = {
        sequence,
        time,
        checksum,
        epoch,
        historyId: freshHistory(random),
        parent: { historyId, sequence },
      };
      const parts = partsOf(readSnapshot);
      await putAlone(backend, covered, parts, { key, now: () => clock.now(), random, onWarn });
    },
  };
}

/** Refuses a folder with files other than those of a lock or an interrupted restore. */
export async function requireEmpty(backend: StorageBackend): Promise<void> {
  const names = await backend.list();
  const found = names.find((name) => !/^lock\b|\.snapshot\.tmp$/.test(name));
  if (found === undefined) return;
  throw new StartupError(
    `The storage folder is not empty: it contains ${backend.location(found)}. Nothing was changed. Restore ` +
      'into an empty STORAGE_DIR.',
  );
}

async function* partsOf(
  read: (section: SnapshotPart['section']) => AsyncGenerator<Uint8Array>,
): AsyncGenerator<SnapshotPart> {
  for (const section of ['state', 'observed'] as const)
    for await (const bytes of read(section)) yield { section, bytes };
}

/** The folder's key before and after: 64 hexadecimal digits each; null: not encrypted. */
interface FolderKeyChange {
  readonly from: string | null;
  readonly to: string | null;
}

/**
 * Re-encrypts everything in a folder under another key, or decrypts it: the knowledge, its retained history and the journals.
 *
 * A power cut leaves the folder under one key or the other: the rename of one snapshot switches it atomically, with the
 * history that was written for it, and what that replaces is removed afterwards. Refuses with a StartupError, as a start
 * with the key `from` does.
 */
export async function convertFolder(task: FolderTask, { from, to }: FolderKeyChange): Promise<Contents> {
  const { backend, clock, random, onWarn } = task;
  const now = (): number => clock.now();
  const key = folderKeyOf(from);
  // The next start knows for how many days the past is retained.
  const historyDays = Number.POSITIVE_INFINITY;
  const { log } = await openLog(backend, { fsync: 'always', key, now, random, onWarn, historyDays });
  if (log.lastSequence === 0)
    throw new StartupError(
      'The storage folder is still empty. Start the service with the key that you want to use.',
    );
  const restored = await stateOf(log, noPause);
  const pin = pinState(restored.state, talliesOf(restored));
  const { sequence, time } = pin;
  const { historyId, parent, epoch } = log;
  const checksum = await log.checksumAt(sequence);
  const retained = await retainedOf(log, onWarn);
  const isErasing = await erasesAfter(log, log.snapshot()?.sequence ?? 0);
  await log.close();
  // Until now the record that erased something says so; the snapshot will cover it.
  if (isErasing) await markErasing(backend, sequence);
  const parts = pin.parts(noPause, () => true);
  const options = { key: folderKeyOf(to), now, random, onWarn };
  await putAlone(backend, { sequence, time, checksum, historyId, parent, epoch }, parts, options, {
    retained,
  });
  await convertJournals(task, { from, to });
  return contentsOf(restored.state);
}

/** True if a record after this one erased something. */
async function erasesAfter(log: Log, after: number): Promise<boolean> {
  for await (const record of log.read(after)) if (erasureOf(record) !== null) return true;
  return false;
}

/**
 * Re-encrypts the journals. After a power cut meanwhile, the next start reads unencrypted ones and sets aside what it
 * cannot read.
 */
async function convertJournals(
  { backend, random, onWarn }: FolderTask,
  change: FolderKeyChange,
): Promise<void> {
  const names = await backend.list();
  for (const name of journalNames) {
    // A journal that was set aside is useless, and may be unencrypted.
    if (names.includes(asideName(name))) await backend.remove(asideName(name));
    if (!names.includes(name)) continue;
    const { records } = await readJournal({ backend, name, key: folderKeyOf(change.from), random, onWarn });
    await writeJournal({ backend, name, key: folderKeyOf(change.to), random }, records);
  }
  await backend.syncDirectory();
}

interface AloneOptions {
  /** The folder's key from now on; null: no encryption. */
  readonly key: FolderKey | null;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly random: (bytes: number) => Uint8Array;
  readonly onWarn: (message: string) => void;
}

/**
 * Replaces the whole contents of a folder, which the caller has locked, with one snapshot that needs no segment to
 * continue it, and the history that is retained; returns the snapshot's bytes, and whether there is such a history. `before`: what the folder retains, null if
 * that goes; null: the folder is empty.
 *
 * The rename of the snapshot is the atomic step: a power cut leaves the folder either as before or as intended. The
 * snapshot covers everything that was there, whatever its key, and that is removed once the snapshot is durable. `sequence`
 * must not be below that of any snapshot in the folder. Rejects with the system's error or the error of the parts; the
 * folder is unchanged then, unless the rename happened and is not durable yet.
 */
export async function putAlone(
  backend: StorageBackend,
  covered: LogPosition,
  parts: AsyncIterable<SnapshotPart>,
  { key, now, random, onWarn }: AloneOptions,
  before: { readonly retained: RetainedLog | null } | null = null,
): Promise<{ readonly bytes: number; readonly hasHistory: boolean }> {
  const last = segmentNames(await backend.list()).at(-1);
  const salt = random(SALT_BYTES);
  const segment = (last === undefined ? 0 : segmentId(last)) + 1;
  const header = { ...covered, segment, isAlone: true, salt, createdAt: now() };
  const sealing = sealingOf(key, salt, random);
  const { bytes, start, opener, install, discard } = await writeSnapshot(
    backend,
    header,
    sealing,
    parts,
    onWarn,
  );
  let hasHistory = false;
  try {
    if (before !== null)
      hasHistory = await writeHistory(backend, before.retained, header, { key, random, onWarn });
    await install();
  } catch (error) {
    await discard();
    throw error;
  }
  const name = snapshotName(covered.sequence);
  try {
    if (before !== null) await completeRewriting(backend, header);
    const names = before === null ? [] : await backend.list();
    const kept = { snapshots: snapshotNames(names), segments: segmentNames(names) };
    await removeLeftOver(backend, { name, header, bytes, start, opener }, kept);
  } catch (error) {
    onWarn(
      `Files that the snapshot covers could not be removed; the next start tries again: ${String(error)}`,
    );
  }
  return { bytes, hasHistory };
}

/** Writes the history for a snapshot; false: there is none, or, with a warning, it cannot be read. Rejects with the system's error. */
async function writeHistory(
  backend: StorageBackend,
  retained: RetainedLog | null,
  header: SnapshotHeader,
  options: Omit<AloneOptions, 'now'>,
): Promise<boolean> {
  try {
    await writeFor(backend, retained, header, options);
    return retained !== null;
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    options.onWarn(`The history is damaged, and begins anew: ${error.message}`);
    await writeFor(backend, null, header, options);
    return false;
  }
}

/** What the log retains; null, with a warning: it cannot be read. Rejects with the system's error. */
async function retainedOf(log: Log, onWarn: FolderTask['onWarn']): Promise<RetainedLog | null> {
  try {
    return await log.retained();
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    onWarn(`The history is damaged, and begins anew: ${error.message}`);
    return null;
  }
}

/** A new, unique history id. */
export function freshHistory(random: (bytes: number) => Uint8Array): string {
  return hexadecimal(random(16));
}
