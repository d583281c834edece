/**
 * Reads and writes the facts of one tenant as of a pinned generation.
 *
 * A restored store gives the same answers as the pinned one: ids, validity, metadata, history, ended facts and
 * retracted facts. Superseded versions, writes with no facts left and unused constants are dropped, so constant ids and
 * rows differ, which is invisible outside the store. Indexes are rebuilt on demand.
 */
import { NumberMap } from '../../base/number-map.ts';
import type { Slices } from '../../base/slices.ts';
import { Dictionary } from '../../store/dictionary.ts';
import type { PinnedEnds, ArchivedVersions } from '../../store/version-archive.ts';
import type { NumberedFacts } from '../../store/fact-numbers.ts';
import { FactStore, type PinnedFacts } from '../../store/fact-store.ts';
import type { SavedBases } from '../../store/merge-bases.ts';
import type { SavedScopes } from '../../store/scope-records.ts';
import { StoredRelation } from '../../store/stored-relation.ts';
import { relationKey } from '../../language/terms.ts';
import { markConstants, readArchived, writeArchived, deathAt, rowsToWrite } from './versions-in-columns.ts';
import { type ColumnReader, type ColumnWriter, type GenerationNeeded, markedIndexes } from './columns.ts';

interface FactsHead {
  readonly createdAt: number;
  /** Fact numbers assigned so far. */
  readonly facts: number;
  readonly relations: number;
  readonly sweepAt: number;
  readonly scopes: SavedScopes;
  readonly forgottenThrough: number;
  /** Number of restored facts; absent: none, and no data of them follows. */
  readonly restored?: number;
  /** Recorded bases of forks and merges; absent: none, and no archived versions follow. */
  readonly mergeBases?: SavedBases;
  /** The keys of the relations with archived versions. */
  readonly archived?: readonly { readonly relation: string; readonly arity: number }[];
  /** True: the numbers of `PastFacts` follow. */
  readonly hasPast?: true;
  /** True: after them follows when each `ttl` was told, and by how much its end moved. */
  readonly hasTold?: true;
}

interface RelationHead {
  readonly predicate: string;
  readonly arity: number;
  readonly negated: boolean;
  readonly forgottenThrough: number;
  readonly hasDead: boolean;
  readonly hasFrom: boolean;
  readonly hasUntil: boolean;
  readonly hasMetadata: boolean;
  /** See `StoredRelation.hasLives`; absent: it has not. */
  readonly hasLives?: true;
}

/** The rows of a relation to write, in order. */
interface SelectedRows {
  readonly relation: StoredRelation;
  readonly count: number;
  readonly rowOf: (index: number) => number;
}

/** The parts of a tenant's facts to write. */
interface Selection {
  readonly relations: readonly SelectedRows[];
  /** By fact number: 1 if a version is written. */
  readonly facts: Uint8Array;
  /** New id of each constant; undefined for unused ones. */
  readonly ids: Int32Array;
  /** Used constants, ascending. */
  readonly used: Int32Array;
  /** Indexes of the writes that asserted selected facts, ascending. */
  readonly writes: Int32Array;
}

const rowsInSlice = 4096;

