import { EngineError } from '../base/errors.ts';
import type { RetractInput, RetractPatternOutcome } from '../contract/facts.ts';
import { type ReadContext, scopeChoice } from './read-context.ts';
import { type ConsequenceLimits, consequencesOf, completenessPart } from './consequences.ts';
import { withdrawnBy } from './dependents.ts';
import type { FactPattern, FactRow, FactStore, ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';
import type { Pacer } from '../datalog/tables/evaluation.ts';
import type { Candidates } from '../datalog/model/known-conclusions.ts';
import type { Losses } from '../datalog/model/delta.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import type { Operation } from '../state/operation.ts';

/** What a retraction takes with it, for the retraction that was made and for one that is only tried. */

export function patternOf(input: RetractInput): FactPattern {
  const { predicate, args, truthVal } = input;
  return { predicate, args, truthVal, scope: scopeChoice(input) };
}

/** The relations that these facts are of. */
export function relationsOf(facts: readonly FactRow[]): Set<string> {
  const relations = new Set<FactRow['relation']>();
  for (const { relation } of facts) relations.add(relation);
  return new Set(
    Array.from(relations, ({ predicate, arity, negated }) => relationKey(predicate, arity, negated)),
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
  /** `predicate/arity` of what was to be worked out and is not. */
  readonly notWorkedOut?: readonly string[];
}

export const noDependents: Dependents = { atoms: [], isComplete: true };

/** The fields of an answer that tell of dependents. */
export function dependentsPart({
  atoms,
  isComplete,
  notWorkedOut = [],
}: Dependents): Omit<RetractPatternOutcome, 'status' | 'retracted' | 'generation' | 'dryRun'> {
  return {
    dependents: atoms.slice(0, mostRendered),
    dependentsCount: atoms.length,
    dependentsComplete: isComplete,
    ...completenessPart({ notWorkedOut }),
  };
}

/** What was known right before a change, and what is watched since. */
export interface KnownBefore {
  /** What may have been withdrawn. */
  readonly candidates: readonly Candidates[];
  /** What the shared tables lose, null where `candidates` holds all that stands in them. */
  readonly losses: Losses | null;
}

/** What is known of these relations, in the turn of a change of facts, before it. `losses` is to be ended. */
export function knownBefore(reasoner: Reasoner, relations: ReadonlySet<string>): KnownBefore {
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
  after: ReadContext,
  before: ReadContext,
  { candidates, losses }: KnownBefore,
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
  while (reasoner.validThrough < version) {
    await reasoner.catchUp(now(), pacer);
    if (!reasoner.isInUse) continue;
    const start = pacer.elapsedMs;
    await pacer.rest();
    waited += pacer.elapsedMs - start;
    if (waited > mostMsOfWaiting) return false;
  }
  return true;
}

/**
 * Every conclusion that a retraction takes, in the views in which the facts were seen, whether or not anybody asked for
 * it; as far as the limits go. Makes nothing known.
 */
export async function everyDependent(
  after: ReadContext,
  before: ReadContext,
  retracted: readonly FactRow[],
  limits: ConsequenceLimits,
): Promise<Dependents> {
  const { facts } = after.tenant;
  const relations = relationsOf(retracted);
  const views = viewsOf(after, retracted);
  const found = await consequencesOf({ before, after, relations, views, listsLost: true }, limits);
  const gone = new Set<string>();
  for (const [index, { relation, row }] of retracted.entries()) {
    if ((index & 0x3ff) === 0x3ff) await after.pacer.rest();
    const { predicate, negated } = relation;
    gone.add(renderAtom({ predicate, args: facts.argsOf({ relation, row }), negated }));
  }
  const atoms = [...new Set(found.lostAtoms)].filter((atom) => !gone.has(atom));
  const { notWorkedOut } = found;
  return { atoms, isComplete: notWorkedOut.length === 0, notWorkedOut };
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
function viewsOf({ tenant }: ReadContext, retracted: readonly FactRow[]): ScopeChoice[] {
  const views: ScopeChoice[] = [{ kind: 'all' }];
  const scopes = new Set(retracted.map((fact) => tenant.facts.scopeOf(fact)));
  for (const scope of scopes) views.push(scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope });
  return views;
}
