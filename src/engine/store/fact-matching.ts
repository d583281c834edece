/**
 * Matches stored facts against patterns: rows with these constants, equal arguments, and scope.
 *
 * A pattern with a constant or a scope uses an index of the relation, made on first use; any other scans the
 * rows. The caller decides which versions count (alive, visible, ended).
 */
import { relationKey } from '../language/terms.ts';
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
  scopeNumber(scope: string | null): number;
  relation(predicate: string, arity: number, negated: boolean): StoredRelation | null;
}

/** Up to this many scopes, an atom is looked up in each scope in turn, which needs no index. */
const maxScopesLookedUp = 8;

/** In place of an id: matches anything. */
const anyId = -2;

/**
 * The facts that match and whose row is wanted, including dead ones, in order of birth within each relation.
 */
export function* matchFacts(
  store: MatchedStore,
  pattern: FactPattern,
  isWanted: (relation: StoredRelation, row: number) => boolean,
): Generator<FactRow> {
  for (const negated of pattern.truthVal === null ? [false, true] : [!pattern.truthVal]) {
    const relation = store.relation(pattern.predicate, pattern.args.length, negated);
    if (relation !== null) yield* matchIn(store, relation, pattern, isWanted);
  }
}

/** A pattern compiled for one relation. */
interface Wanted {
  /** Columns and the ids that they must have, in order; the key may have room for more. */
  readonly positions: readonly number[];
  readonly key: Int32Array;
  /** True if all arguments are constants. */
  readonly isAtom: boolean;
  /** Pairs of columns that must be equal. */
  readonly equal: readonly [number, number][];
}

/** null: no row can match. */
function wantedOf(store: MatchedStore, { args, scope }: FactPattern): Wanted | null {
  const positions: number[] = [];
  const key = new Int32Array(args.length + 1);
  for (let position = 0; position < args.length; position++) {
    const term = args[position] as string;
    if (term.startsWith('?')) continue;
    const id = store.dictionary.find(term);
    if (id < 0) return null;
    key[positions.length] = id;
    positions.push(position);
  }
  const isAtom = positions.length === args.length;
  if (scope.kind !== 'all') {
    const number = scope.kind === 'unscoped' ? 0 : store.scopeNumber(scope.scope);
    if (number < 0) return null;
    key[positions.length] = number;
    positions.push(args.length);
  }
  return { positions, key, isAtom, equal: isAtom ? noPairs : equalPositions(args) };
}

const noPairs: Wanted['equal'] = [];

function areEqual(relation: StoredRelation, row: number, equal: Wanted['equal']): boolean {
  for (const [a, b] of equal)
    if ((relation.columns[a] as Int32Array)[row] !== (relation.columns[b] as Int32Array)[row]) return false;
  return true;
}

function* matchIn(
  store: MatchedStore,
  relation: StoredRelation,
  pattern: FactPattern,
  isWanted: (relation: StoredRelation, row: number) => boolean,
): Generator<FactRow> {
  const wanted = wantedOf(store, pattern);
  if (wanted === null) return;
  if (wanted.positions.length === 0) {
    for (let row = 0; row < relation.count; row++)
      if (isWanted(relation, row) && areEqual(relation, row, wanted.equal)) yield { relation, row };
    return;
  }
  const rows = rowsFound(relation, wanted, isWanted, unbounded) ?? [];
  for (let at = rows.length - 1; at >= 0; at--) yield { relation, row: rows[at] as number };
}

/** Limits of the rows returned and of the rows scanned for them. */
interface LookUpLimits {
  readonly found: number;
  readonly seen: number;
}

const unbounded: LookUpLimits = { found: Number.POSITIVE_INFINITY, seen: Number.POSITIVE_INFINITY };
/** Rows scanned at most in one turn: a million rows of one key may be dead, or of other scopes. */
const maxScanned = 2_048;

/** The rows found through an index, newest first; null if a limit is exceeded. */
function rowsFound(
  relation: StoredRelation,
  { positions, key, equal }: Wanted,
  isWanted: (relation: StoredRelation, row: number) => boolean,
  limits: LookUpLimits,
): number[] | null {
  const index = relation.index(positions);
  const rows: number[] = [];
  let seen = 0;
  for (let next = index.first(key); next !== 0; next = index.next[next - 1] as number) {
    const row = next - 1;
    if (++seen > limits.seen) return null;
    if (!isWanted(relation, row) || !areEqual(relation, row, equal)) continue;
    if (rows.push(row) > limits.found) return null;
  }
  return rows;
}

/**
 * `matchFacts` for the rows visible at this generation and time, if an index finds them with few others and
 * there are at most `most`; else null.
 */
