import { assert } from './base/assert.ts';
import type { BrowseContext } from './browse.ts';
import { demandFor } from './dependents.ts';
import { Tuples } from './facts/tuples.ts';
import type { Constants } from './solve/constants.ts';
import { demand, type Pacer, settle } from './solve/evaluation.ts';
import { apart } from './solve/fact-overlay.ts';
import { type Demand, isCandidate, tupleAt } from './solve/known-conclusions.ts';
import type { Holder } from './solve/memory-budget.ts';
import { matching, type Overlay, viewKey } from './solve/reader.ts';
import type { PinnedReader, Reasoner } from './solve/reasoner.ts';
import type { Relation, Table } from './solve/table.ts';
import type { TableSet } from './solve/table-set.ts';

/**
 * How many known conclusions a change would bring and take.
 *
 * What was asked until now, and is remembered, is worked out in the state before and in the state after, in tables of its
 * own that share their constants, and the two are compared. Nothing is known by it afterwards. What the change cannot
 * reach is not looked at. A question is not remembered where it names a constant that nothing had, which answers it.
 */
export interface KnownChanges {
  /** Conclusions that hold after the change, are not stored then, and did not hold before. */
  readonly gained: number;
  /** Conclusions that held before the change, were not stored then, and do not hold after. */
  readonly lost: number;
}

/**
 * Compares two states of one tenant; `relations` are the keys of those whose facts or rules differ. A conclusion that is
 * known in several views counts once, where one of them gains or loses it; one that is stored in any scope is a fact.
 * Throws `InferenceLimitExceeded` where a limit of the pacer of `after` is met.
 */
export async function knownChanges(
  before: BrowseContext,
  after: BrowseContext,
  relations: ReadonlySet<string>,
): Promise<KnownChanges> {
  const { reasoner, pacer } = after;
  const reached = before.reader.program.reachedFrom(relations);
  for (const relation of after.reader.program.reachedFrom(relations)) reached.add(relation);
  const demands = reasoner.demands(reached);
  const then = apart(after.reader);
  const was = apart(before.reader, then.overlay.constants);
  assert(was.overlay.constants === then.overlay.constants, 'both states have the same constants');
  const kept: Conclusions[] = [];
  const holder: Holder = {
    get bytes() {
      return kept.reduce((sum, each) => sum + each.bytes, 0);
    },
    evict: () => false,
  };
  const { memory } = pacer.limits;
  try {
    for (const reader of [was, then]) {
      kept.push(await workedOut(demands, reasoner, reader, pacer));
      memory.use(holder);
    }
    const [old, now] = kept as [Conclusions, Conclusions];
    return {
      gained: await countMissing(now, old, then, pacer),
      lost: await countMissing(old, now, was, pacer),
    };
  } finally {
    memory.forget(holder);
  }
}

/** Conclusions and stored facts that were asked about, by view and relation. */
class Conclusions {
  readonly byView = new Map<string, Relation & { readonly relation: string; readonly rows: Tuples }>();

  get bytes(): number {
    let bytes = 0;
    for (const { rows } of this.byView.values()) bytes += rows.bytes;
    return bytes;
  }

  rowsOf({ view, predicate, arity, negated, relation }: Demand): Tuples {
    const key = `${viewKey(view)}\n${relation}`;
    let entry = this.byView.get(key);
    if (entry === undefined)
      this.byView.set(key, (entry = { view, predicate, arity, negated, relation, rows: new Tuples(arity) }));
    return entry.rows;
  }
}

type ReaderApart = PinnedReader & { readonly overlay: Overlay };

