import { apply } from '../state/apply.ts';
import { contentsOf, type Contents, type FolderTask, noPause, talliesOf } from './locked-folder.ts';
import { folderKeyOf } from '../log/cipher.ts';
import type { Operation } from '../state/operation.ts';
import { DatabaseState, State } from '../state/state.ts';
import { pinState, readState, type RestoredState } from '../state/state-snapshot.ts';
import { freshHistory, putAlone } from '../log/standalone-snapshot.ts';
import type { StorageBackend } from '../log/backend.ts';
import type { LogRecord } from '../log/codec.ts';
import { type Damage, examine, type Examined, recordsIn } from '../log/examine.ts';
import { withFile } from '../log/recovery.ts';
import { readSection } from '../log/snapshot-reader.ts';

/**
 * A folder that a start refuses, made one that it takes: what still verifies is kept, and what does not is set aside.
 *
 * The state is folded anew from the newest snapshot whose state is whole and every record that verifies, gaps or not, and
 * becomes one snapshot in the place of everything. After a gap a record that names facts or rules by their numbers may mean
 * others than it did, so it is left out unless they are older than the gap; so is one that cannot be applied to what is
 * left. What was lost is counted as if all of it had happened: sequences and generations go on behind it, so none
 * is given twice. The history is another one from then on, so that no follower takes it for the one it knows.
 * The damaged bytes are copied to files of their own, durably, before anything is changed.
 */
export interface Repaired {
  readonly damages: readonly Damage[];
  /** Names of the files that the damaged bytes were copied to. */
  readonly setAside: readonly string[];
  /** Records that verify and were left out all the same, and why. */
  readonly leftOut: readonly LeftOut[];
  readonly contents: Contents;
  readonly position: number;
}

export interface LeftOut {
  readonly sequence: number;
  /** The operation's. */
  readonly kind: string;
  readonly why: string;
}

/** After so many records that could not be applied, those that follow are left out too. */
const MAX_TRIES = 100;
const PIECE_BYTES = 1024 * 1024;

/**
 * Repairs; null where there is nothing to repair, and then nothing was changed. Refuses with a StartupError where the key is
 * not the folder's, or a file is of a newer version.
 */
export async function repairFolder(
  { backend, clock, random, onWarn }: FolderTask,
  encryptionKey: string | null,
): Promise<Repaired | null> {
  const key = folderKeyOf(encryptionKey);
  const examined = await examine(backend, key);
  if (examined.damages.length === 0) return null;
  const { restored, leftOut } = await fold(backend, examined);
  const { state } = restored;
  const { historyId, epoch, unbrokenTo, maxSequence } = examined;
  passOver(state, maxSequence, lostRecords(examined) + leftOut.length);
  const setAside = await setDamagedAside(backend, examined.damages);
  const pin = pinState(state, talliesOf(restored));
  const parent = historyId === null ? null : { historyId, sequence: unbrokenTo };
  const { sequence, time } = pin;
  await putAlone(
    backend,
    { sequence, time, checksum: null, historyId: freshHistory(random), parent, epoch: Math.max(1, epoch) },
    pin.parts(noPause, () => true),
    { key, now: () => clock.now(), random, onWarn },
  );
  return {
    damages: examined.damages,
    setAside,
    leftOut,
    contents: contentsOf(state),
    position: sequence,
  };
}

interface Folded {
  readonly restored: RestoredState;
  readonly leftOut: readonly LeftOut[];
}

/** The state of all that is left. A record that fails leaves the state half changed: it is folded again without it. */
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

/** The first record that cannot be applied; null: all that were wanted were. */
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

/** Applies record after record, some of which are not there. */
class Folding {
  readonly #restored: RestoredState;
  readonly #failed: ReadonlyMap<number, LeftOut>;
  readonly #leavesRestOut: boolean;
  readonly #leftOut: LeftOut[] = [];
  /** The generation of each database before the first gap; null: there was none yet. */
  #beforeGap: Map<string, number> | null = null;

  /** `leavesRestOut`: what follows the last record that failed is left out, untried. */
  constructor(restored: RestoredState, failed: ReadonlyMap<number, LeftOut>, leavesRestOut: boolean) {
    this.#restored = restored;
    this.#failed = failed;
    this.#leavesRestOut = leavesRestOut;
  }

  result(): Folded {
    return { restored: this.#restored, leftOut: this.#leftOut };
  }

  /** null: it was applied, or left out. What is answered else is why it could not be applied: the state is of no use then. */
  add(record: LogRecord): LeftOut | null {
    const { state } = this.#restored;
    const { sequence } = record;
    const operation = record.operation as Operation;
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
      // Whatever it is, it says that the record needs what was lost; its text may hold what was stored.
      return { sequence, kind: operation.kind, why: 'it needs something that was lost' };
    }
  }

  #untried(record: LogRecord): LeftOut | null {
    const { sequence } = record;
    if (!this.#leavesRestOut || sequence < Math.max(...this.#failed.keys())) return null;
    return {
      sequence,
      kind: (record.operation as Operation).kind,
      why: 'too many before it need what was lost',
    };
  }

  #gapBefore(record: LogRecord): void {
    const { state } = this.#restored;
    this.#openGap();
    const operation = record.operation as Operation;
    if (operation.kind !== 'createDatabase' && !state.databases.has(record.database))
      state.databases.set(record.database, new DatabaseState(record.database, record.time));
    // What the database had come to when the record was accepted, at least.
    state.databases.get(record.database)?.generations.skipTo(record.generation);
  }

  #openGap(): void {
    const { databases } = this.#restored.state;
    this.#beforeGap ??= new Map(Array.from(databases, ([name, { generation }]) => [name, generation]));
  }

  /** Why a record behind a gap may mean something else than it did; null: it means the same. */
  #ambiguous({ sequence, database }: LogRecord, operation: Operation): LeftOut | null {
    if (this.#beforeGap === null) return null;
    const known = this.#beforeGap.get(database) ?? 0;
    const isOlder = (id: string): boolean => Number.parseInt(id.slice(1), 10) <= known;
    if (namesOnly(operation, isOlder)) return null;
    const why = 'it names facts or rules by numbers, which may be those of others behind a gap';
    return { sequence, kind: operation.kind, why };
  }
}

/** True where the operation names facts and rules by their content, or by ids of which `isOlder` holds. */
function namesOnly(operation: Operation, isOlder: (id: string) => boolean): boolean {
  switch (operation.kind) {
    case 'decay':
    case 'consolidate':
    case 'restore':
      return false;
    case 'retractById':
    case 'updateRule':
    case 'forgetRule':
      return isOlder(operation.id);
    case 'commit':
      return operation.rules.every((rule) => rule.kind === 'teach' || isOlder(rule.id));
    default:
      return true;
  }
}

/** Goes on behind everything that may have been there: no sequence and no generation is given again. */
function passOver(state: State, mostSequence: number, missing: number): void {
  state.sequence = Math.max(state.sequence, mostSequence);
  if (!state.databases.has('default'))
    state.databases.set('default', new DatabaseState('default', state.time));
  for (const { generations } of state.databases.values()) generations.skipTo(generations.last + missing);
}

/** How many records there may have been beside those that verify: each began one generation at most. */
function lostRecords({ snapshot, frames, maxSequence }: Examined): number {
  const kept = frames.reduce((sum, { header }) => sum + header.count, 0);
  return Math.max(0, maxSequence - (snapshot?.header.sequence ?? 0) - kept);
}

/** Copies what is damaged, durably, each range to a file that is named by it; what was copied before is copied again. */
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