/** Writes the facts in slices, while writes go on. */
export async function* writeFacts(
  pinned: PinnedFacts,
  generation: number,
  columns: ColumnWriter,
  slices: Slices,
  need: GenerationNeeded,
): AsyncGenerator<Uint8Array> {
  const selection = await select(pinned, generation, slices, need);
  const { createdAt, dictionary, count, numbers, ended } = pinned;
  const restored = await restoredFacts(pinned, selection, slices);
  const head: FactsHead = {
    createdAt,
    facts: count,
    relations: selection.relations.length,
    sweepAt: ended.sweepAt,
    scopes: pinned.scopeRecords,
    forgottenThrough: pinned.forgottenThrough,
    ...(restored.length === 0 ? {} : { restored: restored.length }),
    mergeBases: pinned.mergeBases,
    archived: pinned.archive.map(({ relation, versions: { arity } }) => ({ relation, arity })),
    ...(pastOf(pinned) === null ? {} : { hasPast: true }),
    ...(toldOf(pinned) === null ? {} : { hasTold: true }),
  };
  yield* columns.json(head);
  yield* columns.constants(dictionary, selection.used);
  yield* columns.texts(mapped(pinned.scopes, (scope) => encoder.encode(scope)));
  const { writes } = selection;
  yield* columns.float64(writes.length, (piece, from) => {
    for (let at = 0; at < piece.length; at++)
      piece[at] = numbers.write(writes[from + at] as number).generation;
  });
  yield* columns.int32(writes.length, (piece, from) => {
    for (let at = 0; at < piece.length; at++) piece[at] = numbers.write(writes[from + at] as number).first;
  });
  for (const selected of selection.relations)
    yield* writeRelation(selected, generation, selection.ids, columns, slices);
  yield* writeChanges(pinned, selection, columns, slices, need);
  yield* writeEnds(pinned, selection.ids, columns);
  if (restored.length > 0) yield* writeRestored(restored, columns);
  for (const each of pinned.archive) yield* writeArchived(each, selection.ids, columns, slices);
  for (const list of pastOf(pinned) ?? [])
    yield* columns.int32(list.length, (piece, from) => piece.set(list.subarray(from, from + piece.length)));
  for (const list of toldOf(pinned) ?? [])
    yield* columns.float64(list.length, (piece, from) => piece.set(list.subarray(from, from + piece.length)));
}

/** The lists of `PastFacts`; null if they are empty. */
function pastOf({ past: { past, byTtl } }: PinnedFacts): Int32Array[] | null {
  return past.length + byTtl.length === 0 ? null : [past, byTtl];
}

/** When the `ttl`s were told, and how far their ends moved; null: there are none. */
function toldOf({ past: { told, moved } }: PinnedFacts): Float64Array[] | null {
  return told === null || moved === null || told.length === 0 ? null : [told, moved];
}

/** Reads what `writeFacts` wrote. `time` is the wall clock of the last record. */
export async function readFacts(columns: ColumnReader, time: number, slices: Slices): Promise<FactStore> {
  const head = (await columns.json()) as FactsHead;
  const dictionary = new Dictionary();
  await columns.textBlocks(dictionary);
  dictionary.expect(0);
  const scopes: string[] = [];
  await columns.texts((text) => scopes.push(decoder.decode(text)));
  const generations = await columns.float64();
  const firsts = await columns.int32();
  const relations: StoredRelation[] = [];
  const room = Math.max(64, head.facts);
  const relationOf = new Int32Array(room);
  const rowOf = new Int32Array(room).fill(-1);
  for (let number = 0; number < head.relations; number++) {
    const relation = await readRelation(columns, slices);
    relations.push(relation);
    for (let from = 0; from < relation.count; from += rowsInSlice) {
      const end = Math.min(relation.count, from + rowsInSlice);
      placeRows(relation.number.subarray(from, end), from, rowOf);
      // The first relation has number 0.
      if (number > 0) placeRelation(relation.number.subarray(from, end), number, relationOf);
      await slices.breathe();
    }
  }
  const changes = await readChanges(columns, slices);
  const ended: PinnedEnds = { entries: await readEnds(columns, relations), sweepAt: head.sweepAt };
  const numbers: NumberedFacts = {
    count: head.facts,
    relations: relationOf,
    rows: rowOf,
    generations,
    firsts,
    changes,
    createdAt: head.restored === undefined ? new NumberMap() : await readRestored(columns),
  };
  const archive: { relation: string; versions: ArchivedVersions }[] = [];
  for (const { relation, arity } of head.archived ?? [])
    archive.push({ relation, versions: await readArchived(arity, columns) });
  const numbersOfPast =
    head.hasPast === true
      ? { past: await columns.int32(), byTtl: await columns.int32() }
      : { past: new Int32Array(0), byTtl: new Int32Array(0) };
  const hasTold = head.hasTold === true;
  const told = hasTold ? await columns.float64() : null;
  const moved = hasTold ? await columns.float64() : null;
  const past = { ...numbersOfPast, told, moved };
  const { createdAt, forgottenThrough, scopes: scopeRecords } = head;
  const mergeBases = head.mergeBases ?? { forks: [], merged: [], lives: [] };
  const ofScopes = { scopes, scopeRecords, mergeBases, archive };
  const contents = { createdAt, forgottenThrough, dictionary, ...ofScopes, relations, numbers, ended, past };
  return FactStore.restored(contents, time, slices);
}

