/**
 * Rebuilds one database as it was: a retained snapshot, and the records after it through the same `apply`.
 *
 * The copy is a fold of the log like the state itself, so every id, number and time in it is the one of then. It has the
 * database alone, and nothing observed: uses by questions are no knowledge. Records of other databases are skipped.
 */
import type { KnownAt } from '../contract/moments.ts';
import { Slices, type Pause } from '../base/slices.ts';
import type { LogRecord } from '../log/codec.ts';
import type { RetainedBase, RetainedLog } from '../log/retained.ts';
import { applying, isKeyOperation } from './apply.ts';
import type { Operation } from './operation.ts';
import type { Report } from './report.ts';
import { readState } from './state-snapshot.ts';
import { DatabaseState, State } from './state.ts';

/** A database as it was after one of its generations. */
export interface PastDatabase {
  readonly database: DatabaseState;
  /** The stamp of the record that made its generation, and the wall clock by which that was judged. */
  readonly stamp: number;
  readonly wall: number;
  /** The stamp of a later record of the database: up to it, the generation was the last one. Infinity: there is none. */
  readonly nextStamp: number;
}

/** A base that is later than the moment: the generation that it has, and the stamp of that. */
export interface LateBase {
  readonly lateAt: { readonly generation: number; readonly stamp: number };
}

/** The records up to the moment were lost after this generation, the last one that is known before it. */
export interface LostPast {
  readonly lostAfter: { readonly generation: number; readonly stamp: number };
}

/** The moment that is wanted, of the database with this name. */
export interface WantedPast {
  readonly name: string;
  readonly at: KnownAt;
  /** The generation of a database that does not exist yet; see `DatabaseState`. */
  readonly firstGeneration: number;
}

/** What limits the rebuilding. */
export interface FoldingLimits {
  readonly pause: Pause;
  /** Called now and then with the bytes of the copy; throws if they are too many, or nobody waits for it any more. */
  readonly check: (bytes: number) => void;
}

/** Records between two measurements of the copy. */
const recordsBetweenChecks = 256;

/**
 * The database as it was at a moment, which may turn out to be before the base. An instant must not be. Rejects with what `check` throws, with a StartupError, or with RetainedFileGone.
 */
export async function rebuilt(
  retained: RetainedLog,
  base: RetainedBase,
  { name, at, firstGeneration }: WantedPast,
  { pause, check }: FoldingLimits,
): Promise<PastDatabase | LateBase | LostPast> {
  const state = await stateOfBase(retained, base, name, pause);
  const known = state.databases.get(name);
  if (at.kind === 'generation' && known !== undefined && known.generation > at.generation)
    return { lateAt: { generation: known.generation, stamp: known.stamped?.time ?? base.time } };
  check(bytesOf(state));
  const slices = new Slices(pause);
  let records = 0;
  let nextStamp = Number.POSITIVE_INFINITY;
  for await (const record of retained.records(base.sequence)) {
    if (++records % recordsBetweenChecks === 0) {
      check(bytesOf(state));
      await slices.breathe();
    }
    if (!concernsDatabase(record, name)) continue;
    if (isReached(state.databases.get(name), at, record)) {
      nextStamp = record.time;
      break;
    }
    await reapplied(state, record, () => slices.breathe());
  }
  check(bytesOf(state));
  const database = state.databases.get(name) ?? new DatabaseState(name, 0, firstGeneration);
  const isLost = at.kind === 'instant' ? at.time > state.time : at.generation > database.generation;
  if (retained.isCutOff && nextStamp === Number.POSITIVE_INFINITY && isLost)
    return { lostAfter: { generation: database.generation, stamp: database.stamped?.time ?? 0 } };
  // What ends or begins later is not told of the past.
  const { time: stamp, wall } = database.stamped ?? { time: 0, wall: 0 };
  for (const { facts } of database.tenants.values()) facts.boundaries.takeUntil(wall);
  return { database, stamp, wall, nextStamp };
}

/** Whether the record can change the database; keys belong to none. */
export function concernsDatabase({ database, operation: logged }: LogRecord, name: string): boolean {
  const operation = logged as Operation;
  if (operation.kind === 'createDatabase') return operation.name === name;
  return database === name && !isKeyOperation(operation);
}

function isReached(database: DatabaseState | undefined, at: KnownAt, next: LogRecord): boolean {
  if (at.kind === 'instant') return next.time > at.time;
  return database !== undefined && database.generation >= at.generation;
}

/** The state of the base, without other databases: their names may still be those of later records. */
export async function stateOfBase(
  retained: RetainedLog,
  { snapshot }: RetainedBase,
  name: string,
  pause: Pause,
): Promise<State> {
  if (snapshot === null) return new State();
  const source = {
    readSnapshot: (section: 'state' | 'observed') => retained.readSnapshot(snapshot, section),
  };
  const { state } = await readState(source, pause, false);
  for (const other of state.databases.keys()) if (other !== name) state.databases.delete(other);
  return state;
}

/** Applies the record as the next one, in slices; nobody repeats a request of the past. */
export async function reapplied(
  state: State,
  record: LogRecord,
  breathe: () => Promise<void>,
): Promise<Report> {
  const { idempotency: _repeated, ...rest } = record;
  const steps = applying(state, { ...rest, sequence: state.sequence + 1 });
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await breathe();
  }
}

function bytesOf({ databases }: State): number {
  let bytes = 0;
  for (const { tenants } of databases.values())
    for (const { facts } of tenants.values()) bytes += facts.bytes;
  return bytes;
}

/** What a copy takes, in bytes. */
export function bytesOfPast({ database }: PastDatabase): number {
  let bytes = 0;
  for (const { facts } of database.tenants.values()) bytes += facts.bytes;
  return bytes;
}
