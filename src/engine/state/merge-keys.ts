/**
 * Declared keys in a merge of scopes: what the plan of a merge would store beside a fact of the target with the same value
 * of a key.
 *
 * It is a conflict whatever the key does with a second fact, since both sides told theirs before they met: nothing is
 * superseded. What the target has twice already stays so.
 */
import { present } from '../base/assert.ts';
import type { MergeStrategy, Resolution } from '../contract/scopes.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import type { FactRow, FactStore, FactVersion } from '../store/fact-store.ts';
import { tupleAt } from '../store/tuples.ts';
import { keyPositions, overlap } from './key-rule.ts';
import { type Difference, type JoinedAtoms, sourceSide, targetSide } from './scope-join.ts';

type Take = Resolution['take'];

/** What a merge changes, as keys can still change it. */
export interface PlannedChanges {
  /** Facts of the target to retract. */
  readonly retracted: FactRow[];
  /** Facts of the source to store in the target, with their new version. */
  readonly stored: { readonly fact: FactRow; readonly version: FactVersion }[];
  /** Counts, as in the answer. */
  added: number;
  updated: number;
  deleted: number;
  kept: number;
  resolved: number;
  /** Pairs, facts of one side that both sides changed, and facts with one value of a key. */
  readonly conflicts: Difference[];
  /** Conflicts that nothing settles. */
  readonly unsettled: Difference[];
}

/** Atoms looked at between two slices. */
const atomsInSlice = 512;

/** How to settle a conflict. `takes`: resolutions, by the atom's row in the join. */
interface Settling {
  readonly takes: ReadonlyMap<JoinedAtoms, ReadonlyMap<number, Take>>;
  readonly strategy: MergeStrategy;
}

/** Settles the conflicts over keys in the plan, in the order of what it stores. */
export function* settleKeys(
  facts: FactStore,
  joined: readonly JoinedAtoms[],
  declarations: DeclarationStore,
  settling: Settling,
  plan: PlannedChanges,
): Generator<'more', void, undefined> {
  for (const atoms of joined) {
    const declaration = declarations.get(atoms.predicate, atoms.arity);
    const positions = declaration === null ? [] : keyPositions(declaration);
    if (declaration === null || positions.length === 0) continue;
    const merge = new KeyMerge(facts, atoms, positions, plan);
    yield* merge.lookAt();
    yield* merge.settle(settling, declaration.onConflict === 'warn');
  }
}

type Stored = PlannedChanges['stored'][number];

/** The true facts of one keyed predicate in a merge. */
class KeyMerge {
  readonly #facts: FactStore;
  readonly #atoms: JoinedAtoms;
  readonly #positions: readonly number[];
  readonly #plan: PlannedChanges;
  /** What the plan stores, by atom. */
  readonly #stored = new Map<number, Stored>();
  /** Rows of the target that the plan retracts. */
  readonly #retracted = new Set<number>();
  /** The atoms that the target has, by their value of the key. */
  readonly #inTarget = new Map<string, number[]>();
  readonly #leftOut = new Set<Stored>();
  /** Retractions that belong to what is left out. */
  readonly #unretracted = new Set<FactRow>();

  constructor(facts: FactStore, atoms: JoinedAtoms, positions: readonly number[], plan: PlannedChanges) {
    this.#facts = facts;
    this.#atoms = atoms;
    this.#positions = positions;
    this.#plan = plan;
  }