async function select(
  pinned: PinnedFacts,
  generation: number,
  slices: Slices,
  need: GenerationNeeded,
): Promise<Selection> {
  const facts = new Uint8Array(pinned.count);
  const isUsed = new Uint8Array(pinned.constants);
  const relations: SelectedRows[] = [];
  for (const { relation, rows } of pinned.relations) {
    const list = await rowsToWrite(relation, rows, generation, slices);
    const rowOf = list === null ? (index: number) => index : (index: number) => list[index] as number;
    const selected: SelectedRows = { relation, count: list?.length ?? rows, rowOf };
    relations.push(selected);
    let born = Number.NEGATIVE_INFINITY;
    for (let from = 0; from < selected.count; from += rowsInSlice) {
      const end = Math.min(selected.count, from + rowsInSlice);
      const { number, columns, arity } = relation;
      for (let index = from; index < end; index++) {
        const row = rowOf(index);
        facts[number[row] as number] = 1;
        const birth = relation.bornIn(row);
        // Rows of one write follow each other.
        if (birth !== born) need((born = birth));
      }
      for (let position = 0; position < arity; position++) {
        const column = columns[position] as Int32Array;
        for (let index = from; index < end; index++) isUsed[column[rowOf(index)] as number] = 1;
      }
      await slices.breathe();
    }
  }
  for (const { fact } of pinned.ended.entries) for (const id of fact.identity.subarray(0, -1)) isUsed[id] = 1;
  for (const archived of pinned.archive) await markConstants(archived, isUsed, slices);
  const used = await markedIndexes(isUsed, slices);
  const ids = new Int32Array(pinned.constants);
  for (let index = 0; index < used.length; index++) ids[used[index] as number] = index;
  const writes = await writesOf(pinned, facts, slices, need);
  return { relations, facts, ids, used, writes };
}

