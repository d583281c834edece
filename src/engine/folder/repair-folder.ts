import { apply } from '../state/apply.ts';
import {
  contentsOf,
  type Contents,
  type FolderTask,
  noPause,
  talliesOf,
  freshHistory,
  putAlone,
} from './folder-tasks.ts';
import { type FolderKey, folderKeyOf } from '../log/cipher.ts';
import { readErasing } from '../log/erasing.ts';
import { RetainedLog } from '../log/retained.ts';
import { readSection, receivedNames } from '../log/snapshot-reader.ts';
import { StartupError } from '../log/startup-error.ts';
import { erasureOf } from '../state/redaction.ts';
import type { Operation } from '../state/operation.ts';
import { DatabaseState, State } from '../state/state.ts';
import { pinState, readState, type RestoredState } from '../state/state-snapshot.ts';
import type { StorageBackend } from '../log/backend.ts';
import type { LogRecord } from '../log/codec.ts';
import { type Damage, examine, type Examined, recordsIn } from '../log/examine.ts';
import { withFile } from '../log/recovery.ts';

/** The result of a repair. */
export interface Repaired {
  readonly damages: readonly Damage[];
  /** Names of the files with copies of the damaged bytes. */
  readonly setAside: readonly string[];
  /** Valid records that were left out, with the reasons. */
  readonly leftOut: readonly LeftOut[];
  readonly contents: Contents;
  readonly position: number;
  /** The last record of the retained history before what was lost; null: the history begins with the repair. */
  readonly historyThrough: number | null;
}

export interface LeftOut {
  readonly sequence: number;
  /** Kind of the operation. */
  readonly kind: string;
  readonly why: string;
}

/** After this many records that could not be applied, the remaining ones are left out too. */
const MAX_TRIES = 100;
const PIECE_BYTES = 1024 * 1024;

/**
 * Repairs a folder that a start refuses: keeps what still verifies and sets aside what does not. null: nothing to
 * repair, nothing changed. Refuses with a StartupError if the key is not the folder's or a file is of a newer version.
 *
 * The state is rebuilt from the newest snapshot with an intact state section and every record that verifies, across
 * gaps, and becomes one snapshot that replaces everything. After a gap, a record that names facts or rules by number
 * could refer to others, so it is left out unless those are older than the gap; so is a record that cannot be applied.
 * Sequences and generations continue as if all lost records had been applied, so none is reused. The history gets a new
 * id, so that followers do not take it for the one they know. What the folder retains of the past stays up to the first
 * gap, unless something was erased since; the history goes on with the state after the repair. The damaged bytes are copied to separate files, durably,
 * before anything changes.
 */
export async function repairFolder(
  { backend, clock, random, onWarn }: FolderTask,
  encryptionKey: string | null,
): Promise<Repaired | null> {
  const key = folderKeyOf(encryptionKey);
  const examined = await examine(backend, key);
  if (examined.damages.length === 0) return null;
  const { restored, leftOut, isErased } = await fold(backend, examined);
  const { state } = restored;
  const { historyId, epoch, maxSequence } = examined;
  const unbrokenTo = Math.min(examined.unbrokenTo, ...leftOut.map(({ sequence }) => sequence - 1));
  passOver(state, maxSequence, lostRecords(examined) + leftOut.length);
  const setAside = await setDamagedAside(backend, examined.damages);
  const pin = pinState(state, talliesOf(restored));
  const parent = historyId === null ? null : { historyId, sequence: unbrokenTo };
  const { sequence, time } = pin;
  const retained = isErased ? null : await retainedUpTo(backend, key, { ...examined, unbrokenTo }, onWarn);
  const { hasHistory } = await putAlone(
    backend,
    { sequence, time, checksum: null, historyId: freshHistory(random), parent, epoch: Math.max(1, epoch) },
    pin.parts(noPause, () => true),
    { key, now: () => clock.now(), random, onWarn },
    { retained },
  );
  return {
    damages: examined.damages,
    setAside,
    leftOut,
    contents: contentsOf(state),
    position: sequence,
    historyThrough: hasHistory ? unbrokenTo : null,
  };
}

