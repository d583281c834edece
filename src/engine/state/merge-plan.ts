import { present } from '../base/assert.ts';
import type { Merged, Resolution } from '../contract/scopes.ts';
import { areAlike, type FactRow, type FactStore, type FactVersion, sameJson } from '../store/fact-store.ts';
import type { MergeScopes } from './operation.ts';
import {
  type BaseOfMerge,
  baseSide,
  compareSides,
  type Difference,
  type JoinedAtoms,
  joinScopes,
  type ReadMoment,
  sourceSide,
  targetSide,
} from './scope-join.ts';
import { maxMetadataBytes, type Metadata } from '../contract/facts.ts';

/**
 * What a merge does to the facts of its target: a pure function of the stored facts, used alike by the check before
 * the write, by a dry run and by `apply`.
 *
 * Each difference between the two sides is settled once: by a resolution of its atom; else, with a base, by which side
 * has changed since; else by the strategy where it is a conflict. What stays unsettled is for the caller to refuse.
 */
export interface MergePlan {
  /** What the fork remembers, where that is the base. */
  readonly ancestor: Merged['ancestor'];
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
  readonly unmatchedResolutions: number[];
  readonly duplicateResolutions: number[];
}

type Take = Resolution['take'];

/**
 * The base of a merge as it is now; null: the merge has none. A merge by what the fork remembers has been checked to
 * have one.
 */
export function baseOfMerge(
  facts: FactStore,
  { source, target, base }: Pick<MergeScopes, 'source' | 'target' | 'base'>,
  { generation }: ReadMoment,
): MergeBase | null {
  if (base === null) return null;
  const { archive } = facts;
  if (typeof base === 'string')
    return { scope: facts.scopeNumber(base), generation, archive, ancestor: null };
  const found = present(
    facts.mergeBases.baseOf(facts.scopeNumber(source), facts.scopeNumber(target)),
    'two scopes that are merged by their fork have a base',
  );
  const scope = facts.scopeNames[found.scope] ?? null;
  return { ...found, archive, ancestor: { scope, generation: found.generation, time: found.time } };
}

export interface MergeBase extends BaseOfMerge {
  readonly ancestor: MergePlan['ancestor'];
}

export type MergeBasePart = Pick<Merged, 'base' | 'ancestor'>;

/** What the answer says of the base: as it is asked for, and of a fork's what that was. */
export function basePart(
  { base }: Pick<MergeScopes, 'base'>,
  { ancestor }: Pick<MergePlan, 'ancestor'>,
): MergeBasePart {
  if (base === null || typeof base === 'object') return { base: base === null ? null : 'fork', ancestor };
  return { base: base === 'fork' ? { scope: base } : base, ancestor };
}

/** The plan at this generation and time, made in slices. */
export function* planMerge(
  facts: FactStore,
  operation: MergeScopes,
  base: MergeBase | null,
  moment: ReadMoment,
): Generator<'more', MergePlan, undefined> {
  const { source, target } = operation;
  const sides = [facts.scopeNumber(source), facts.scopeNumber(target)];
  const joined = yield* joinScopes(facts, sides, moment, base);
  const plan = emptyPlan(base?.ancestor);
  const takes = yield* takesByAtom(facts, joined, operation.resolutions, plan);
  const isOfToday = operation.revision === 2;
  yield* compareSides(facts, joined, (difference) => {
    const { evident, opposite } = evidentOf(facts, difference, base !== null, isOfToday);
    // It is told with what stands against it.
    const conflict = opposite === null ? difference : { ...difference, target: opposite };
    if (evident === null) plan.conflicts.push(conflict);
    const chosen = takes.get(difference.atoms)?.get(difference.atom);
    if (chosen !== undefined && evident === null) plan.resolved++;
    const take = chosen ?? evident ?? byStrategy[operation.strategy];
    if (take === null) plan.unsettled.push(conflict);
    else if (opposite !== null && take === 'target') plan.kept++;
    else addToPlan(facts, difference, take, evident === null, plan);
  });
  return plan;
}

export function emptyPlan(ancestor: MergePlan['ancestor'] = null): MergePlan {
  return {
    ancestor,
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
    unmatchedResolutions: [],
    duplicateResolutions: [],
  };
}

const byStrategy = { SOURCE_WINS: 'source', TARGET_WINS: 'target', KEEP_BOTH: 'both', REJECT: null } as const;

/**
 * What a difference comes to without resolutions and strategy. `evident`: the side that is taken, null where it is a
 * conflict; `opposite`: the target's fact with which one to be added is a conflict, else null.
 */
