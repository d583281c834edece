/**
 * Selects the rows of one atom: those with its constants, equal arguments for a repeated variable, and its
 * scope.
 *
 * An atom is compiled once (`Selection`). If it has a constant or a scope, an index finds its rows, made once it
 * pays; else they are scanned. The caller decides which rows count (alive, visible, ended).
 */
import { relationKey } from '../language/terms.ts';
import { type ChainIndex, lastWithKey } from './chain-index.ts';
import type { ConstantIds } from './dictionary.ts';
import type { EndedFact, EndedFacts } from './version-archive.ts';
import type { StoredRelation } from './stored-relation.ts';

/** One version of a stored fact, by its row. */
export interface FactRow {
  readonly relation: StoredRelation;
  readonly row: number;
}

/** A pattern of facts. */
export interface FactPattern {
  readonly predicate: string;
  /** Constants, and variables that start with `?`. A repeated variable matches equal constants. */
  readonly args: readonly string[];
  /** null: both truth values. */
  readonly truthVal: boolean | null;
  readonly scope: ScopeChoice;
}

/**
 * The scopes of a view: all, one, or facts without scope. A name cannot be '', so `unscoped` is a case of its
 * own.
 */
export type ScopeChoice =
  | { readonly kind: 'all' }
  | { readonly kind: 'unscoped' }
  | { readonly kind: 'scope'; readonly scope: string };

/** What matching needs of a tenant's facts. */
export interface MatchedStore {
  readonly dictionary: ConstantIds;
  readonly scopeNames: readonly (string | null)[];
  chosenScope(choice: ScopeChoice): number | null;
  relation(predicate: string, arity: number, negated: boolean): StoredRelation | null;
}

/** A stored relation, or a set of tuples. */
export interface IndexedRows {
  readonly count: number;
  readonly columns: readonly Int32Array[];
  index(positions: readonly number[]): ChainIndex;
  /** As `StoredRelation.indexToUse`; absent: every look-up uses an index. */
  indexToUse?(positions: readonly number[]): ChainIndex | null;
}

/** An atom compiled for the columns of its relation. */
export interface Selection {
  /** Columns and the ids that they must have, in order; the key may have room for more. */
  readonly positions: readonly number[];
  readonly key: Int32Array;
  /** Pairs of columns that must be equal. */
  readonly equal: readonly (readonly [number, number])[];
  /** True if all arguments are constants. */
  readonly isGround: boolean;
}

/** Up to this many scopes, an atom is looked up in each scope in turn, which needs no index. */
const maxScopesLookedUp = 8;
/** Rows scanned at most in one turn: a million rows of one key may be dead, or of other scopes. */
const maxScanned = 2_048;
/**
 * A look-up adds at most this many rows to an index that lacks some, or one of so many parts of them, and scans the rest:
 * an index over a million rows takes longer than a turn may.
 */
const minRowsTakenIn = 0x10000;
/** Of an index over one column, which takes a fifth of the time. */
const minRowsLinked = 0x40000;
const maxTakesIn = 16;
const noPairs: Selection['equal'] = [];
const maxSharedPositions = 8;
const positionsByMask: (readonly number[])[] = Array.from({ length: 1 << maxSharedPositions });
/** Of the look-up that is under way: a typed array for each would cost more than the rest of its compilation. */
const keyOfLookUp = new Int32Array(16);
const truthValues = [false, true];

/**
 * Compiles an atom's arguments and the number of its scope (null: every scope). Returns null if one of them
 * has no number (-1), so that no row can match. `key`: memory for its key, with room for all arguments and the scope.
 */
export function compileAtom(
  args: readonly string[],
  constants: Pick<ConstantIds, 'find'>,
  scope: number | null = null,
  key = new Int32Array(args.length + 1),
): Selection | null {
  let count = 0;
  let mask = 0;
  for (let position = 0; position < args.length; position++) {
    const term = args[position] as string;
    if (term.startsWith('?')) continue;
    const id = constants.find(term);
    if (id < 0) return null;
    key[count++] = id;
    mask |= 1 << position;
  }
  const isGround = count === args.length;
  const equal = args.length - count < 2 ? noPairs : equalPositions(args);
  if (scope !== null) {
    if (scope < 0) return null;
    key[count] = scope;
    mask |= 1 << args.length;
  }
  const positions =
    args.length < maxSharedPositions ? sharedPositions(mask) : positionsOf(args, scope !== null);
  return { positions, key, equal, isGround };
}

