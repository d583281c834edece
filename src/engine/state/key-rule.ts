import type { Declaration } from '../contract/declarations.ts';
import type { Bounds, FactStore, FactToStore } from '../store/fact-store.ts';
import { boundsAfter, openBounds } from '../store/fact-store.ts';
import type { FactFrame } from '../store/fact-block.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';

/** What becomes of a fact, and of the facts that hold its value of the key. */
export type KeyJudgement<Holder> =
  /** The key has nothing against it: stored as it is given. */
  | { readonly kind: 'free' }
  | { readonly kind: 'conflict'; readonly inTheWay: Holder }
  /** Stored from this instant on; `ended` hold the value until then, `retracted` began with it and go. */
  | {
      readonly kind: 'supersedes';
      readonly from: number;
      readonly ended: readonly Holder[];
      readonly retracted: readonly Holder[];
    };

const free = { kind: 'free' } as const;

/**
 * What a declared key makes of a fact to be stored: the one definition, by which writes are checked and applied.
 *
 * `stored`: the validity of the same fact, null if it is not stored. `rivals`: the stored facts with the same value of the
 * key and other arguments, in order of assertion. `time`: the wall clock, by which the write is judged.
 */
export function judgeKey<Holder extends Bounds>(
  fact: FactToStore,
  stored: Bounds | null,
  rivals: readonly Holder[],
  onConflict: 'supersede' | 'reject',
  time: number,
): KeyJudgement<Holder> {
  const bounds = boundsAfter(fact, stored ?? openBounds);
  const { until } = bounds;
  let { from } = bounds;
  if (stored !== null && from === stored.from && until === stored.until) return free;
  const overlapping = (): Holder[] => rivals.filter((rival) => rival.from < until && rival.until > from);
  if (onConflict === 'supersede' && stored === null && fact.validFrom === undefined) {
    // A fact that has ended before it is told was never valid.
    if (until <= time) return free;
    from = time;
    from = overlapping().reduce((latest, rival) => Math.max(latest, rival.from), from);
  }
  const found = overlapping();
  const inTheWay = onConflict === 'reject' ? found[0] : found.find((rival) => rival.from > from);
  if (inTheWay !== undefined) return { kind: 'conflict', inTheWay };
  if (onConflict === 'reject') return free;
  return {
    kind: 'supersedes',
    from,
    ended: found.filter((rival) => rival.from < from),
    retracted: found.filter((rival) => rival.from === from),
  };
}

/** True if the two validities have an instant in common. */
export function overlap(left: Bounds, right: Bounds): boolean {
  return left.from < right.until && right.from < left.until;
}

/** A declared key that does more than list violations. */
export interface StrictKey {
  readonly declaration: Declaration;
  readonly onConflict: 'supersede' | 'reject';
  /** The positions of its arguments, ascending. */
  readonly positions: readonly number[];
}

/** The strict keys of a database, by relation; kept as long as its declarations stay the same. */
export class StrictKeys {
  readonly #declarations: DeclarationStore;
  readonly #version: number;
  readonly #keys = new Map<string, StrictKey>();
  /** True if there is none, and nothing has to be looked up. */
  readonly isEmpty: boolean;

  private constructor(declarations: DeclarationStore) {
    this.#declarations = declarations;
    this.#version = declarations.version;
    for (const declaration of declarations.all()) {
      const { name, arity, onConflict } = declaration;
      const positions = keyPositions(declaration);
      if (positions.length > 0 && onConflict !== 'warn')
        this.#keys.set(`${arity}/${name}`, { declaration, onConflict, positions });
    }
    this.isEmpty = this.#keys.size === 0;
  }

  static of(declarations: DeclarationStore): StrictKeys {
    const known = kept.get(declarations);
    if (known !== undefined && known.#version === declarations.version) return known;
    const keys = new StrictKeys(declarations);
    kept.set(keys.#declarations, keys);
    return keys;
  }

  /** The key that the fact is under; null: none. */
  keyOf({
    predicate,
    args,
    truthVal,
  }: Pick<FactToStore, 'predicate' | 'args' | 'truthVal'>): StrictKey | null {
    return this.isEmpty ? null : this.keyIn({ predicate, arity: args.length, truthVal });
  }

  /** The key that facts of this relation are under; null: none. */
  keyIn({ predicate, arity, truthVal }: Omit<FactFrame, 'scope'>): StrictKey | null {
    return this.isEmpty || !truthVal ? null : (this.#keys.get(`${arity}/${predicate}`) ?? null);
  }
}

const kept = new WeakMap<DeclarationStore, StrictKeys>();

/** The positions of the key's arguments, ascending; empty: there is no key. */
export function keyPositions({ arguments: named, key }: Pick<Declaration, 'arguments' | 'key'>): number[] {
  return named.flatMap(({ name }, position) => (key.includes(name) ? [position] : []));
}

/** A stored fact that holds a value of a key. */
export interface StoredHolder extends Bounds {
  readonly row: number;
}

/** A fact, if it is stored, and the others with its value of the key. */
interface Holders {
  readonly same: StoredHolder | null;
  readonly rivals: readonly StoredHolder[];
}

const noHolders: Holders = { same: null, rivals: [] };

/**
 * The facts that hold the fact's value of the key in its scope at the time, in order of their versions: itself, if it is
 * stored, and its rivals. Takes the index up to date in slices.
 */
export function* holdersOf(
  facts: FactStore,
  fact: FactToStore,
  { positions }: StrictKey,
  time: number,
): Generator<'more', Holders, undefined> {
  const relation = facts.relation(fact.predicate, fact.args.length, false);
  const scope = facts.scopeNumber(fact.scope);
  if (relation === null || scope < 0) return noHolders;
  const ids: number[] = [];
  for (const position of positions) {
    const id = facts.dictionary.find(fact.args[position] as string);
    if (id < 0) return noHolders;
    ids.push(id);
  }
  const index = relation.keyIndex(positions);
  while (!index.takeIn(time)) yield 'more';
  const rows = index.rows(ids, scope, time);
  if (rows.length === 0) return noHolders;
  let same: StoredHolder | null = null;
  const rivals: StoredHolder[] = [];
  for (const row of rows) {
    const holder = { row, ...relation.boundsOf(row) };
    const isSame = facts.argsOf({ relation, row }).every((text, at) => text === fact.args[at]);
    if (isSame) same = holder;
    else rivals.push(holder);
  }
  return { same, rivals };
}
