import { compareText } from '../base/text-order.ts';
import type { FactRow, FactStore } from '../store/fact-store.ts';
import { tupleAt, Tuples } from '../store/tuples.ts';
import { renderAtom } from '../language/print.ts';
import { relationKey } from '../language/terms.ts';
import { demand, type Pacer, settle } from '../datalog/tables/evaluation.ts';
import { apart } from '../datalog/model/fact-overlay.ts';
import { type Candidates, isCandidate } from '../datalog/model/known-conclusions.ts';
import type { PinnedReader, Reasoner } from '../datalog/maintain/reasoner.ts';
import { viewKey } from '../datalog/model/reader.ts';
import type { TableSet } from '../datalog/tables/table-set.ts';
import type { Relation, Table } from '../datalog/model/table.ts';

/**
 * Dependents of a retraction: conclusions that were true before it and are no longer.
 *
 * Candidates are earlier derivations. Each is re-derived from the current facts for the same demand; what does not come
 * back is gone. Candidates from tables that an earlier change had dropped are also checked in the state before the
 * retraction. Checking the past caches nothing; what is still true stays cached, unless the reader of `after` has an
 * overlay.
 */

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
export async function withdrawnBy(change: Retraction, pacer: Pacer): Promise<string[]> {
  const { reasoner, facts, retracted, candidates } = change;
  const lost = new Map<string, Lost>();
  for (const each of change.lost)
    for (let row = 0; row < each.count; row++)
      note(each, tupleAt(each.rows, row, new Int32Array(each.arity)), lost);
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
  const gone = new Set(retracted.map((fact) => rendered(fact.relation, facts.argsOf(fact))));
  const atoms = new Set<string>();
  const texts = constants ?? facts.dictionary;
  for (const { of, tuple } of lost.values()) {
    const atom = rendered(
      of,
      Array.from(tuple, (id) => texts.text(id)),
    );
    if (!gone.has(atom)) atoms.add(atom);
  }
  return [...atoms].sort(compareText);
}

/** Those of the rows that the reader no longer derives, by relation. Refused by a limit if that takes too long. */
export async function lostAmong(
  reasoner: Reasoner,
  reader: PinnedReader,
  candidates: readonly Candidates[],
  pacer: Pacer,
): Promise<Candidates[]> {
  const lost = new Map<string, Lost>();
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
    if (table.rows.rows.find(within(set, tupleAt(rows, row, tuple))) < 0) note(candidate, tuple, lost);
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
export function demandFor(
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
function note(candidate: Candidates, tuple: Int32Array, lost: Map<string, Lost>): void {
  const { view, predicate, arity, negated, isCertain } = candidate;
  const key = `${viewKey(view)}\n${candidate.relation}\n${tuple.join(',')}`;
  const known = lost.get(key);
  if (known === undefined || (!known.isCertain && isCertain))
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

function rendered(of: { predicate: string; negated: boolean }, args: string[]): string {
  return renderAtom({ predicate: of.predicate, args, negated: of.negated });
}