/** The positions of the bits that are set, in the same array each time. */
function sharedPositions(mask: number): readonly number[] {
  const known = positionsByMask[mask];
  if (known !== undefined) return known;
  const positions: number[] = [];
  for (let position = 0; position < maxSharedPositions; position++)
    if ((mask & (1 << position)) !== 0) positions.push(position);
  positionsByMask[mask] = positions;
  return positions;
}

function positionsOf(args: readonly string[], hasScope: boolean): readonly number[] {
  const positions = [...args.keys()].filter((position) => !(args[position] as string).startsWith('?'));
  return hasScope ? [...positions, args.length] : positions;
}

/** Pairs of positions with the same variable; `?_` matches anything each time. */
export function equalPositions(args: readonly string[]): [number, number][] {
  const pairs: [number, number][] = [];
  for (let position = 1; position < args.length; position++) {
    const term = args[position] as string;
    if (!term.startsWith('?') || term === '?_') continue;
    const first = args.indexOf(term);
    if (first < position) pairs.push([first, position]);
  }
  return pairs;
}

function areEqual(columns: readonly Int32Array[], row: number, equal: Selection['equal']): boolean {
  for (const [a, b] of equal)
    if ((columns[a] as Int32Array)[row] !== (columns[b] as Int32Array)[row]) return false;
  return true;
}

/** The rows of a selection without a key, oldest first. */
export function* scannedRows(
  rows: IndexedRows,
  { equal }: Selection,
  isWanted: (row: number) => boolean,
): Generator<number> {
  for (let row = 0; row < rows.count; row++)
    if (isWanted(row) && areEqual(rows.columns, row, equal)) yield row;
}

/**
 * The wanted rows of a selection one by one, with -1 for every row that was looked at in vain, so that the
 * caller can pause: all rows in order, or those with the key, newest first.
 */
export function* selectedRows(
  rows: IndexedRows,
  { positions, key, equal }: Selection,
  isWanted: (row: number) => boolean,
): Generator<number> {
  const isSelected = (row: number): boolean => isWanted(row) && areEqual(rows.columns, row, equal);
  if (positions.length === 0) {
    for (let row = 0; row < rows.count; row++) yield isSelected(row) ? row : -1;
    return;
  }
  const index = rows.index(positions);
  for (let next = index.first(key); next !== 0; next = index.next[next - 1] as number)
    yield isSelected(next - 1) ? next - 1 : -1;
}

/**
 * The rows of a selection with a key, newest first. Returns null if there are more than `maxFound`, or if more
 * than `maxSeen` must be looked at. An index is made in parts, one with each look-up.
 */
export function indexedRows(
  selection: Selection,
  rows: IndexedRows,
  isWanted: (row: number) => boolean,
  maxFound = Number.POSITIVE_INFINITY,
  maxSeen = Number.POSITIVE_INFINITY,
): number[] | null {
  const { equal } = selection;
  const { columns, count } = rows;
  const index = indexTakingIn(rows, selection.positions);
  const found: number[] = [];
  let seen = 0;
  for (let next = rowBefore(count, rows, selection, index); next !== 0; ) {
    const row = next - 1;
    next = rowBefore(row, rows, selection, index);
    if (++seen > maxSeen) return null;
    if (!isWanted(row) || !areEqual(columns, row, equal)) continue;
    if (found.push(row) > maxFound) return null;
  }
  return found;
}

/** The index to use, after a part of what it lacks was added; null: the rows are scanned. */
function indexTakingIn(rows: IndexedRows, positions: readonly number[]): ChainIndex | null {
  const index = rows.indexToUse === undefined ? rows.index(positions) : rows.indexToUse(positions);
  const { count } = rows;
  if (index !== null && index.rows < count) {
    const least = positions.length === 1 ? minRowsLinked : minRowsTakenIn;
    index.takeIn(count, Math.max(least, Math.ceil(count / maxTakesIn)));
  }
  return index;
}

/** 1 + the newest selected row before `from`, which is the number of rows or a selected row; 0: there is none. */
function rowBefore(
  from: number,
  { columns }: IndexedRows,
  { positions, key }: Selection,
  index: ChainIndex | null,
): number {
  const indexed = index === null ? 0 : index.rows;
  if (index !== null && from < indexed) return index.next[from] as number;
  const next = from > indexed ? lastWithKey(columns, positions, key, from, indexed) : indexed;
  return next > indexed || index === null ? next : index.first(key);
}

