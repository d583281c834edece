import { NumberList } from '../base/number-list.ts';
import type { FactRow } from '../store/fact-store.ts';
import type { Superseded } from '../contract/facts.ts';
import type { MergeConflict } from '../contract/scopes.ts';
import type { RuleRecord } from '../store/rule-store.ts';
import type { KeyRecord } from './key-store.ts';
import type { ShapeChange } from './apply-shape.ts';
import type { MergePlan } from './merge-plan.ts';
import type { Outcome } from './operation.ts';
import { DatabaseState, type TenantState } from './state.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { relationKey } from '../language/terms.ts';
import type { ChangeKind } from '../contract/administration.ts';

/** The effect of a write on one rule. */
export interface RuleChange {
  readonly after: RuleRecord;
  /** The rule before the write; null: it did not exist. */
  readonly before: RuleRecord | null;
  readonly status: 'asserted' | 'updated' | 'unchanged' | 'retracted';
  /** True if the rule changed. A rule taught again is `unchanged`, yet may have been enabled or renamed. */
  readonly isChange: boolean;
}

/**
 * State removed as a whole: tenants with their facts, and possibly the rules of the database and the database itself.
 */
export interface ClearedTenants {
  /** The tenants by name, in their last state, which is now immutable. */
  readonly tenants: ReadonlyMap<string, TenantState>;
  readonly facts: number;
  readonly rules: number;
  readonly isDatabaseGone: boolean;
}

/** The effects of applying one record, from which everything derived from changes is updated. */
export interface Report {
  readonly database: DatabaseState;
  /** null: the write concerns no single tenant. */
  readonly tenant: string | null;
  readonly generation: number;
  readonly asserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly changes: FactChanges;
  /** Facts that others superseded by a key, the first hundred, and how many there are. */
  readonly superseded: readonly Superseded[];
  readonly supersededCount: number;
  /** The version of the last fact that was asserted, updated or found unchanged. */
  readonly fact: FactRow | null;
  readonly rules: readonly RuleChange[];
  /** The effects on declarations, constraints and aliases. */
  readonly shape: readonly ShapeChange[];
  /** null: nothing was removed as a whole. */
  readonly cleared: ClearedTenants | null;
  /** The effect on a whole scope; null: the write concerned none. */
  readonly scope: ScopeChange | null;
  /** Created or changed keys in their new form, revoked keys in their last form. */
  readonly keys: readonly KeyRecord[];
  /** The data for the answer. */
  readonly outcome: Outcome;
  /** True if the request was answered before: nothing changed now, and only `outcome` describes the first write. */
  readonly isRepeated: boolean;
}

/** The effect of a write on a whole scope. */
export interface ScopeChange {
  /** The scope written to; null: the facts without scope. */
  readonly name: string | null;
  readonly isChange: boolean;
  /** Numbers of facts and rules copied or deleted. */
  readonly facts: number;
  readonly rules: number;
  /** The merge; its rows are those right before it. */
  readonly merge: MergePlan | null;
  /** The conflicts of a merge for a repeated request; none if it cannot be repeated; null: too many to be kept. */
  readonly conflicts?: readonly MergeConflict[] | null;
}

/** A report under construction. */
export type Draft = { -readonly [Key in keyof Omit<Report, 'outcome'>]: Report[Key] } & {
  superseded: Superseded[];
  rules: RuleChange[];
  shape: ShapeChange[];
  keys: KeyRecord[];
  /** null: derived from the other fields. */
  outcome: Outcome | null;
  /** True once it is certain that the write makes a generation, though it may not have changed anything yet. */
  isChange: boolean;
};

/** The report of a repeated request, from its stored outcome. */
export function repeatedReport(database: string, outcome: Outcome): Report {
  return { ...newDraft(new DatabaseState(database, 0), null), outcome, isRepeated: true };
}

/** The report of a write that had nothing to write. */
export function nothingWritten(database: DatabaseState): Report {
  const { lastGeneration: generation } = database;
  return { ...newDraft(database, null), outcome: { kind: 'nothing', generation } };
}

/** An empty report of a write to the database; `tenant` is null if the write concerns no single tenant. */
export function newDraft(database: DatabaseState, tenant: string | null): Draft {
  return {
    database,
    tenant,
    generation: database.lastGeneration,
    asserted: 0,
    updated: 0,
    unchanged: 0,
    superseded: [],
    supersededCount: 0,
    changes: new FactChanges(),
    fact: null,
    rules: [],
    shape: [],
    scope: null,
    keys: [],
    cleared: null,
    outcome: null,
    isChange: false,
    isRepeated: false,
  };
}

/**
 * The state between two slices: `more` work remains; it does, and the write has `taken` its generation; or all is `ready`
 * and the next step publishes and reports.
 */
export type Slice = 'more' | 'taken' | 'ready';

/** Work in slices that readers cannot see; the returned function publishes it in one turn. See `applying`. */
export type Prepared<Result> = Generator<Slice, () => Result, undefined>;

/** Rows written between two slices. */
export const rowsInSlice = 256;

/** The effect of a write on one row. */
export interface FactChange {
  readonly kind: Extract<
    ChangeKind,
    'fact.asserted' | 'fact.retracted' | 'fact.superseded' | 'memory.evicted'
  >;
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
  readonly #rows = new NumberList();
  /** The number of each change's fact: noted with it, since a write is applied in slices and published in one turn. */
  readonly #numbers: number[] = [];
  /** Index of each change's group. */
  readonly #groupOf = new NumberList();

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
    this.#numbers.push(relation.number[row] as number);
    this.#groupOf.push(this.#lastGroup);
  }

  /** Adds so many changes, of consecutive rows from `row` on. */
  addAll(kind: FactChange['kind'], relation: StoredRelation, row: number, count: number): void {
    this.#lastGroup = this.#groupIndexOf(kind, relation);
    (this.#groups[this.#lastGroup] as ChangeGroup).count += count;
    for (let at = 0; at < count; at++) {
      this.#rows.push(row + at);
      this.#numbers.push(relation.number[row + at] as number);
      this.#groupOf.push(this.#lastGroup);
    }
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
  get numbers(): readonly number[] {
    return this.#numbers;
  }

  #at(at: number): FactChange {
    const { kind, relation } = this.#groups[this.#groupOf.at(at)] as ChangeGroup;
    return { kind, fact: { relation, row: this.#rows.at(at) } };
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
