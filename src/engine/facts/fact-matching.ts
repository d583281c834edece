/**
 * Stored facts by pattern: which rows have these constants, these equal arguments, this scope.
 *
 * What is looked for by a constant or a scope is found through an index of the relation, made when first wanted; the
 * rest is a walk over its rows. Which versions count (alive, visible, ended) the caller says.
 */
import { relationKey } from '../logic/terms.ts';
import type { ConstantIds } from './dictionary.ts';
import type { EndedFact, EndedFacts } from './ended-facts.ts';
import type { StoredRelation } from './stored-relation.ts';

/** A version of a stored fact: where it lies. */
export interface FactRow {
  readonly relation: StoredRelation;
  readonly row: number;
}

export interface FactPattern {
  readonly predicate: string;
  /** Constants, and variables that start with `?`. A variable twice matches equal constants. */
  readonly args: readonly string[];
  /** null: both truth values. */
  readonly truthVal: boolean | null;
  readonly scope: ScopeChoice;
}

/** null: every scope; '' cannot be a scope's name, so `unscoped` is a choice of its own. */
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

/** Up to so many scopes an atom is looked for in one after the other, which takes no index. */
const fewScopes = 8;

/** In place of an id: whatever stands there. */
const anyId = -2;

/**
 * The facts that match and whose row is wanted, dead ones too. In the order of their birth within a relation.
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

function* matchIn(
  store: MatchedStore,
  relation: StoredRelation,
  pattern: FactPattern,
  isWanted: (relation: StoredRelation, row: number) => boolean,
): Generator<FactRow> {
  const positions: number[] = [];
  const key: number[] = [];
  for (const [position, term] of pattern.args.entries()) {
    if (term.startsWith('?')) continue;
    const id = store.dictionary.find(term);
    if (id < 0) return;
    positions.push(position);
    key.push(id);
  }
  if (pattern.scope.kind !== 'all') {
    const scope = pattern.scope.kind === 'unscoped' ? 0 : store.scopeNumber(pattern.scope.scope);
    if (scope < 0) return;
    positions.push(relation.arity);
    key.push(scope);
  }
  const equal = equalPositions(pattern.args);
  const counts = (row: number): boolean =>
    isWanted(relation, row) &&
    equal.every(
      ([a, b]) => (relation.columns[a] as Int32Array)[row] === (relation.columns[b] as Int32Array)[row],
    );
  if (positions.length === 0) {
    for (let row = 0; row < relation.count; row++) if (counts(row)) yield { relation, row };
    return;
  }
  const index = relation.index(positions);
  const rows: number[] = [];
  for (let next = index.first(Int32Array.from(key)); next !== 0; next = index.next[next - 1] as number)
    if (counts(next - 1)) rows.push(next - 1);
  for (let at = rows.length - 1; at >= 0; at--) yield { relation, row: rows[at] as number };
}

/** The ends that are remembered of facts that match, since the facts were asserted again. */
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
 * Rows of the relation with these argument ids, in no order: of every scope of the choice at least the newest,
 * dead or alive. Costs in proportion to how many rows the atom has, however many scopes there are; in the view of
 * many scopes by an index over all arguments.
 */
export function rowsOfAtom(
  store: MatchedStore,
  relation: StoredRelation,
  ids: Int32Array,
  choice: ScopeChoice,
): number[] {
  const { arity } = relation;
  const scopes =
    choice.kind === 'all'
      ? Array.from({ length: Math.min(store.scopeNames.length, fewScopes + 1) }, (_, number) => number)
      : [choice.kind === 'unscoped' ? 0 : store.scopeNumber(choice.scope)];
  const rows: number[] = [];
  if (scopes.length <= fewScopes) {
    const identity = new Int32Array(arity + 1);
    identity.set(ids.subarray(0, arity));
    for (const scope of scopes) {
      identity[arity] = scope;
      const row = scope < 0 ? -1 : relation.find(identity);
      if (row >= 0) rows.push(row);
    }
  } else if (arity === 0) for (let row = 0; row < relation.count; row++) rows.push(row);
  else {
    const index = relation.index(Array.from({ length: arity }, (_, position) => position));
    for (let next = index.first(ids); next !== 0; next = index.next[next - 1] as number) rows.push(next - 1);
  }
  return rows;
}

/** Pairs of positions that hold the same variable; `?_` matches anything each time. */
export function equalPositions(args: readonly string[]): [number, number][] {
  const first = new Map<string, number>();
  const pairs: [number, number][] = [];
  for (const [position, term] of args.entries()) {
    if (!term.startsWith('?') || term === '?_') continue;
    const earlier = first.get(term);
    if (earlier === undefined) first.set(term, position);
    else pairs.push([earlier, position]);
  }
  return pairs;
}
