import type { BrowseContext } from './browse.ts';
import { EngineError } from './base/errors.ts';
import type { FactPattern } from './facts/fact-store.ts';
import { demand, settle } from './solve/evaluation.ts';
import { FactOverlay } from './solve/fact-overlay.ts';
import { type Candidates, tupleAt } from './solve/known-conclusions.ts';
import { matching, viewKey } from './solve/reader.ts';
import type { TableSet } from './solve/table-set.ts';
import type { Table } from './solve/table.ts';

/**
 * How many known conclusions a change brings and takes away: what was asked for before is derived for the same demand
 * in the state before the change and in the one after it, in tables of its own that leave no trace.
 */
export interface KnownChanges {
  /** Conclusions that hold after and did not before. */
  readonly gained: number;
  /** Conclusions that held before and do not after. */
  readonly lost: number;
}

/** `relations` are those that the change can reach. What a limit leaves out is not counted. */
export async function knownChanges(
  before: BrowseContext,
  after: BrowseContext,
  relations: ReadonlySet<string>,
): Promise<KnownChanges> {
  const candidates = before.reasoner.candidates(relations, true);
  if (candidates.length === 0) return { gained: 0, lost: 0 };
  try {
    const was = await held(before, candidates);
    const is = await held(after, candidates);
    const gained = [...is].filter((atom) => !was.has(atom)).length;
    const lost = [...was].filter((atom) => !is.has(atom)).length;
    return { gained, lost };
  } catch (error) {
    if (error instanceof EngineError && error.code === 'InferenceLimitExceeded')
      return { gained: 0, lost: 0 };
    throw error;
  }
}

/** What holds of the candidates' demand and is not stored: an atom once, in however many views. */
async function held(context: BrowseContext, candidates: readonly Candidates[]): Promise<Set<string>> {
  const { reasoner, pacer } = context;
  const overlay = context.reader.overlay ?? new FactOverlay(context.reader);
  const reader = { ...context.reader, overlay, version: -1 };
  const atoms = new Set<string>();
  await reasoner.evaluate(reader, false, pacer, async (set) => {
    const seen = new Set<Table>();
    for (const candidate of candidates) {
      if (!set.isDerived(candidate.view, candidate.relation)) continue;
      const table = demanded(candidate, set);
      await settle(set, reader, pacer);
      seen.add(table);
    }
    for (const table of seen) {
      const { rows } = table.rows;
      for (let row = 0; row < rows.count; row++) {
        if ((row & 0xff) === 0xff) await pacer.breathe();
        if (rows.isDead(row)) continue;
        const ids = tupleAt(rows, row, new Int32Array(table.arity));
        const args = Array.from(ids, (id) => set.constants.text(id));
        const pattern: FactPattern = {
          predicate: table.predicate,
          args,
          truthVal: !table.negated,
          scope: table.view,
        };
        if (matching(reader, pattern).next().done === true)
          atoms.add(JSON.stringify([viewKey({ kind: 'all' }), table.relation, args]));
      }
    }
  });
  return atoms;
}

/** The table of this set with the demand of the candidate. */
function demanded(candidate: Candidates, set: TableSet): Table {
  const { view, predicate, arity, negated, rows, count } = candidate;
  const positions = candidate.table?.boundPositions ?? Array.from({ length: arity }, (_, at) => at);
  const table = set.table({ view, predicate, arity, negated }, positions);
  const wanted = candidate.table?.demand.rows ?? rows;
  const last = candidate.table === null ? count : wanted.count;
  for (let row = 0; row < last; row++) {
    const key = tupleAt(wanted, row, new Int32Array(positions.length));
    demand(
      set,
      table,
      key.map((id) => set.constants.local(id)),
    );
  }
  return table;
}