  *lookAt(): Generator<'more', void, undefined> {
    const [relation] = this.#atoms.relations;
    if (relation === null) return;
    const args = new Int32Array(relation.arity);
    let left = atomsInSlice;
    for (const stored of this.#plan.stored) {
      if (--left === 0) {
        left = atomsInSlice;
        yield 'more';
      }
      if (stored.fact.relation !== relation) continue;
      this.#stored.set(this.#atoms.atoms.find(tupleAt(relation, stored.fact.row, args)), stored);
    }
    if (this.#stored.size === 0) return;
    for (const { relation: of, row } of this.#plan.retracted) if (of === relation) this.#retracted.add(row);
    for (let atom = 0; atom < this.#atoms.count; atom++) {
      if (--left === 0) {
        left = atomsInSlice;
        yield 'more';
      }
      if (this.#ofTarget(atom) === null) continue;
      const key = this.#keyOf(atom);
      const same = this.#inTarget.get(key);
      if (same === undefined) this.#inTarget.set(key, [atom]);
      else same.push(atom);
    }
  }

  *settle({ takes, strategy }: Settling, isWarning: boolean): Generator<'more', void, undefined> {
    const chosen = takes.get(this.#atoms);
    let left = atomsInSlice;
    for (const [atom, stored] of this.#stored) {
      if (--left === 0) {
        left = atomsInSlice;
        yield 'more';
      }
      const losing: number[] = [];
      let isLeftOut = false;
      for (const rival of this.#rivals(atom, stored)) {
        const conflict = this.#conflict(atom, stored, rival);
        this.#plan.conflicts.push(conflict);
        const own = [chosen?.get(atom), chosen?.get(rival)] as const;
        const take = settledBy(own, strategy);
        if (take === null || (take === 'both' && !isWarning)) {
          this.#plan.unsettled.push(conflict);
          continue;
        }
        if (own[0] !== undefined || own[1] !== undefined) this.#plan.resolved++;
        if (take === 'target') isLeftOut = true;
        if (take === 'source' && !this.#isInSource(atom, rival)) losing.push(rival);
      }
      if (isLeftOut) this.#leaveOut(atom, stored);
      else for (const rival of losing) this.#retract(rival);
    }
    this.#changePlan();
  }

  /** The target's fact of the atom, unless the plan retracts it; null: it has none. */
  #ofTarget(atom: number): FactRow | null {
    const fact = this.#atoms.fact(atom, targetSide, false);
    return fact === null || this.#retracted.has(fact.row) ? null : fact;
  }

  #keyOf(atom: number): string {
    const { columns } = this.#atoms.atoms;
    return this.#positions.map((position) => (columns[position] as Int32Array)[atom]).join();
  }

  /** The target's facts that would hold the key at an instant at which the stored fact does, and did not before. */
  #rivals(atom: number, { version }: Stored): number[] {
    const before = this.#atoms.fact(atom, targetSide, false);
    const boundsBefore = before === null ? null : this.#facts.versionAt(before);
    return (this.#inTarget.get(this.#keyOf(atom)) ?? []).filter((rival) => {
      const fact = rival === atom ? null : this.#ofTarget(rival);
      if (fact === null) return false;
      const known = this.#facts.versionAt(fact);
      const after = this.#stored.get(rival)?.version ?? known;
      return overlap(version, after) && !(boundsBefore !== null && overlap(boundsBefore, known));
    });
  }

  /** True if the source itself has both facts at one instant. */
  #isInSource(atom: number, rival: number): boolean {
    const [own, other] = [atom, rival].map((each) => this.#atoms.fact(each, sourceSide, false));
    if (own === null || own === undefined || other === null || other === undefined) return false;
    return overlap(this.#facts.versionAt(own), this.#facts.versionAt(other));
  }

  #conflict(atom: number, { fact }: Stored, rival: number): Difference {
    const target = present(this.#ofTarget(rival), 'a rival is in the target');
    return { atoms: this.#atoms, atom, source: fact, target, isOfKey: true };
  }

  /** The target's facts stay, and the source's is not stored. */
  #leaveOut(atom: number, stored: Stored): void {
    this.#leftOut.add(stored);
    this.#stored.delete(atom);
    const hasPair = this.#atoms.fact(atom, targetSide, false) !== null;
    const opposite = this.#atoms.fact(atom, targetSide, true);
    const isOfPair = hasPair || (opposite !== null && this.#atoms.fact(atom, sourceSide, true) === null);
    if (isOfPair) this.#plan.updated--;
    else this.#plan.added--;
    this.#plan.kept++;
    if (opposite !== null && isOfPair) this.#unretracted.add(opposite);
  }

  #retract(rival: number): void {
    const fact = this.#ofTarget(rival);
    // Another fact of the source has the same rival.
    if (fact === null) return;
    this.#retracted.add(fact.row);
    this.#plan.retracted.push(fact);
    this.#plan.deleted++;
    const stored = this.#stored.get(rival);
    if (stored === undefined) return;
    this.#leftOut.add(stored);
    this.#stored.delete(rival);
    this.#plan.updated--;
  }

  #changePlan(): void {
    if (this.#leftOut.size === 0) return;
    const { stored, retracted } = this.#plan;
    keepOnly(stored, (each) => !this.#leftOut.has(each));
    const back = [...this.#unretracted];
    keepOnly(
      retracted,
      ({ relation, row }) => !back.some((each) => each.relation === relation && each.row === row),
    );
  }
}

/** How resolutions for the source's and the target's atom, or else the strategy, settle a conflict; null: they do not. */
function settledBy(
  [ofSource, ofTarget]: readonly [Take | undefined, Take | undefined],
  strategy: MergeStrategy,
): Take | null {
  if (ofSource === 'both' || ofTarget === 'both') return 'both';
  if (ofSource === 'source') return ofTarget === 'target' ? null : 'source';
  if (ofTarget === 'target') return 'target';
  return { SOURCE_WINS: 'source', TARGET_WINS: 'target', KEEP_BOTH: 'both', REJECT: null }[
    strategy
  ] as Take | null;
}

/** Removes the elements that fail the test, in place. */
function keepOnly<Element>(list: Element[], isKept: (element: Element) => boolean): void {
  let kept = 0;
  for (const each of list) if (isKept(each)) list[kept++] = each;
  list.length = kept;
}
