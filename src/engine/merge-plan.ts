import type { Resolution } from './contract/scopes.ts';
import { areAlike, type FactRow, type FactStore, type FactVersion } from './facts/fact-store.ts';
import type { MergeScopes } from './operation.ts';
import {
  baseSide,
  compareSides,
  type Difference,
  type JoinedAtoms,
  joinScopes,
  sourceSide,
  targetSide,
} from './scope-join.ts';
import { isTooLarge, mergedVersion } from './merged-version.ts';

/**
 * What a merge does to the facts of its target: a pure function of the stored facts, used alike by the check before
 * the write, by a dry run and by `apply`.
 *
 * Each difference between the two sides is settled once: by a resolution of its atom; else, with a base, by which side
 * has changed since; else by the strategy where it is a conflict. What stays unsettled is for the caller to refuse.
 */
export interface MergePlan {
  /** Facts of the target that go. */
  readonly retracted: FactRow[];
  /** Facts of the source that come into the target, with the version that they get there. */
  readonly stored: { readonly fact: FactRow; readonly version: FactVersion }[];
  /** Counts as the answer has them. */
  added: number;
  updated: number;
  deleted: number;
  kept: number;
  resolved: number;
  /** Pairs, or facts of one side, that both sides changed. */
  readonly conflicts: Difference[];
  /** Those of the conflicts that nothing settles. */
  readonly unsettled: Difference[];
  /** A fact whose merged metadata would be larger than metadata can be. */
  tooLarge: FactRow | null;
  /** Resolutions, by their place in the request, that say something about nothing, or about the same twice. */
  readonly aboutNothing: number[];
  readonly aboutTheSame: number[];
}

type Take = Resolution['take'];

/** The scopes of a merge as numbers, -1 where the tenant has never had a fact there. */
export function sidesOfMerge(facts: FactStore, { source, target, base }: MergeScopes): number[] {
  const sides = [facts.scopeNumber(source), facts.scopeNumber(target)];
  return base === null ? sides : [...sides, facts.scopeNumber(base)];
}

/** The plan at this generation and time, made in slices. */
export function* planMerge(
  facts: FactStore,
  operation: MergeScopes,
  generation: number,
  time: number,
): Generator<'more', MergePlan, undefined> {
  const joined = yield* joinScopes(facts, sidesOfMerge(facts, operation), generation, time);
  const plan = emptyPlan();
  const takes = yield* takesByAtom(facts, joined, operation.resolutions, plan);
  const hasBase = operation.base !== null;
  yield* compareSides(facts, joined, (difference) => {
    const evident = hasBase ? settledByBase(facts, difference) : settledWithoutBase(difference);
    if (evident === null) plan.conflicts.push(difference);
    const chosen = takes.get(difference.atoms)?.get(difference.atom);
    if (chosen !== undefined && evident === null) plan.resolved++;
    const take = chosen ?? evident ?? byStrategy[operation.strategy];
    if (take === null) plan.unsettled.push(difference);
    else settle(facts, difference, take, evident === null, plan);
  });
  return plan;
}

export function emptyPlan(): MergePlan {
  return {
    retracted: [],
    stored: [],
    added: 0,
    updated: 0,
    deleted: 0,
    kept: 0,
    resolved: 0,
    conflicts: [],
    unsettled: [],
    tooLarge: null,
    aboutNothing: [],
    aboutTheSame: [],
  };
}

const byStrategy = { SOURCE_WINS: 'source', TARGET_WINS: 'target', KEEP_BOTH: 'both', REJECT: null } as const;

/** What two sides come to by themselves; null: a conflict. */
function settledWithoutBase({ source, target }: Difference): Take | null {
  if (source === null) return 'target';
  return target === null ? 'source' : null;
}

