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
import type { Losses } from '../datalog/maintain/withdrawals.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import type { Operation } from '../state/operation.ts';

/** The consequences of a retraction, made or previewed. */

/** The pattern of the facts to retract. */
export function patternOf(input: RetractInput): FactPattern {
  const { predicate, args, truthVal } = input;
  return { predicate, args, truthVal, scope: scopeChoice(input) };
}

/** The relations of these facts. */
export function relationsOf(facts: readonly FactRow[]): Set<string> {
  const relations = new Set<FactRow['relation']>();
  for (const { relation } of facts) relations.add(relation);
  return new Set(
    Array.from(relations, ({ predicate, arity, negated }) => relationKey(predicate, arity, negated)),
  );
}

/** The relations that a retraction can affect. */
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

const maxRendered = 100;

/** Withdrawn conclusions as text, by code point; incomplete if a limit ended the search. */
export interface Dependents {
  readonly atoms: readonly string[];
  readonly isComplete: boolean;
  /** `predicate/arity` of relations that could not be worked out. */
  readonly notWorkedOut?: readonly string[];
}

export const noDependents: Dependents = { atoms: [], isComplete: true };

/** The fields of an answer about dependents. */
export function dependentsPart({
  atoms,
  isComplete,
  notWorkedOut = [],
}: Dependents): Omit<RetractPatternOutcome, 'status' | 'retracted' | 'generation' | 'dryRun'> {
  return {
    dependents: atoms.slice(0, maxRendered),
    dependentsCount: atoms.length,
    dependentsComplete: isComplete,
    ...completenessPart({ notWorkedOut }),
  };
}

/** What was known right before a change, and the tables' losses since. */
export interface KnownBefore {
  /** Conclusions that may have been withdrawn. */
  readonly candidates: readonly Candidates[];
  /** Losses of the shared tables; null if `candidates` includes all their rows. */
  readonly losses: Losses | null;
}

/**
 * The known conclusions of these relations, taken right before a change of facts, in its turn. The caller must end
 * `losses`.
 */
export function knownBefore(reasoner: Reasoner, relations: ReadonlySet<string>): KnownBefore {
  return { candidates: reasoner.known.take(relations), losses: reasoner.watchLosses() };
}

/** How long to wait for tables that questions are using, in milliseconds. */
const maxWaitMs = 1000;

/**
 * Finds the dependents among the conclusions known before. `after` and `before` read the states after and before the
 * change, `now` the current one. If a limit ends the search, nothing is listed and `dependentsComplete` is false.
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
    const isComplete = losses === null || (await maintainedThrough(reasoner, reader.version, now, pacer));
    const dropped = losses?.dropped ?? [];
    const lost = losses?.candidates() ?? [];
    const isOurs = losses === null || losses.through <= reader.version;
    const change = {
      reasoner,
      facts: tenant.facts,
      before: before.reader,
      after: reader,
      retracted,
      // A later write may have withdrawn these, so they are only candidates.
      candidates: [...candidates, ...dropped, ...(isOurs ? [] : lost)],
      lost: isOurs ? lost : [],
    };
    return { atoms: await withdrawnBy(change, pacer), isComplete };
  });
}

/** Maintains the shared tables up to this version. False if questions use them for too long. */
async function maintainedThrough(
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
    if (waited > maxWaitMs) return false;
  }
  return true;
}

/**
 * Finds all conclusions that a retraction withdraws, in the views of the facts, whether or not anyone asked for them,
 * within the limits. Caches nothing.
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

/** The views that included the facts. */
function viewsOf({ tenant }: ReadContext, retracted: readonly FactRow[]): ScopeChoice[] {
  const views: ScopeChoice[] = [{ kind: 'all' }];
  const scopes = new Set(retracted.map((fact) => tenant.facts.scopeOf(fact)));
  for (const scope of scopes) views.push(scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope });
  return views;
}