async function workedOut(
  demands: readonly Demand[],
  reasoner: Reasoner,
  reader: ReaderApart,
  pacer: Pacer,
): Promise<Conclusions> {
  const found = new Conclusions();
  await reasoner.evaluate(reader, false, pacer, async (set) => {
    const asked: { readonly of: Demand; readonly keys: Tuples; readonly table: Table }[] = [];
    for (const of of demands) {
      const keys = await keysIn(set, of, pacer);
      asked.push({ of, keys, table: await demanded(set, of, keys, pacer) });
    }
    await settle(set, reader, pacer);
    for (const { of, keys, table } of asked) await collect(of, keys, table, found.rowsOf(of), pacer);
  });
  return found;
}

/** The keys of the demand with the ids that the set has for the same constants. */
async function keysIn(set: TableSet, { boundPositions, keys }: Demand, pacer: Pacer): Promise<Tuples> {
  const own = new Tuples(boundPositions.length);
  const key = new Int32Array(boundPositions.length);
  for (let row = 0; row < keys.count; row++) {
    if ((row & 0xfff) === 0xfff) await pacer.breathe();
    if (!isCandidate(keys, row)) continue;
    tupleAt(keys.rows, row, key);
    for (let at = 0; at < key.length; at++) key[at] = set.constants.local(key[at] as number);
    own.insert(key);
  }
  return own;
}

/** The table from which the demand will be answered: that of the demand itself, or one that has more in fewer steps. */
async function demanded(set: TableSet, of: Demand, keys: Tuples, pacer: Pacer): Promise<Table> {
  const isGround = of.boundPositions.length === of.arity;
  const wanted = isGround
    ? demandFor({ arity: of.arity, rows: keys, count: keys.count })
    : { boundPositions: of.boundPositions, demand: { rows: keys } };
  const table = set.table(of, wanted.boundPositions);
  const { rows } = wanted.demand;
  const key = new Int32Array(rows.arity);
  for (let row = 0; row < rows.count; row++) {
    if ((row & 0xfff) === 0xfff) await pacer.breathe();
    demand(set, table, tupleAt(rows, row, key));
  }
  return table;
}

/** Adds the rows of the table that the demand is about. */
async function collect(
  { boundPositions }: Demand,
  keys: Tuples,
  { rows: { rows } }: Table,
  found: Tuples,
  pacer: Pacer,
): Promise<void> {
  const tuple = new Int32Array(rows.arity);
  const key = new Int32Array(boundPositions.length);
  for (let row = 0; row < rows.count; row++) {
    if ((row & 0xfff) === 0xfff) {
      pacer.lookAtMemory(found);
      await pacer.breathe();
    }
    tupleAt(rows, row, tuple);
    for (const [at, position] of boundPositions.entries()) key[at] = tuple[position] as number;
    if (keys.find(key) >= 0) found.insert(tuple);
  }
}

/** How many distinct atoms of the one are missing in the other, in one of the views, and not stored for the reader. */
async function countMissing(
  one: Conclusions,
  other: Conclusions,
  reader: ReaderApart,
  pacer: Pacer,
): Promise<number> {
  const counted = new Map<string, Tuples>();
  let count = 0;
  for (const [key, { rows, relation, ...of }] of one.byView) {
    const same = other.byView.get(key)?.rows;
    const seen = counted.get(relation) ?? new Tuples(of.arity);
    counted.set(relation, seen);
    const tuple = new Int32Array(of.arity);
    for (let row = 0; row < rows.count; row++) {
      if ((row & 0xff) === 0xff) await pacer.breathe();
      tupleAt(rows, row, tuple);
      if (same !== undefined && same.find(tuple) >= 0) continue;
      if (seen.insert(tuple) >= 0 && !isStored(of, tuple, reader.overlay.constants, reader)) count++;
    }
  }
  return count;
}

function isStored(
  { predicate, negated }: Relation,
  tuple: Int32Array,
  constants: Constants,
  reader: PinnedReader,
): boolean {
  const args = Array.from(tuple, (id) => constants.text(id));
  const pattern = { predicate, args, truthVal: !negated, scope: { kind: 'all' as const } };
  return matching(reader, pattern).next().done !== true;
}