/** Of what was changed on one side since the base, that side; null: it was changed on both. */
function settledByBase(facts: FactStore, { atoms, atom, source, target }: Difference): Take | null {
  const inBase = (fact: FactRow): FactRow | null => atoms.fact(atom, baseSide, fact.relation.negated);
  const isAsInBase = (fact: FactRow): boolean => {
    const known = inBase(fact);
    return known !== null && areAlike(facts.versionAt(fact), facts.versionAt(known));
  };
  if (source !== null && target !== null) {
    if (isAsInBase(source)) return 'target';
    return isAsInBase(target) ? 'source' : null;
  }
  if (source !== null) {
    if (inBase(source) === null) return 'source';
    return isAsInBase(source) ? 'target' : null;
  }
  if (target === null || inBase(target) === null) return 'target';
  return isAsInBase(target) ? 'source' : null;
}

/** Notes what the difference comes to when this is taken of it. */
function settle(
  facts: FactStore,
  { source, target }: Difference,
  take: Take,
  isConflict: boolean,
  plan: MergePlan,
): void {
  if (source === null || target === null) {
    const isWanted = take !== (source === null ? 'source' : 'target');
    if (source !== null && isWanted) {
      plan.added++;
      plan.stored.push({ fact: source, version: facts.versionAt(source) });
    } else if (target !== null && !isWanted) {
      plan.deleted++;
      plan.retracted.push(target);
    } else if (target !== null && isConflict) plan.kept++;
  } else if (take === 'target') plan.kept++;
  else settlePair(facts, source, target, take, plan);
}

function settlePair(
  facts: FactStore,
  source: FactRow,
  target: FactRow,
  take: 'source' | 'both',
  plan: MergePlan,
): void {
  const isOpposite = source.relation.negated !== target.relation.negated;
  const [version, known] = [facts.versionAt(source), facts.versionAt(target)];
  if (take === 'source' || isOpposite) {
    plan.updated++;
    if (take === 'source' && isOpposite) plan.retracted.push(target);
    plan.stored.push({ fact: source, version });
    return;
  }
  const merged = mergedVersion(version, known);
  if (areAlike(merged, known)) {
    plan.kept++;
    return;
  }
  if (isTooLarge(merged)) plan.tooLarge ??= target;
  plan.updated++;
  plan.stored.push({ fact: source, version: merged });
}

/** Resolutions that are looked up between two slices. */
const resolutionsInSlice = 512;

/** What resolutions say, by the place of their atom in the join. */
function* takesByAtom(
  facts: FactStore,
  joined: readonly JoinedAtoms[],
  resolutions: readonly Resolution[],
  plan: MergePlan,
): Generator<'more', ReadonlyMap<JoinedAtoms, ReadonlyMap<number, Take>>, undefined> {
  const takes = new Map<JoinedAtoms, Map<number, Take>>();
  const byShape = new Map(joined.map((atoms) => [shapeOf(atoms.predicate, atoms.arity), atoms]));
  for (const [index, { predicate, args, take }] of resolutions.entries()) {
    if (index % resolutionsInSlice === resolutionsInSlice - 1) yield 'more';
    const atoms = byShape.get(shapeOf(predicate, args.length));
    const atom = atoms === undefined ? -1 : atomOf(facts, atoms, args);
    if (atoms === undefined || atom < 0) {
      plan.aboutNothing.push(index);
      continue;
    }
    const known = takes.get(atoms) ?? new Map<number, Take>();
    takes.set(atoms, known);
    if (known.has(atom)) plan.aboutTheSame.push(index);
    known.set(atom, take);
  }
  return takes;
}

/** The place of the atom, -1 where neither of the two scopes has it. */
function atomOf(facts: FactStore, atoms: JoinedAtoms, args: readonly string[]): number {
  const ids = Int32Array.from(args, (text) => facts.dictionary.find(text));
  const atom = ids.includes(-1) ? -1 : atoms.atoms.find(ids);
  if (atom < 0) return -1;
  const isIn = (side: number): boolean =>
    atoms.fact(atom, side, false) !== null || atoms.fact(atom, side, true) !== null;
  return isIn(sourceSide) || isIn(targetSide) ? atom : -1;
}

function shapeOf(predicate: string, arity: number): string {
  return `${predicate}/${arity}`;
}
