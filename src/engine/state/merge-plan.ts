import { present } from '../base/assert.ts';
import type { Merged, Resolution } from '../contract/scopes.ts';
import { type FactRow, type FactStore, type FactVersion } from '../store/fact-store.ts';
import { areAlike, sameJson } from '../store/fact-to-store.ts';
import type { DeclarationStore } from '../store/declaration-store.ts';
import { type PlannedChanges, settleKeys } from './merge-keys.ts';
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
 * The changes that a merge makes to its target: a pure function of the stored facts. The check before the write, a dry
 * run and `apply` all use it.
 *
 * Each difference between the two sides is settled once: by a resolution for its atom; otherwise, with a base
 * (three-way merge), by which side changed since; otherwise, for a conflict, by the strategy. The caller refuses what
 * remains unsettled.
 */
export interface MergePlan extends PlannedChanges {
  /** The recorded base of the fork, if that is the base. */
  readonly ancestor: Merged['ancestor'];
  /** A fact whose merged metadata would exceed the limit. */
  tooLarge: FactRow | null;
  /** Indexes in the request: resolutions of atoms that neither scope has, and repeated resolutions of one atom. */
  readonly unmatchedResolutions: number[];
  readonly duplicateResolutions: number[];
}

type Take = Resolution['take'];

/** The current base of a merge; null: none. The caller has checked that a merge by the fork's base has one. */
export function baseOfMerge(
  facts: FactStore,
  { source, target, base }: Pick<MergeScopes, 'source' | 'target' | 'base'>,
  { generation }: ReadMoment,
): ResolvedBase | null {
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

/** The base of a merge, with its description for the answer. */
export interface ResolvedBase extends BaseOfMerge {
  readonly ancestor: MergePlan['ancestor'];
}

export type MergeBasePart = Pick<Merged, 'base' | 'ancestor'>;

/** The answer's fields about the base: as requested, and what the recorded base of a fork was. */
export function basePart(
  { base }: Pick<MergeScopes, 'base'>,
  { ancestor }: Pick<MergePlan, 'ancestor'>,
): MergeBasePart {
  if (base === null || typeof base === 'object') return { base: base === null ? null : 'fork', ancestor };
  return { base: base === 'fork' ? { scope: base } : base, ancestor };
}

/** Plans the merge at this generation and time, in slices. `declarations`: with the keys that it must not break. */
export function* planMerge(
  facts: FactStore,
  operation: MergeScopes,
  base: ResolvedBase | null,
  moment: ReadMoment,
  declarations: DeclarationStore,
): Generator<'more', MergePlan, undefined> {
  const { source, target } = operation;
  const sides = [facts.scopeNumber(source), facts.scopeNumber(target)];
  const joined = yield* joinScopes(facts, sides, moment, base);
  const plan = emptyPlan(base?.ancestor);
  const takes = yield* takesByAtom(facts, joined, operation.resolutions, plan);
  const isOfToday = operation.revision !== undefined;
  yield* compareSides(facts, joined, (difference) => {
    const { evident, opposite } = evidentOf(facts, difference, base !== null, isOfToday);
    // A conflict is reported with the opposing fact.
    const conflict = opposite === null ? difference : { ...difference, target: opposite };
    if (evident === null) plan.conflicts.push(conflict);
    const chosen = takes.get(difference.atoms)?.get(difference.atom);
    if (chosen !== undefined && evident === null) plan.resolved++;
    const take = chosen ?? evident ?? byStrategy[operation.strategy];
    if (take === null) plan.unsettled.push(conflict);
    else if (opposite !== null && take === 'target') plan.kept++;
    else addToPlan(facts, difference, take, evident === null, plan);
  });
  if (operation.revision === 3 && declarations.size > 0)
    yield* settleKeys(facts, joined, declarations, { takes, strategy: operation.strategy }, plan);
  return plan;
}

/** A plan that changes nothing. */
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
 * How a difference settles without resolutions and strategy. `evident`: the side to take, null for a conflict;
 * `opposite`: the target's fact that conflicts with the fact to add, else null.
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

/** Settles a two-way difference; null: a conflict. */
function settledWithoutBase({ source, target }: Difference): 'source' | 'target' | null {
  if (source === null) return 'target';
  return target === null ? 'source' : null;
}

/**
 * The target's opposite of a fact that only the source has; null: none. The source then has both truth values: if each
 * side has the atom in one truth value, the two form a pair.
 */
function oppositeInTarget({ atoms, atom, source, target }: Difference): FactRow | null {
  if (source === null || target !== null) return null;
  return atoms.fact(atom, targetSide, !source.relation.negated);
}

/** The only side that changed since the base; null: both changed. */
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

/** Adds the effect of taking this side to the plan. */
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

/** Resolutions looked up between two slices. */
const resolutionsInSlice = 512;

/** The requested resolutions, by the atom's row in the join. */
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

/** The atom's row in the join; -1 if neither scope has it. */
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
 * Merges two versions of a fact, for merges that keep both.
 *
 * The merged validity spans both. The target's metadata wins; keys only in the source are added; differing source
 * values go under `_source`. Merging the result with the source again changes nothing, so a `_source` of the source's
 * own also goes under `_source`, unless it can be taken over as it is.
 */
export function mergedVersion(source: FactVersion, target: FactVersion): FactVersion {
  return {
    from: Math.min(source.from, target.from),
    until: Math.max(source.until, target.until),
    metadata: mergedMetadata(source.metadata, target.metadata),
  };
}

/** Metadata key of the source's differing values. */
const sourceKey = '_source';
/** Metadata key of the target's own value under `_source`, if that is not an object. */
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

/** True if the metadata exceeds the limit in UTF-8. */
export function isTooLarge({ metadata }: FactVersion): boolean {
  if (metadata === null) return false;
  const text = JSON.stringify(metadata);
  return text.length > maxMetadataBytes || utf8.encode(text).length > maxMetadataBytes;
}