/**
 * What is retained up to the first gap; null: nothing, since no record before it is known, or what is known from another
 * folder replaces it. Rejects with the system's error.
 */
async function retainedUpTo(
  backend: StorageBackend,
  key: FolderKey | null,
  { damages, snapshot, unbrokenTo: through }: Pick<Examined, 'damages' | 'snapshot' | 'unbrokenTo'>,
  onWarn: FolderTask['onWarn'],
): Promise<RetainedLog | null> {
  const isReceived = receivedNames(snapshot === null ? [] : [snapshot.name]).length > 0;
  // What was erased may be in it, and was to be taken out of it next.
  if (through === 0 || isReceived || (await readErasing(backend)) !== null) return null;
  try {
    const damaged = new Set(damages.map(({ file }) => file));
    return await RetainedLog.upTo(backend, key, { through, damaged });
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    onWarn(`The history is damaged, and begins anew: ${error.message}`);
    return null;
  }
}

interface Folded {
  /** Whether a record erased something, which the history before it still has. */
  readonly isErased: boolean;
  readonly restored: RestoredState;
  readonly leftOut: readonly LeftOut[];
}

/** Folds the remaining records. A record that fails leaves a half-changed state, so the fold starts over without it. */
async function fold(backend: StorageBackend, examined: Examined): Promise<Folded> {
  const failed = new Map<number, LeftOut>();
  for (let left = MAX_TRIES; ; left--) {
    const isLast = left <= 0;
    const folding = new Folding(await initialState(backend, examined), failed, isLast);
    const failure = await foldAll(backend, examined, folding);
    if (failure === null) return folding.result();
    failed.set(failure.sequence, failure);
  }
}

/** The first record that cannot be applied; null: none. */
async function foldAll(
  backend: StorageBackend,
  { frames }: Examined,
  folding: Folding,
): Promise<LeftOut | null> {
  for (const frame of frames)
    for (const record of await recordsIn(backend, frame)) {
      const failure = folding.add(record);
      if (failure !== null) return failure;
    }
  return null;
}

async function initialState(
  backend: StorageBackend,
  { snapshot, lacksObserved }: Examined,
): Promise<RestoredState> {
  if (snapshot === null) return { state: new State(), tallies: new Map() };
  const readSnapshot = (section: 'state' | 'observed') => readSection(backend, snapshot, section);
  return readState({ readSnapshot }, noPause, !lacksObserved);
}

/** Applies records one after another, some of which may be missing. */
class Folding {
  readonly #restored: RestoredState;
  readonly #failed: ReadonlyMap<number, LeftOut>;
  readonly #leavesRestOut: boolean;
  readonly #leftOut: LeftOut[] = [];
  #isErased = false;
  /** The generation of each database before the first gap; null: no gap yet. */
  #beforeGap: Map<string, number> | null = null;

  /** `leavesRestOut`: leaves out all records after the last that failed, untried. */
  constructor(restored: RestoredState, failed: ReadonlyMap<number, LeftOut>, leavesRestOut: boolean) {
    this.#restored = restored;
    this.#failed = failed;
    this.#leavesRestOut = leavesRestOut;
  }