export function evidentOf(
  facts: FactStore,
  difference: Difference,
  hasBase: boolean,
  isOfToday = true,
): { readonly evident: 'source' | 'target' | null; readonly opposite: FactRow | null } {
  const agreed = hasBase ? settledByBase(facts, difference, isOfToday) : settledWithoutBase(difference);
  const opposite = isOfToday && agreed === 'source' ? oppositeInTarget(difference) : null;
  return { evident: opposite === null ? agreed : null, opposite };
}

/** What two sides come to by themselves; null: a conflict. */
function settledWithoutBase({ source, target }: Difference): 'source' | 'target' | null {
  if (source === null) return 'target';
  return target === null ? 'source' : null;
}

/**
 * The target's fact that says the opposite of one which only the source has; null: there is none. The source has both
 * then: of an atom that each side has in one truth value, the two are a pair.
 */
function oppositeInTarget({ atoms, atom, source, target }: Difference): FactRow | null {
  if (source === null || target !== null) return null;
  return atoms.fact(atom, targetSide, !source.relation.negated);
}

/** Of what was changed on one side since the base, that side; null: it was changed on both. */
function settledByBase(
  facts: FactStore,
  { atoms, atom, source, target }: Difference,
  isOfToday: boolean,
): 'source' | 'target' | null {
  const versionInBase = (negated: boolean): FactVersion | null =>
    atoms.version(facts, atom, baseSide, negated);
  const inBase = ({ relation }: FactRow): FactVersion | null => versionInBase(relation.negated);
  const isAsInBase = (fact: FactRow): boolean => {
    const known = inBase(fact);
    return known !== null && areAlike(facts.versionAt(fact), known);
  };
  if (source !== null && target !== null) {
    // Each of two opposites is all that its side has of the atom.
    const isOpposite = source.relation.negated !== target.relation.negated;
    const isUnchanged = (fact: FactRow): boolean =>
      isAsInBase(fact) && !(isOfToday && isOpposite && versionInBase(!fact.relation.negated) !== null);
    if (isUnchanged(source)) return 'target';
    return isUnchanged(target) ? 'source' : null;
  }
  if (source !== null) {
    if (inBase(source) === null) return 'source';
    return isAsInBase(source) ? 'target' : null;
  }
  if (target === null || inBase(target) === null) return 'target';
  return isAsInBase(target) ? 'source' : null;
}

/** Notes what the difference comes to when this is taken of it. */
function addToPlan(
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
  else addPairToPlan(facts, source, target, take, plan);
}

function addPairToPlan(
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
      plan.unmatchedResolutions.push(index);
      continue;
    }
    const known = takes.get(atoms) ?? new Map<number, Take>();
    takes.set(atoms, known);
    if (known.has(atom)) plan.duplicateResolutions.push(index);
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

/**
 * Two versions of a fact made one, for merges that keep both.
 *
 * Validity is the widest. Of the metadata, what target has stays; what only source has is added; what source has
 * otherwise goes under `_source`. Making one of the result and source again changes nothing: therefore a `_source` that
 * source has itself is put under `_source` like anything else, unless it can simply be taken over.
 */
function mergedVersion(source: FactVersion, target: FactVersion): FactVersion {
  return {
    from: Math.min(source.from, target.from),
    until: Math.max(source.until, target.until),
    metadata: mergedMetadata(source.metadata, target.metadata),
  };
}

/** What source says otherwise. */
const sourceKey = '_source';
/** What target had itself under that key, where it is no object that more can be put into. */
const targetKey = '_target';

function mergedMetadata(source: Metadata | null, target: Metadata | null): Metadata | null {
  if (source === null || target === null) return target ?? source;
  const differing = Object.entries(source).filter(
    ([name, value]) => name !== sourceKey && Object.hasOwn(target, name) && !sameJson(value, target[name]),
  );
  const added = Object.entries(source).filter(([name]) => !Object.hasOwn(target, name));
  const [said, known] = [source[sourceKey], target[sourceKey]];
  const saysOtherwise = said !== undefined && known !== undefined && !sameJson(said, known);
  if (differing.length === 0 && !saysOtherwise) return { ...target, ...Object.fromEntries(added) };
  const otherwise = said === undefined ? differing : [...differing, [sourceKey, said]];
  return {
    ...target,
    ...Object.fromEntries(added),
    [sourceKey]: { ...asObject(known), ...Object.fromEntries(otherwise) },
  };
}

function asObject(known: Metadata[string] | undefined): Metadata {
  if (known === undefined) return {};
  const isObject = typeof known === 'object' && known !== null && !Array.isArray(known);
  return isObject ? known : { [targetKey]: known };
}

const utf8 = new TextEncoder();

function isTooLarge({ metadata }: FactVersion): boolean {
  if (metadata === null) return false;
  const text = JSON.stringify(metadata);
  return text.length > maxMetadataBytes || utf8.encode(text).length > maxMetadataBytes;
}