/**
 * The facts that match and whose row is wanted, including dead ones, in order of birth within each relation. `generation`: only
 * rows that a reader of this generation may see are wanted, so that an atom without variables needs no index.
 */
export function* matchFacts(
  store: MatchedStore,
  { predicate, args, truthVal, scope }: FactPattern,
  isWanted: (relation: StoredRelation, row: number) => boolean,
  generation: number | null = null,
): Generator<FactRow> {
  for (const negated of truthValues) {
    const relation = negated === truthVal ? null : store.relation(predicate, args.length, negated);
    const chosen = store.chosenScope(scope);
    const selection = relation && compileAtom(args, store.dictionary, chosen);
    if (relation === null || selection === null) continue;
    const isRowWanted = (row: number): boolean => isWanted(relation, row);
    const found =
      generation !== null && selection.isGround
        ? versionsSeen(store, relation, selection.key, chosen, generation)
        : null;
    const rows =
      found !== null
        ? found.filter(isRowWanted).reverse()
        : selection.positions.length === 0
          ? scannedRows(relation, selection, isRowWanted)
          : (indexedRows(selection, relation, isRowWanted) ?? []).reverse();
    for (const row of rows) yield { relation, row };
  }
}

/** The same, with null whenever many rows were looked at, so that the caller can pause. No row may come or go meanwhile. */
export function* matchFactsInSlices(
  store: MatchedStore,
  pattern: FactPattern,
  isWanted: (relation: StoredRelation, row: number) => boolean,
): Generator<FactRow | null> {
  const { predicate, args, truthVal, scope } = pattern;
  for (const negated of truthValues) {
    const relation = negated === truthVal ? null : store.relation(predicate, args.length, negated);
    const selection = relation && compileAtom(args, store.dictionary, store.chosenScope(scope));
    if (relation === null || selection === null) continue;
    for (const row of oldestFirst(relation, selection)) {
      if (row < 0) yield null;
      else if (isWanted(relation, row) && areEqual(relation.columns, row, selection.equal))
        yield { relation, row };
    }
  }
}

/** The rows with the key, oldest first, and -1 whenever many were looked at. */
function* oldestFirst(rows: IndexedRows, { positions, key }: Selection): Generator<number> {
  const { columns, count } = rows;
  if (positions.length === 0) {
    for (let row = 0; row < count; row++) {
      if (row % rowsBetweenPauses === rowsBetweenPauses - 1) yield -1;
      yield row;
    }
    return;
  }
  const index = indexTakingIn(rows, positions);
  const indexed = index?.rows ?? 0;
  const found: number[] = [];
  for (let from = count; from > indexed; yield -1) {
    const end = Math.max(indexed, from - rowsBetweenPauses);
    let next = lastWithKey(columns, positions, key, from, end);
    for (; next > end; next = lastWithKey(columns, positions, key, next - 1, end)) found.push(next - 1);
    from = end;
  }
  for (let next = index?.first(key) ?? 0; next !== 0; next = index?.next[next - 1] as number)
    if (found.push(next - 1) % rowsBetweenPauses === 0) yield -1;
  for (let at = found.length - 1; at >= 0; at--) yield found[at] as number;
}

/** Rows looked at between two pauses. */
const rowsBetweenPauses = 1024;

/**
 * `matchFacts` for the rows visible at this generation and time, if an index finds them with few others and
 * there are at most `most`; else null.
 */
export function lookUpFew(
  store: MatchedStore,
  { predicate, args, truthVal, scope }: FactPattern,
  generation: number,
  time: number,
  most: number,
): FactRow[] | null {
  const chosen = store.chosenScope(scope);
  const key = args.length < keyOfLookUp.length ? keyOfLookUp : undefined;
  const selection = compileAtom(args, store.dictionary, chosen, key);
  if (selection === null) return [];
  if (selection.positions.length === 0) return null;
  const found: FactRow[] = [];
  for (let sign = 0; sign < 2; sign++) {
    const negated = sign === 1;
    const relation = negated === truthVal ? null : store.relation(predicate, args.length, negated);
    if (relation === null) continue;
    const versions = selection.isGround
      ? versionsSeen(store, relation, selection.key, chosen, generation)
      : null;
    const first = found.length;
    if (versions !== null) {
      for (const row of versions)
        if (relation.isVisible(row, generation, time)) found.push({ relation, row });
    } else if (!addVisible(found, relation, selection, generation, time, most)) return null;
    if (found.length > most) return null;
    reverseFrom(found, first);
  }
  return found;
}