/** The indexes of the writes that asserted these facts. */
async function writesOf(
  { numbers, count, writes }: PinnedFacts,
  facts: Uint8Array,
  slices: Slices,
  need: GenerationNeeded,
): Promise<Int32Array> {
  const isNeeded = new Uint8Array(writes);
  let next = -1;
  for (let index = 0; index < writes; index++) {
    if (index % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    const { generation, first } = numbers.write(index);
    const end = index + 1 < writes ? numbers.write(index + 1).first : count;
    if (next < first) next = facts.indexOf(1, first);
    if (next < 0) break;
    if (next >= end) continue;
    isNeeded[index] = 1;
    need(generation);
  }
  return markedIndexes(isNeeded, slices);
}

async function* writeRelation(
  { relation, count, rowOf }: SelectedRows,
  generation: number,
  ids: Int32Array,
  columns: ColumnWriter,
  slices: Slices,
): AsyncGenerator<Uint8Array> {
  const { predicate, arity, negated, forgottenThrough, validFrom, validUntil, death, metadata } = relation;
  const head: RelationHead = {
    predicate,
    arity,
    negated,
    forgottenThrough,
    hasDead: death !== null,
    hasFrom: validFrom !== null,
    hasUntil: validUntil !== null,
    hasMetadata: metadata.size > 0,
    ...(relation.hasLives ? { hasLives: true } : {}),
  };
  yield* columns.json(head);
  for (let position = 0; position <= arity; position++)
    yield* columns.int32(count, (piece, from) => {
      const column = relation.columns[position] as Int32Array;
      for (let at = 0; at < piece.length; at++) {
        const value = column[rowOf(from + at)] as number;
        piece[at] = position === arity ? value : (ids[value] as number);
      }
    });
  const floats = (valueOf: (row: number) => number): AsyncGenerator<Uint8Array> =>
    columns.float64(count, (piece, from) => {
      for (let at = 0; at < piece.length; at++) piece[at] = valueOf(rowOf(from + at));
    });
  yield* floats((row) => relation.bornIn(row));
  yield* columns.int32(count, (piece, from) => {
    for (let at = 0; at < piece.length; at++) piece[at] = relation.number[rowOf(from + at)] as number;
  });
  if (head.hasDead) yield* floats((row) => deathAt(relation, row, generation));
  if (head.hasFrom) yield* floats((row) => relation.validFrom?.[row] as number);
  if (head.hasUntil) yield* floats((row) => relation.validUntil?.[row] as number);
  if (head.hasMetadata) yield* writeMetadata({ relation, count, rowOf }, columns, slices);
}

/** The indexes of rows with metadata, then the metadata as JSON. */
async function* writeMetadata(
  { relation, count, rowOf }: SelectedRows,
  columns: ColumnWriter,
  slices: Slices,
): AsyncGenerator<Uint8Array> {
  const isThere = new Uint8Array(count);
  for (let index = 0; index < count; index++) {
    if (index % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    if (relation.metadata.has(rowOf(index))) isThere[index] = 1;
  }
  const indexes = await markedIndexes(isThere, slices);
  yield* columns.int32(indexes.length, (piece, from) =>
    piece.set(indexes.subarray(from, from + piece.length)),
  );
  yield* columns.texts(mapped(indexes, (index) => relation.metadata.jsonOf(rowOf(index))));
}

/** Notes where the facts with these numbers are: in consecutive rows from `first` on. */
function placeRows(numbers: Int32Array, first: number, rowOf: Int32Array): void {
  for (let at = 0; at < numbers.length; at++) rowOf[numbers[at] as number] = first + at;
}

function placeRelation(numbers: Int32Array, relation: number, relationOf: Int32Array): void {
  for (let at = 0; at < numbers.length; at++) relationOf[numbers[at] as number] = relation;
}

async function readRelation(columns: ColumnReader, slices: Slices): Promise<StoredRelation> {
  const head = (await columns.json()) as RelationHead;
  const { predicate, arity, negated, forgottenThrough } = head;
  const identity: Int32Array[] = [];
  for (let position = 0; position <= arity; position++) identity.push(await columns.int32());
  const birth = await columns.float64();
  const number = await columns.int32();
  const death = head.hasDead ? await columns.float64() : null;
  const validFrom = head.hasFrom ? await columns.float64() : null;
  const validUntil = head.hasUntil ? await columns.float64() : null;
  const relation = await StoredRelation.restored(
    {
      predicate,
      arity,
      negated,
      forgottenThrough,
      count: number.length,
      columns: identity,
      birth,
      number,
      death,
      validFrom,
      validUntil,
      hasLives: head.hasLives === true,
    },
    slices,
  );
  if (!head.hasMetadata) return relation;
  const indexes = await columns.int32();
  await columns.texts((text, at) => {
    relation.metadata.setJson(indexes[at] as number, text, 0, text.length);
  });
  return relation;
}

/**
 * Numbers of selected facts that changed after assertion, how often each changed, and the generations of all changes.
 */
async function* writeChanges(
  { numbers }: PinnedFacts,
  { facts }: Selection,
  columns: ColumnWriter,
  slices: Slices,
  need: GenerationNeeded,
): AsyncGenerator<Uint8Array> {
  const changed: number[] = [];
  const counts: number[] = [];
  const generations: number[] = [];
  let looked = 0;
  for (const [number, changes] of numbers.pinnedChanges()) {
    if (++looked % rowsInSlice === 0) await slices.breathe();
    if (facts[number] !== 1) continue;
    changed.push(number);
    counts.push(changes.length);
    for (const change of changes) {
      need(change);
      generations.push(change);
    }
  }
  yield* columns.int32(changed.length, (piece, from) => piece.set(changed.slice(from, from + piece.length)));
  yield* columns.int32(counts.length, (piece, from) => piece.set(counts.slice(from, from + piece.length)));
  yield* columns.float64(generations.length, (piece, from) =>
    piece.set(generations.slice(from, from + piece.length)),
  );
}

async function readChanges(columns: ColumnReader, slices: Slices): Promise<NumberMap<number | number[]>> {
  const changed = await columns.int32();
  const counts = await columns.int32();
  const generations = await columns.float64();
  const changes = new NumberMap<number | number[]>();
  let from = 0;
  for (const [at, number] of changed.entries()) {
    if (at % rowsInSlice === rowsInSlice - 1) await slices.breathe();
    const end = from + (counts[at] as number);
    changes.set(number, Array.from(generations.subarray(from, end)));
    from = end;
  }
  return changes;
}

/** Remembered ended facts: indexes of their relations, ends, generations of replacement, identities. */
async function* writeEnds(
  { relations, ended: { entries } }: PinnedFacts,
  ids: Int32Array,
  columns: ColumnWriter,
): AsyncGenerator<Uint8Array> {
  const indexes = new Map(relations.map(({ relation }, index) => [keyOf(relation), index]));
  const identities: number[] = [];
  for (const { fact } of entries) {
    const scope = fact.identity.length - 1;
    for (const [position, value] of fact.identity.entries())
      identities.push(position === scope ? value : (ids[value] as number));
  }
  yield* columns.int32(entries.length, (piece, from) => {
    for (let at = 0; at < piece.length; at++)
      piece[at] = indexes.get(entries[from + at]?.relation as string) as number;
  });
  yield* columns.float64(entries.length, (piece, from) => {
    for (let at = 0; at < piece.length; at++) piece[at] = entries[from + at]?.fact.until as number;
  });
  yield* columns.float64(entries.length, (piece, from) => {
    for (let at = 0; at < piece.length; at++) piece[at] = entries[from + at]?.fact.replacedIn as number;
  });
  yield* columns.int32(identities.length, (piece, from) =>
    piece.set(identities.slice(from, from + piece.length)),
  );
}

async function readEnds(
  columns: ColumnReader,
  relations: readonly StoredRelation[],
): Promise<PinnedEnds['entries']> {
  const indexes = await columns.int32();
  const untils = await columns.float64();
  const replaced = await columns.float64();
  const identities = await columns.int32();
  const entries: PinnedEnds['entries'] = [];
  let from = 0;
  for (const [at, index] of indexes.entries()) {
    const relation = relations[index] as StoredRelation;
    const identity = identities.slice(from, from + relation.arity + 1);
    from += identity.length;
    const fact = { identity, until: untils[at] as number, replacedIn: replaced[at] as number };
    entries.push({ relation: keyOf(relation), fact });
  }
  return entries;
}

/** Selected facts that were restored, with their original creation times. */
async function restoredFacts(
  { numbers, count }: PinnedFacts,
  { facts }: Selection,
  slices: Slices,
): Promise<(readonly [number, number])[]> {
  const restored: (readonly [number, number])[] = [];
  let looked = 0;
  for (const entry of numbers.restored()) {
    if (++looked % rowsInSlice === 0) await slices.breathe();
    if (entry[0] < count && facts[entry[0]] === 1) restored.push(entry);
  }
  return restored;
}

async function* writeRestored(
  restored: readonly (readonly [number, number])[],
  columns: ColumnWriter,
): AsyncGenerator<Uint8Array> {
  yield* columns.int32(restored.length, (piece, from) => {
    for (let at = 0; at < piece.length; at++) piece[at] = restored[from + at]?.[0] as number;
  });
  yield* columns.float64(restored.length, (piece, from) => {
    for (let at = 0; at < piece.length; at++) piece[at] = restored[from + at]?.[1] as number;
  });
}

async function readRestored(columns: ColumnReader): Promise<NumberMap<number>> {
  const numbers = await columns.int32();
  const times = await columns.float64();
  const restored = new NumberMap<number>();
  for (let at = 0; at < numbers.length; at++) restored.set(numbers[at] as number, times[at] as number);
  return restored;
}

function keyOf({ predicate, arity, negated }: StoredRelation): string {
  return relationKey(predicate, arity, negated);
}

function* mapped<From, To>(values: Iterable<From>, change: (value: From) => To): Generator<To> {
  for (const value of values) yield change(value);
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
