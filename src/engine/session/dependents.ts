import { TextMap, TextSet } from '../base/text-map.ts';
import { TextComparisons } from '../base/text-order.ts';
import type { FactRow, FactStore, FactPattern, ScopeChoice } from '../store/fact-store.ts';
import { tupleAt, Tuples } from '../store/tuples.ts';
import { renderAtom, renderIdentity } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';
import { demand, type Pacer, settle } from '../datalog/tables/evaluation.ts';
import { apart } from '../datalog/model/fact-overlay.ts';
import { type Candidates, isCandidate } from '../datalog/model/known-conclusions.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import { viewKey } from '../datalog/model/reader.ts';
import type { TableSet } from '../datalog/tables/table-set.ts';
import type { Relation, Table } from '../datalog/model/table.ts';
import { sortedOrder } from '../datalog/tables/sorted.ts';
import { ByteMeter } from '../base/byte-meter.ts';
import { EngineError } from '../base/errors.ts';
import type { RetractInput, RetractPatternOutcome } from '../contract/facts.ts';
import { type ReadContext, scopeChoice } from './read-context.ts';
import { type ConsequenceLimits, consequencesOf, completenessPart } from './consequences.ts';
import type { Losses } from '../datalog/maintain/withdrawals.ts';
import type { Operation } from '../state/operation.ts';

/**
 * Dependents of a retraction: conclusions that were true before it, made or previewed, and are no longer.
 *
 * Candidates are earlier derivations. Each is re-derived from the current facts for the same demand; what does not come
 * back is gone. Candidates from tables that an earlier change had dropped are also checked in the state before the
 * retraction. Checking the past caches nothing; what is still true stays cached, unless the reader of `after` has an
 * overlay.
 */

/** The pattern of the facts to retract. */
export function patternOf(input: RetractInput): FactPattern {
  const { predicate, args, truthVal } = input;
  return { predicate, args, truthVal, scope: scopeChoice(input) };
}

/** The relations of these facts. */
export function relationsOf(facts: Iterable<FactRow>): Set<string> {
  const relations = new Set<FactRow['relation']>();
  let last: FactRow['relation'] | null = null;
  for (const { relation } of facts) {
    // Facts of one relation mostly come together.
    if (relation !== last) relations.add(relation);
    last = relation;
  }
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
  /** False if more may have been withdrawn: conclusions of another thread, too many to list. */
  readonly isListed: boolean;
}

/**
 * The known conclusions of these relations, taken right before a change of facts, in its turn. The caller must end
 * `losses`.
 */
export function knownBefore(reasoner: Reasoner, relations: ReadonlySet<string>): KnownBefore {
  const isListed = !reasoner.withdrawals.hasUnlisted(relations);
  return { candidates: reasoner.known.take(relations), losses: reasoner.watchLosses(), isListed };
}

/** The same before a change of rules or one that is supposed: every row of the tables is a candidate. */
export function everKnown(
  reasoner: Reasoner,
  relations: ReadonlySet<string>,
  keepKnown = false,
): KnownBefore {
  const isListed = !reasoner.withdrawals.hasUnlisted(relations);
  return { candidates: reasoner.candidates(relations, keepKnown), losses: null, isListed };
}

/** For a write whose dependents are found otherwise. */
export const noneKnown: KnownBefore = { candidates: [], losses: null, isListed: true };

/** How long to wait for tables that questions are using, in milliseconds. */
const maxWaitMs = 1000;

/**
 * Finds the dependents among the conclusions known before. `after` and `before` read the states after and before the
 * change, `now` the current one. If a limit ends the search, nothing is listed and `dependentsComplete` is false.
 */
