import type { FactStore } from '../facts/fact-store.ts';
import { Tuples } from '../facts/tuples.ts';
import { renderAtom } from '../logic/print.ts';
import type { Pacer } from './evaluation.ts';
import { isCandidate, tupleAt } from './known-conclusions.ts';
import type { GroundAtom } from './proof.ts';
import { type Reader, sees } from './reader.ts';
import type { HeldTable } from './shared-tables.ts';
import type { Table } from './table.ts';

/**
 * Known conclusions that hold, to be looked through: how many there are, and which of them rest on a fact.
 *
 * What is looked through are tables with the rows that they had in one turn, so upkeep may go on meanwhile. Nothing is
 * derived here.
 */

/** How many conclusions of a relation are known, with one of them rendered. */
export interface KnownCount {
  readonly of: { readonly predicate: string; readonly arity: number; readonly negated: boolean };
  count: number;
  example: string | null;
}

/** Distinct conclusions that are not stored, by relation, whatever the view. */
export async function countByRelation(
  held: readonly HeldTable[],
  reader: Reader,
  pacer: Pacer,
): Promise<KnownCount[]> {
  const found = new Map<string, KnownCount & { seen: Tuples }>();
  const { facts } = reader;
  for (const { table, rows, count, dead } of held) {
    const of = { predicate: table.predicate, arity: table.arity, negated: table.negated };
    let entry = found.get(table.relation);
    if (entry === undefined)
      found.set(table.relation, (entry = { of, count: 0, example: null, seen: new Tuples(of.arity) }));
    const tuple = new Int32Array(of.arity);
    for (let row = 0; row < count; row++) {
      if ((row & 0x3fff) === 0x3fff) await pacer.breathe();
      if (!isCandidate({ dead }, row)) continue;
      tupleAt(rows, row, tuple);
      if (entry.seen.insert(tuple) < 0 || isStored(table, tuple, reader)) continue;
      entry.count++;
      entry.example ??= renderAtom({ ...of, args: textsOf(facts, tuple) });
    }
  }
  return [...found.values()].filter((entry) => entry.count > 0);
}

const mostMsForDependents = 1000;
const goalsAtOnce = 256;

/**
 * Of the conclusions in these tables, rendered, those whose canonical proof uses the stored fact: as many as a second
 * finds. `dependentsOf` tells it of a few of them.
 */
export async function provedBy(
  held: readonly HeldTable[],
  { facts }: Reader,
  pacer: Pacer,
  dependentsOf: (goals: GroundAtom[]) => Promise<Iterable<string>>,
): Promise<Set<string>> {
  const used = new Set<string>();
  for (const each of held)
    for (let at = 0; at < each.count && pacer.elapsedMs < mostMsForDependents; at += goalsAtOnce) {
      const goals = goalsOf(each, facts, at, Math.min(each.count, at + goalsAtOnce));
      for (const atom of await dependentsOf(goals)) used.add(atom);
    }
  return used;
}

/** The rows from `start` to `end` of a table as atoms. */
function goalsOf(
  { table, rows, dead }: HeldTable,
  facts: FactStore,
  start: number,
  end: number,
): GroundAtom[] {
  const { view, predicate, arity, negated } = table;
  const tuple = new Int32Array(arity);
  const goals: GroundAtom[] = [];
  for (let row = start; row < end; row++) {
    if (!isCandidate({ dead }, row)) continue;
    const args = textsOf(facts, tupleAt(rows, row, tuple));
    goals.push({ view, literal: { predicate, args, negated, naf: false } });
  }
  return goals;
}

function textsOf({ dictionary }: FactStore, tuple: Int32Array): string[] {
  return Array.from(tuple, (id) => dictionary.text(id));
}

function isStored(of: Table, tuple: Int32Array, reader: Reader): boolean {
  const { facts, generation } = reader;
  const relation = facts.relation(of.predicate, of.arity, of.negated);
  if (relation === null) return false;
  const rows = facts.rowsOf(relation, tuple, { kind: 'all' });
  return rows.some((newest) => {
    const row = relation.versionAt(newest, generation);
    return row >= 0 && sees(reader, relation, row);
  });
}