export function lookUpFew(
  store: MatchedStore,
  pattern: FactPattern,
  generation: number,
  time: number,
  most: number,
): FactRow[] | null {
  const { predicate, args, truthVal } = pattern;
  const wanted = wantedOf(store, pattern);
  if (wanted === null) return [];
  if (wanted.positions.length === 0) return null;
  const isVisible = (relation: StoredRelation, row: number): boolean =>
    relation.isVisible(row, generation, time);
  const found: FactRow[] = [];
  for (const negated of truthValues) {
    if (negated === truthVal) continue;
    const relation = store.relation(predicate, args.length, negated);
    if (relation === null) continue;
    const rows =
      (wanted.isAtom ? versionsSeen(store, relation, wanted.key, pattern.scope, generation) : null) ??
      rowsFound(relation, wanted, isVisible, { found: most - found.length, seen: maxScanned });
    if (rows === null) return null;
    for (let at = rows.length - 1; at >= 0; at--) {
      const row = rows[at] as number;
      if (!wanted.isAtom || isVisible(relation, row)) found.push({ relation, row });
    }
    if (found.length > most) return null;
  }
  return found;
}

const truthValues = [false, true];

/**
 * The rows of the atom that a reader of this generation may see, newest first, found without an index. null
 * if there are many scopes to look in, or if a version is newer than the reader, since older versions cannot
 * be found this way.
 */
function versionsSeen(
  store: MatchedStore,
  relation: StoredRelation,
  ids: Int32Array,
  choice: ScopeChoice,
  generation: number,
): number[] | null {
  if (choice.kind === 'all' && store.scopeNames.length > maxScopesLookedUp) return null;
  const rows = rowsOfAtom(store, relation, ids, choice);
  for (const row of rows) if ((relation.birth[row] as number) > generation) return null;
  return rows.length < 2 ? rows : rows.sort((left, right) => right - left);
}

/** The remembered ends of matching facts that were asserted again since. */
export function* matchRemembered(
  store: MatchedStore,
  remembered: EndedFacts,
  pattern: FactPattern & { readonly truthVal: boolean },
): Generator<EndedFact> {
  const { predicate, args, truthVal, scope } = pattern;
  const key = relationKey(predicate, args.length, !truthVal);
  const ids = args.map((term) => (term.startsWith('?') ? anyId : store.dictionary.find(term)));
  if (ids.includes(-1)) return;
  const isOfOne = scope.kind !== 'all';
  const number = isOfOne ? store.scopeNumber(scope.kind === 'unscoped' ? null : scope.scope) : anyId;
  if (number === -1) return;
  if (!ids.includes(anyId)) {
    const scopes = isOfOne ? [number] : store.scopeNames.keys();
    for (const each of scopes) {
      const ended = remembered.find(key, Int32Array.of(...ids, each));
      if (ended !== null) yield ended;
    }
    return;
  }
  const wanted = [...ids, number];
  const equal = equalPositions(args);
  for (const ended of remembered.of(key)) {
    const { identity } = ended;
    if (
      wanted.every((id, at) => id === anyId || id === identity[at]) &&
      equal.every(([left, right]) => identity[left] === identity[right])
    )
      yield ended;
  }
}

/**
 * Rows of the relation with these argument ids, unordered: of every scope of the choice at least the newest,
 * dead or alive. The cost is in proportion to the rows of the atom, however many scopes there are; with many
 * scopes an index over all arguments is used.
 */
export function rowsOfAtom(
  store: MatchedStore,
  relation: StoredRelation,
  ids: Int32Array,
  choice: ScopeChoice,
): number[] {
  const { arity } = relation;
  const isOfOne = choice.kind !== 'all';
  const first = choice.kind === 'scope' ? store.scopeNumber(choice.scope) : 0;
  const end = isOfOne ? first + 1 : store.scopeNames.length;
  const rows: number[] = [];
  if (isOfOne || end <= maxScopesLookedUp) {
    const identity = new Int32Array(arity + 1);
    for (let position = 0; position < arity; position++) identity[position] = ids[position] as number;
    for (let scope = Math.max(0, first); scope < end; scope++) {
      identity[arity] = scope;
      const row = relation.find(identity);
      if (row >= 0) rows.push(row);
    }
  } else if (arity === 0) for (let row = 0; row < relation.count; row++) rows.push(row);
  else {
    const index = relation.index(Array.from({ length: arity }, (_, position) => position));
    for (let next = index.first(ids); next !== 0; next = index.next[next - 1] as number) rows.push(next - 1);
  }
  return rows;
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
