import { EngineError } from './base/errors.ts';
import type { RetractInput, RetractPatternOutcome } from './contract/facts.ts';
import { type BrowseContext, scopeChoice } from './browse.ts';
import { everyConclusion, withdrawnBy } from './dependents.ts';
import type { FactPattern, FactRow, ScopeChoice } from './facts/fact-store.ts';
import { relationKey } from './logic/terms.ts';
import type { Candidates } from './solve/known-conclusions.ts';

/** What a retraction takes with it, for the retraction that was made and for one that is only tried. */

export function patternOf(input: RetractInput): FactPattern {
  const { predicate, args, truthVal } = input;
  return { predicate, args, truthVal, scope: scopeChoice(input) };
}

/** The relations that these facts are of. */
export function relationsOf(facts: readonly FactRow[]): Set<string> {
  return new Set(
    facts.map(({ relation }) => relationKey(relation.predicate, relation.arity, relation.negated)),
  );
}

const mostRendered = 100;

/** Conclusions that a change withdrew, rendered, by code point; not complete where a limit ended the search. */
export interface Dependents {
  readonly atoms: readonly string[];
  readonly isComplete: boolean;
}

export const noDependents: Dependents = { atoms: [], isComplete: true };

/** The fields of an answer that tell of dependents. */
export function dependentsPart({
  atoms,
  isComplete,
}: Dependents): Pick<RetractPatternOutcome, 'dependents' | 'dependentsCount' | 'dependentsComplete'> {
  return {
    dependents: atoms.slice(0, mostRendered),
    dependentsCount: atoms.length,
    dependentsComplete: isComplete,
  };
}

/**
 * The dependents part of an answer, among what was known. `after` reads the state after the change, `before` the one
 * before it. Where a limit ends the search nothing is claimed, and `dependentsComplete` is false.
 */
export async function dependentsAmong(
  after: BrowseContext,
  before: BrowseContext,
  candidates: readonly Candidates[],
  retracted: readonly FactRow[],
): Promise<Dependents> {
  if (candidates.length === 0) return noDependents;
  const { reasoner, reader, pacer, tenant } = after;
  const change = {
    reasoner,
    facts: tenant.facts,
    before: before.reader,
    after: reader,
    retracted,
    candidates,
  };
  return withinLimits(async () => {
    return { atoms: await withdrawnBy(change, pacer), isComplete: true };
  });
}

/** As `dependentsAmong`, among every conclusion that the retracted facts can have had a part in. */
export async function dependentsAmongAll(
  after: BrowseContext,
  before: BrowseContext,
  retracted: readonly FactRow[],
): Promise<Dependents> {
  const { reasoner, pacer } = after;
  const relations = before.reader.program.reachedFrom(relationsOf(retracted));
  return withinLimits(async () => {
    const candidates = await everyConclusion(
      reasoner,
      before.reader,
      relations,
      viewsOf(after, retracted),
      pacer,
    );
    return dependentsAmong(after, before, candidates, retracted);
  });
}

async function withinLimits(search: () => Promise<Dependents>): Promise<Dependents> {
  try {
    return await search();
  } catch (error) {
    if (error instanceof EngineError && error.code === 'InferenceLimitExceeded')
      return { ...noDependents, isComplete: false };
    throw error;
  }
}

/** The views in which the facts were seen. */
function viewsOf({ tenant }: BrowseContext, retracted: readonly FactRow[]): ScopeChoice[] {
  const views: ScopeChoice[] = [{ kind: 'all' }];
  const scopes = new Set(retracted.map((fact) => tenant.facts.scopeOf(fact)));
  for (const scope of scopes) views.push(scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope });
  return views;
}
