import { EngineError } from './base/errors.ts';
import type { RetractInput, RetractPatternOutcome } from './contract/facts.ts';
import { type BrowseContext, scopeChoice } from './browse.ts';
import { everyConclusion, withdrawnBy } from './dependents.ts';
import type { FactPattern, FactRow, FactStore, ScopeChoice } from './facts/fact-store.ts';
import { relationKey } from './logic/terms.ts';
import type { Pacer } from './solve/evaluation.ts';
import { apart } from './solve/fact-overlay.ts';
import type { Candidates } from './solve/known-conclusions.ts';
import type { Losses } from './solve/losses.ts';
import type { PinnedReader, Reasoner } from './solve/reasoner.ts';
import type { Operation } from './operation.ts';

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

/** The relations that a retraction can touch. */
export function relationsAbout(operation: Operation, store: FactStore): Set<string> {
  if (operation.kind === 'retractById') {
    const fact = store.byId(operation.id);
    return fact === null ? new Set() : relationsOf([fact]);
  }
  if (operation.kind !== 'retract') return new Set();
  const { predicate, args } = operation.pattern;
  const both = [store.relation(predicate, args.length, false), store.relation(predicate, args.length, true)];
  return relationsOf(both.flatMap((relation) => (relation === null ? [] : [{ relation, row: 0 }])));
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

/** What was known right before a change, and what is watched since. */
export interface Known {
  /** What may have been withdrawn. */
  readonly candidates: readonly Candidates[];
  /** What the shared tables lose, null where `candidates` holds all that stands in them. */
  readonly losses: Losses | null;
}

/** What is known of these relations, in the turn of a change of facts, before it. `losses` is to be ended. */
export function knownBefore(reasoner: Reasoner, relations: ReadonlySet<string>): Known {
  return { candidates: reasoner.known.take(relations), losses: reasoner.watchLosses() };
}

/** How long the tables are waited for that a question is at, in milliseconds. */
const mostMsOfWaiting = 1000;

/**
 * The dependents part of an answer, among what was known. `after` reads the state after the change, `before` the one
 * before it, `now` whatever is there by now. Where a limit ends the search nothing is claimed, and
 * `dependentsComplete` is false.
 */
export async function dependentsAmong(
  after: BrowseContext,
  before: BrowseContext,
  { candidates, losses }: Known,
  retracted: readonly FactRow[],
  now: () => PinnedReader = () => after.reader,
): Promise<Dependents> {
  const { reasoner, reader, pacer, tenant } = after;
  return withinLimits(async () => {
    const isComplete = losses === null || (await keptUp(reasoner, reader.version, now, pacer));
    const dropped = losses?.dropped ?? [];
    const lost = losses?.candidates() ?? [];
    const isOurs = losses === null || losses.through <= reader.version;
    const change = {
      reasoner,
      facts: tenant.facts,
      before: before.reader,
      after: reader,
      retracted,
      // What went since then may have gone by a later write.
      candidates: [...candidates, ...dropped, ...(isOurs ? [] : lost)],
      lost: isOurs ? lost : [],
    };
    return { atoms: await withdrawnBy(change, pacer), isComplete };
  });
}

/** Has the shared tables take in what changed up to this version. False where questions are at them for too long. */
async function keptUp(
  reasoner: Reasoner,
  version: number,
  now: () => PinnedReader,
  pacer: Pacer,
): Promise<boolean> {
  let waited = 0;
  while (reasoner.trueTo < version) {
    await reasoner.keepUp(now(), pacer);
    if (!reasoner.isInUse) continue;
    const start = pacer.elapsedMs;
    await pacer.rest();
    waited += pacer.elapsedMs - start;
    if (waited > mostMsOfWaiting) return false;
  }
  return true;
}

/** As `dependentsAmong`, among every conclusion that the retracted facts can have had a part in. Makes nothing known. */
export async function dependentsAmongAll(
  after: BrowseContext,
  before: BrowseContext,
  retracted: readonly FactRow[],
): Promise<Dependents> {
  const { reasoner, pacer } = after;
  const relations = before.reader.program.reachedFrom(relationsOf(retracted));
  const afterApart = { ...after, reader: apart(after.reader) };
  const was = apart(before.reader, afterApart.reader.overlay.constants);
  return withinLimits(async () => {
    const candidates = await everyConclusion(reasoner, was, relations, viewsOf(after, retracted), pacer);
    return dependentsAmong(afterApart, { ...before, reader: was }, { candidates, losses: null }, retracted);
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
