import type { FactRow } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { relationKey } from '../language/terms.ts';
import type { ChangeKind } from '../contract/administration.ts';

/** The effect of a write on one row. */
export interface FactChange {
  readonly kind: Extract<ChangeKind, 'fact.asserted' | 'fact.retracted' | 'memory.evicted'>;
  readonly fact: FactRow;
}

/** Changes of one kind in one relation. */
interface ChangeGroup {
  readonly kind: FactChange['kind'];
  readonly relation: StoredRelation;
  count: number;
}

/**
 * The changes that a write made to facts, in order. There may be millions, so they are stored in columns; objects are
 * created only during iteration.
 */
export class FactChanges implements Iterable<FactChange> {
  readonly #groups: ChangeGroup[] = [];
  #groupIndexes: Map<StoredRelation, Map<FactChange['kind'], number>> | null = null;
  /** Group of the last change. */
  #lastGroup = -1;
  readonly #rows: number[] = [];
  /** Index of each change's group. */
  readonly #groupOf: number[] = [];

  get length(): number {
    return this.#rows.length;
  }

  add(kind: FactChange['kind'], { relation, row }: FactRow): void {
    const last = this.#groups[this.#lastGroup];
    // Changes of one relation usually follow one another.
    if (last?.relation !== relation || last.kind !== kind)
      this.#lastGroup = this.#groupIndexOf(kind, relation);
    (this.#groups[this.#lastGroup] as ChangeGroup).count++;
    this.#rows.push(row);
    this.#groupOf.push(this.#lastGroup);
  }

  *[Symbol.iterator](): Generator<FactChange, void, undefined> {
    for (let at = 0; at < this.#rows.length; at++) yield this.#at(at);
  }

  /** null: no changes. */
  get first(): FactChange | null {
    return this.#rows.length === 0 ? null : this.#at(0);
  }

  /** The number of changes of this kind. */
  countOf(kind: FactChange['kind']): number {
    let count = 0;
    for (const sort of this.#groups) if (sort.kind === kind) count += sort.count;
    return count;
  }

  /** The keys of the relations whose stored facts changed. */
  get relations(): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const { relation } of this.#groups)
      keys.add(relationKey(relation.predicate, relation.arity, relation.negated));
    return keys;
  }

  /** The numbers of the facts, in order. */
  numbers(): number[] {
    const numbers: number[] = [];
    for (let at = 0; at < this.#rows.length; at++) {
      const { relation } = this.#groups[this.#groupOf[at] as number] as ChangeGroup;
      numbers.push(relation.number[this.#rows[at] as number] as number);
    }
    return numbers;
  }

  #at(at: number): FactChange {
    const { kind, relation } = this.#groups[this.#groupOf[at] as number] as ChangeGroup;
    return { kind, fact: { relation, row: this.#rows[at] as number } };
  }

  #groupIndexOf(kind: FactChange['kind'], relation: StoredRelation): number {
    this.#groupIndexes ??= new Map();
    let places = this.#groupIndexes.get(relation);
    if (places === undefined) this.#groupIndexes.set(relation, (places = new Map()));
    let place = places.get(kind);
    if (place === undefined) {
      place = this.#groups.push({ kind, relation, count: 0 }) - 1;
      places.set(kind, place);
    }
    return place;
  }
}