function reverseFrom(facts: FactRow[], start: number): void {
  for (let left = start, right = facts.length - 1; left < right; left++, right--) {
    const fact = facts[left] as FactRow;
    facts[left] = facts[right] as FactRow;
    facts[right] = fact;
  }
}

/** Adds the visible rows of the selection, newest first; false: there are more than `most`, or too many to look at. */
function addVisible(
  found: FactRow[],
  relation: StoredRelation,
  selection: Selection,
  generation: number,
  time: number,
  most: number,
): boolean {
  const index = indexTakingIn(relation, selection.positions);
  let seen = 0;
  for (let next = rowBefore(relation.count, relation, selection, index); next !== 0; ) {
    const row = next - 1;
    next = rowBefore(row, relation, selection, index);
    if (++seen > maxScanned) return false;
    if (!relation.isVisible(row, generation, time) || !areEqual(relation.columns, row, selection.equal))
      continue;
    if (found.push({ relation, row }) > most) return false;
  }
  return true;
}

/**
 * The rows of the atom that a reader of this generation may see, newest first, found without an index. null
 * if there are many scopes to look in, or if a version is newer than the reader, since older versions cannot
 * be found this way.
 */
function versionsSeen(
  store: MatchedStore,
  relation: StoredRelation,
  ids: Int32Array,
  scope: number | null,
  generation: number,
): number[] | null {
  if (scope === null && store.scopeNames.length > maxScopesLookedUp) return null;
  const rows = rowsOfAtom(store, relation, ids, scope);
  for (const row of rows) if (relation.bornIn(row) > generation) return null;
  return rows.length < 2 ? rows : rows.sort((left, right) => right - left);
}

/**
 * Rows of the relation with these argument ids in the scope (null: every scope), unordered: of each scope at
 * least the newest, dead or alive, and all lives if there are several. The cost is in proportion to the rows of the atom, however many scopes there
 * are; with many scopes an index over all arguments is used.
 */
export function rowsOfAtom(
  store: MatchedStore,
  relation: StoredRelation,
  ids: Int32Array,
  scope: number | null,
): number[] {
  const { arity } = relation;
  const end = scope === null ? store.scopeNames.length : scope + 1;
  const rows: number[] = [];
  if (scope !== null || end <= maxScopesLookedUp) {
    const identity = new Int32Array(arity + 1);
    for (let position = 0; position < arity; position++) identity[position] = ids[position] as number;
    for (let each = scope ?? 0; each < end; each++) {
      identity[arity] = each;
      for (let row = relation.find(identity); row >= 0; row = relation.olderThan(row)) rows.push(row);
    }
    return rows;
  }
  if (arity === 0) return Array.from({ length: relation.count }, (_, row) => row);
  const positions = Array.from({ length: arity }, (_, position) => position);
  const all = { positions, key: ids, equal: noPairs, isGround: true };
  return indexedRows(all, relation, () => true) ?? rows;
}

/** The remembered ends of matching facts that were asserted again since. */
export function* matchRemembered(
  store: MatchedStore,
  remembered: EndedFacts,
  { predicate, args, truthVal, scope: choice }: FactPattern & { readonly truthVal: boolean },
): Generator<EndedFact> {
  const chosen = store.chosenScope(choice);
  const selection = compileAtom(args, store.dictionary, chosen);
  if (selection === null) return;
  const { positions, key, equal, isGround } = selection;
  const relation = relationKey(predicate, args.length, !truthVal);
  if (isGround) {
    for (const scope of chosen === null ? store.scopeNames.keys() : [chosen]) {
      const ended = remembered.find(relation, key.with(args.length, scope));
      if (ended !== null) yield ended;
    }
    return;
  }
  for (const ended of remembered.of(relation)) {
    const { identity } = ended;
    if (
      positions.every((position, at) => identity[position] === key[at]) &&
      equal.every(([left, right]) => identity[left] === identity[right])
    )
      yield ended;
  }
}