  result(): Folded {
    return { restored: this.#restored, leftOut: this.#leftOut, isErased: this.#isErased };
  }

  /** null: the record was applied or left out. Otherwise it could not be applied, and the state must be discarded. */
  add(record: LogRecord): LeftOut | null {
    const { state } = this.#restored;
    const { sequence } = record;
    const operation = record.operation as Operation;
    if (erasureOf(record) !== null) this.#isErased = true;
    if (sequence > state.sequence + 1) this.#gapBefore(record);
    const known = this.#failed.get(sequence) ?? this.#ambiguous(record, operation) ?? this.#untried(record);
    state.sequence = sequence;
    if (known !== null) {
      this.#leftOut.push(known);
      this.#openGap();
      return null;
    }
    state.sequence = sequence - 1;
    try {
      apply(state, record);
      return null;
    } catch {
      // Any error means that the record needs lost data; its text may contain stored data, so it is not shown.
      return { sequence, kind: operation.kind, why: 'it depends on lost records' };
    }
  }

  #untried(record: LogRecord): LeftOut | null {
    const { sequence } = record;
    if (!this.#leavesRestOut || sequence < Math.max(...this.#failed.keys())) return null;
    return {
      sequence,
      kind: (record.operation as Operation).kind,
      why: 'too many records before it depend on lost ones',
    };
  }

  #gapBefore(record: LogRecord): void {
    const { state } = this.#restored;
    this.#openGap();
    const operation = record.operation as Operation;
    if (operation.kind !== 'createDatabase' && !state.databases.has(record.database))
      state.databases.set(record.database, new DatabaseState(record.database, record.time));
    // The database had at least this generation when the record was accepted.
    state.databases.get(record.database)?.generations.skipTo(record.generation);
  }

  #openGap(): void {
    const { databases } = this.#restored.state;
    this.#beforeGap ??= new Map(Array.from(databases, ([name, { generation }]) => [name, generation]));
  }

  /** Why a record after a gap may no longer mean the same; null: it does. */
  #ambiguous({ sequence, database }: LogRecord, operation: Operation): LeftOut | null {
    if (this.#beforeGap === null) return null;
    const known = this.#beforeGap.get(database) ?? 0;
    const isOlder = (id: string): boolean => Number.parseInt(id.slice(1), 10) <= known;
    if (namesOnly(operation, isOlder)) return null;
    const why = 'it names facts or rules by number, and after a gap a number may refer to another one';
    return { sequence, kind: operation.kind, why };
  }
}

/** True if the operation names facts and rules by content, or by ids for which `isOlder` is true. */
function namesOnly(operation: Operation, isOlder: (id: string) => boolean): boolean {
  switch (operation.kind) {
    case 'decay':
    case 'consolidate':
    case 'restore':
      return false;
    case 'retractById':
    case 'updateRule':
    case 'forgetRule':
    case 'updateConstraint':
    case 'deleteConstraint':
      return isOlder(operation.id);
    case 'commit':
      return [...operation.rules, ...(operation.shape ?? [])].every(
        (change) => change.kind === 'teach' || namesOnly(change, isOlder),
      );
    default:
      return true;
  }
}

/** Continues after everything that may have existed: no sequence or generation is reused. */
function passOver(state: State, maxSequence: number, missing: number): void {
  state.sequence = Math.max(state.sequence, maxSequence);
  if (!state.databases.has('default'))
    state.databases.set('default', new DatabaseState('default', state.time));
  for (const { generations } of state.databases.values()) generations.skipTo(generations.last + missing);
}

/** The number of records that may be lost; each began at most one generation. */
function lostRecords({ snapshot, frames, maxSequence }: Examined): number {
  const remaining = frames.reduce((sum, { header }) => sum + header.count, 0);
  return Math.max(0, maxSequence - (snapshot?.header.sequence ?? 0) - remaining);
}

/** Copies each damaged range, durably, to a file named after it; overwrites an earlier copy. */
async function setDamagedAside(backend: StorageBackend, damages: readonly Damage[]): Promise<string[]> {
  const names = new Set<string>();
  for (const { file, from, to } of damages) {
    if (to === from) continue;
    const name = `${file}.${from}-${to}.damaged`;
    if (names.has(name)) continue;
    if ((await backend.list()).includes(name)) await backend.remove(name);
    const target = await backend.create(name);
    try {
      await withFile(backend, file, 'read', async (source) => {
        for (let at = from; at < to; at += PIECE_BYTES) {
          const piece = new Uint8Array(Math.min(PIECE_BYTES, to - at));
          await target.write(piece.subarray(0, await source.read(piece, at)), at - from);
        }
      });
      await target.sync();
    } finally {
      await target.close();
    }
    names.add(name);
  }
  await backend.syncDirectory();
  return [...names];
}
