import { expect } from 'vitest';
import type { ScopeChoice } from '../store/fact-store.ts';
import { demand, type Pacer, settle } from '../datalog/tables/evaluation.ts';
import type { GroundAtom } from '../datalog/explain/proof.ts';
import { type Reader, sees, viewKey } from '../datalog/model/reader.ts';
import type { Support } from '../datalog/model/derived.ts';
import { TableSet } from '../datalog/tables/table-set.ts';
import type { Table, Observer } from '../datalog/model/table.ts';

/**
 * Invariants of a maintained set of tables at a fixpoint, whatever changed before.
 *
 * Its tables contain what is derived afresh for the same demand, with the same heights. Each live row depends on live
 * premises, and none on itself, however long the cycle. Nothing is left in a queue.
 */

const nothing = (): void => {};

/** A set with watchers uses the rules as taught: no recursion is rewritten, no row is in a bitset. */
const silent: Observer = {
  bytes: 0,
  table: nothing,
  compiling: nothing,
  demands: () => nothing,
  concludes: () => nothing,
  timed: (consumer) => consumer,
  reached: nothing,
  question: nothing,
  asked: nothing,
};

/**
 * Compares every table with the same one derived afresh for the reader. Bindings may be passed on in another order
 * there, so that one may contain more than was demanded of the other.
 */
export async function expectTruth(set: TableSet, reader: Reader, pacer: Pacer): Promise<void> {
  const { facts, program, withHeights } = set;
  const fresh = new TableSet(
    facts,
    program,
    { withHeights, isMaintained: false, observer: silent },
    new Map(),
  );
  const compared: { table: Table; twin: Table; demanded: Set<string> }[] = [];
  for (const table of set.tables.values()) {
    const twin = fresh.table(table, table.boundPositions);
    const demanded = new Set<string>();
    const { rows } = table.demand;
    for (let row = 0; row < rows.count; row++) {
      const texts = textsAt(set, rows.columns, row);
      demanded.add(JSON.stringify(texts));
      demand(
        fresh,
        twin,
        Int32Array.from(texts, (text) => fresh.constants.idOf(text)),
      );
    }
    compared.push({ table, twin, demanded });
  }
  await settle(fresh, reader, pacer);
  for (const { table, twin, demanded } of compared)
    expect(
      contents(set, table, null),
      `${JSON.stringify(table.key)} maintained, against derived afresh`,
    ).toEqual(contents(fresh, twin, demanded));
}

/** The live rows as text, with their heights: all, or the demanded ones. */
function contents(set: TableSet, table: Table, demanded: ReadonlySet<string> | null): string[] {
  const { rows } = table.rows;
  const found: string[] = [];
  for (let row = 0; row < rows.count; row++) {
    if (rows.isDead(row)) continue;
    const texts = textsAt(set, rows.columns, row);
    const key = JSON.stringify(table.boundPositions.map((position) => texts[position]));
    if (demanded !== null && !demanded.has(key)) continue;
    const height = rows.heights === null ? '' : ` at ${rows.heights.of[row]}`;
    found.push(JSON.stringify(texts) + height);
  }
  return found.sort();
}

/** The atoms in the set's tables, by `atomKey`. */
export function atomsOf(set: TableSet): Map<string, GroundAtom> {
  const atoms = new Map<string, GroundAtom>();
  for (const { view, relation, predicate, negated, rows } of set.tables.values())
    for (let row = 0; row < rows.rows.count; row++) {
      if (rows.rows.isDead(row)) continue;
      const args = textsAt(set, rows.rows.columns, row);
      atoms.set(atomKey(view, relation, args), { view, literal: { predicate, args, negated, naf: false } });
    }
  return atoms;
}

/** Text that is equal for the same atom in the same view. */
export function atomKey(view: ScopeChoice, relation: string, args: readonly string[]): string {
  return JSON.stringify([viewKey(view), relation, args]);
}