export async function dependentsAmong(
  after: ReadContext,
  before: ReadContext,
  { candidates, losses, isListed }: KnownBefore,
  retracted: readonly FactRow[],
  now: () => PinnedReader = () => after.reader,
): Promise<Dependents> {
  const { reasoner, reader, pacer, tenant } = after;
  return withinLimits(async () => {
    const isMaintained = losses === null || (await maintainedThrough(reasoner, reader.version, now, pacer));
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
    return { atoms: await withdrawnBy(change, pacer), isComplete: isMaintained && isListed };
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
  const atoms = new Set(found.lostAtoms);
  for (const [index, fact] of retracted.entries()) {
    if ((index & 0x3ff) === 0x3ff) await after.pacer.rest();
    if (atoms.size > 0) atoms.delete(renderIdentity(facts.identityOf(fact)));
  }
  const { notWorkedOut } = found;
  return { atoms: [...atoms], isComplete: notWorkedOut.length === 0, notWorkedOut };
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
  const numbers = new Set<number>();
  for (const { relation, row } of retracted)
    numbers.add((relation.columns[relation.arity] as Int32Array)[row] as number);
  const scopes = Array.from(numbers, (number) => tenant.facts.scopeNames[number] ?? null);
  for (const scope of scopes) views.push(scope === null ? { kind: 'unscoped' } : { kind: 'scope', scope });
  return views;
}

/**
 * Up to this many candidates are checked one by one; more are checked by the argument with the fewest distinct values.
 */
const maxSingleCandidates = 100;

/** A retraction to find the dependents of. */
export interface Retraction {
  readonly reasoner: Reasoner;
  readonly facts: FactStore;
  readonly before: PinnedReader;
  readonly after: PinnedReader;
  readonly retracted: readonly FactRow[];
  /** With ids of the dictionary, or of the constants of the overlay of `after`. */
  readonly candidates: readonly Candidates[];
  /** Rows known to be withdrawn. */
  readonly lost: readonly Candidates[];
}

/** The candidates that the retraction withdrew, as sorted atoms. Refused by a limit if that takes too long. */
async function withdrawnBy(change: Retraction, pacer: Pacer): Promise<string[]> {
  const { reasoner, facts, retracted, candidates } = change;
  const lost = new TextMap<Lost>();
  for (const each of change.lost)
    for (let row = 0; row < each.count; row++) {
      note(each, tupleAt(each.rows, row, new Int32Array(each.arity)), lost, pacer);
      if ((row & 0xfff) === 0xfff) await pacer.breathe();
    }
  if (candidates.length > 0)
    await reasoner.evaluate(change.after, false, pacer, async (set) => {
      for (const candidate of withoutKnownTwice(candidates))
        await collectLost(candidate, set, change.after, pacer, lost);
    });
  const doubtful = [...lost.values()].filter((each) => !each.isCertain);
  const constants = change.after.overlay?.constants;
  const before = apart(change.before, constants);
  if (doubtful.length > 0)
    await reasoner.evaluate(before, false, pacer, async (set) => {
      for (const each of doubtful) {
        const table = set.table(each.of, allPositions(each.of.arity));
        demand(set, table, within(set, each.tuple));
      }
      await settle(set, before, pacer);
      for (const each of doubtful) {
        const table = set.table(each.of, allPositions(each.of.arity));
        if (table.rows.rows.find(within(set, each.tuple)) < 0) lost.delete(each.key);
      }
    });
  if (lost.size === 0) return [];
  const atoms = new TextSet();
  const texts = constants ?? facts.dictionary;
  const meter = new ByteMeter();
  for (const { of, tuple } of lost.values()) {
    const { predicate, negated } = of;
    const atom = renderAtom({ predicate, args: Array.from(tuple, (id) => texts.text(id)), negated });
    atoms.add(atom);
    pacer.memory.takeText(atom, bytesOfAtom);
    if (meter.counts(atom.length)) await pacer.breathe();
  }
  for (const fact of retracted) {
    const atom = renderIdentity(facts.identityOf(fact));
    atoms.delete(atom);
    if (meter.counts(atom.length)) await pacer.breathe();
  }
  const comparisons = new TextComparisons();
  const found = Array.from(atoms, (atom) => comparisons.see(atom));
  const byText = (left: number, right: number): number =>
    comparisons.compare(found[left] as string, found[right] as string);
  return Array.from(await sortedOrder(found.length, byText, pacer, comparisons), (at) => found[at] as string);
}

/** Those of the rows that the reader no longer derives, by relation. Refused by a limit if that takes too long. */
export async function lostAmong(
  reasoner: Reasoner,
  reader: PinnedReader,
  candidates: readonly Candidates[],
  pacer: Pacer,
): Promise<Candidates[]> {
  const lost = new TextMap<Lost>();
  await reasoner.evaluate(reader, false, pacer, async (set) => {
    for (const candidate of candidates) await collectLost(candidate, set, reader, pacer, lost);
  });
  const found = new Map<string, Candidates>();
  for (const { of, tuple } of lost.values()) {
    const relation = relationKey(of.predicate, of.arity, of.negated);
    const key = `${viewKey(of.view)}\n${relation}`;
    let entry = found.get(key);
    if (entry === undefined) {
      entry = {
        ...of,
        relation,
        rows: new Tuples(of.arity),
        count: 0,
        dead: null,
        table: null,
        isCertain: true,
      };
      found.set(key, entry);
    }
    entry.rows.insert(tuple);
  }
  return [...found.values()].map((each) => ({ ...each, count: each.rows.count }));
}

/** Bytes of a lost conclusion beside its key and its numbers, and of a listed atom beside its text. */
const bytesOfLost = 256;
const bytesOfAtom = 64;

interface Lost {
  readonly key: string;
  readonly of: Relation;
  readonly tuple: Int32Array;
  readonly isCertain: boolean;
}

async function collectLost(
  candidate: Candidates,
  set: TableSet,
  reader: PinnedReader,
  pacer: Pacer,
  lost: Map<string, Lost>,
): Promise<void> {
  const { view, predicate, arity, negated, rows, count } = candidate;
  const of: Relation = { view, predicate, arity, negated };
  let table = wholeTable(candidate, set);
  if (table === null) {
    const { boundPositions, demand: wanted } = candidate.table ?? demandFor(candidate);
    table = set.table(of, boundPositions);
    const key = new Int32Array(boundPositions.length);
    for (let row = 0; row < wanted.rows.count; row++)
      demand(set, table, within(set, tupleAt(wanted.rows, row, key)));
    await settle(set, reader, pacer);
  }
  const tuple = new Int32Array(arity);
  for (let row = 0; row < count; row++) {
    if (!isCandidate(candidate, row)) continue;
    if (table.rows.rows.find(within(set, tupleAt(rows, row, tuple))) < 0) note(candidate, tuple, lost, pacer);
    if ((row & 0xfff) === 0xfff) await pacer.breathe();
  }
}

/** A table with all rows of the candidates' relation; null: none. */
function wholeTable({ view, relation }: Candidates, set: TableSet): Table | null {
  const isWhole = (table: Table): boolean =>
    table.boundPositions.length === 0 && table.demand.settled > 0 && viewKey(table.view) === viewKey(view);
  return set.tablesOf(relation).find(isWhole) ?? null;
}

/** The demand for re-deriving candidates that came from several tables. */
function demandFor(
  candidate: Pick<Candidates, 'arity' | 'rows' | 'count'>,
): NonNullable<Candidates['table']> {
  const { arity, rows, count } = candidate;
  let best = { boundPositions: allPositions(arity), demand: { rows } };
  if (count <= maxSingleCandidates) return best;
  for (let position = 0; position < arity; position++) {
    const values = new Tuples(1);
    const key = new Int32Array(1);
    for (let row = 0; row < count; row++) {
      key[0] = (rows.columns[position] as Int32Array)[row] as number;
      values.insert(key);
    }
    if (values.count < best.demand.rows.count)
      best = { boundPositions: [position], demand: { rows: values } };
  }
  return best;
}

/** Records a row of the candidate as lost. */
function note(candidate: Candidates, tuple: Int32Array, lost: Map<string, Lost>, pacer: Pacer): void {
  const { view, predicate, arity, negated, isCertain } = candidate;
  const key = `${viewKey(view)}\n${candidate.relation}\n${tuple.join(',')}`;
  const known = lost.get(key);
  if (known !== undefined && (known.isCertain || !isCertain)) return;
  if (known === undefined) pacer.memory.take(bytesOfLost + key.length + arity * 4);
  lost.set(key, { key, of: { view, predicate, arity, negated }, tuple: tuple.slice(), isCertain });
}

/** The candidates without doubtful rows that others contain with certainty. */
function withoutKnownTwice(candidates: readonly Candidates[]): Candidates[] {
  const certain = candidates.filter((candidate) => candidate.isCertain);
  const doubtful = candidates.filter((candidate) => !candidate.isCertain);
  const rest = doubtful.map((candidate) => {
    const same = certain.filter(
      (each) => each.relation === candidate.relation && viewKey(each.view) === viewKey(candidate.view),
    );
    const rows = new Tuples(candidate.arity);
    const tuple = new Int32Array(candidate.arity);
    for (let row = 0; row < candidate.count; row++) {
      if (!isCandidate(candidate, row)) continue;
      tupleAt(candidate.rows, row, tuple);
      if (!same.some((each) => each.rows.find(tuple) >= 0)) rows.insert(tuple);
    }
    return { ...candidate, rows, count: rows.count, dead: null };
  });
  return [...certain, ...rest.filter((candidate) => candidate.count > 0)];
}

/** The tuple with the set's ids for the same constants. */
function within(set: TableSet, tuple: Int32Array): Int32Array {
  return set.constants.ownCount === 0 ? tuple : tuple.map((id) => set.constants.local(id));
}

function allPositions(arity: number): number[] {
  return Array.from({ length: arity }, (_, position) => position);
}