function textsAt(set: TableSet, columns: readonly Int32Array[], row: number): string[] {
  return columns.map((column) => set.constants.text(column[row] as number));
}

/** Checks queues, counters and justifications. `numbers` are those of all facts ever stored. */
export function expectOrder(set: TableSet, reader: Reader, numbers: Iterable<number>): void {
  expect(set.work.isEmpty, 'no work is left').toBe(true);
  expect(set.memory.held, 'the running total of bytes').toBe(measuredBytes(set));
  for (const key of reader.facts.relations.keys())
    for (const news of set.deltasOf(key)) expect(news.rows, `news of ${key}`).toEqual([]);
  for (const support of set.justifications.supports) expectRest(support);
  expectReasons(set);
  expectFactsSeen(set, reader, numbers);
}

/** Bytes of everything in the set, one by one. */
function measuredBytes({ tables, constants, memory, justifications }: TableSet): number {
  let bytes = justifications.bytes + (constants.memory === memory ? constants.bytes : 0);
  for (const { demand, rows, extra } of tables.values())
    for (const derived of [demand, rows, ...extra]) bytes += derived.rows.bytes;
  return bytes;
}

/** Nothing of the relation waits, and its counters are correct. */
function expectRest({ derived, overdeleted, toRederive, deleted, rederived }: Support): void {
  const { rows, name, again, done, claimed, queued } = derived;
  expect({ overdeleted, toRederive, deleted, rederived, again, queued }, `queues of ${name}`).toEqual({
    overdeleted: [],
    toRederive: [],
    deleted: [],
    rederived: [],
    again: [],
    queued: 0,
  });
  expect({ done, claimed }, `what was joined of ${name}`).toEqual({ done: rows.count, claimed: rows.count });
  const dead = Array.from(rows.dead ?? [])
    .slice(0, rows.count)
    .filter((state) => state !== 0);
  expect(rows.deadCount, `dead rows of ${name}`).toBe(dead.length);
  expect(dead.filter((state) => state === 1).length, `rows of ${name} that are dying`).toBe(0);
}

/** No live row depends on a dead one, and none on itself. */
function expectReasons({ justifications }: TableSet): void {
  const offsets: number[] = [];
  let count = 0;
  for (const { derived } of justifications.supports) {
    offsets.push(count);
    count += derived.rows.count;
  }
  const premises = new Int32Array(count);
  const dependents: number[][] = [];
  for (const [number, support] of justifications.supports.entries())
    for (let row = 0; row < support.derived.rows.count; row++) {
      const found: number[] = [];
      justifications.dependents(support, row, (target, at) => {
        const place = (offsets[target.number] as number) + at;
        found.push(place);
        premises[place] = (premises[place] as number) + 1;
      });
      dependents[(offsets[number] as number) + row] = found;
      if (support.derived.rows.isDead(row))
        expect(found.length, `rows that depend on a dead row of ${support.derived.name}`).toBe(0);
    }
  const free = [...premises.keys()].filter((place) => premises[place] === 0);
  let reached = 0;
  for (let next = free.pop(); next !== undefined; next = free.pop()) {
    reached++;
    for (const place of dependents[next] as number[]) {
      premises[place] = (premises[place] as number) - 1;
      if (premises[place] === 0) free.push(place);
    }
  }
  expect(count - reached, 'rows that depend on themselves').toBe(0);
}

/** No live row depends on a fact of which the reader sees no version. */
function expectFactsSeen(
  { facts, justifications }: TableSet,
  reader: Reader,
  numbers: Iterable<number>,
): void {
  const seen = new Set<number>();
  for (const relation of facts.relations.values())
    for (let row = 0; row < relation.count; row++)
      if (sees(reader, relation, row)) seen.add(relation.number[row] as number);
  for (const number of numbers)
    if (!seen.has(number))
      justifications.dependentsOfFact(number, (target) =>
        expect.fail(`a row of ${target.derived.name} depends on an invisible fact: number ${number}`),
      );
}
