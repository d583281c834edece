import type { BrowseContext } from './browse.ts';
import { Tuples } from './facts/tuples.ts';
import { renderAtom } from './logic/print.ts';
import { demand, settle } from './solve/evaluation.ts';
import { type Candidates, isCandidate, tupleAt } from './solve/known-conclusions.ts';
import { FactOverlay } from './solve/fact-overlay.ts';
import type { PinnedReader } from './solve/reasoner.ts';

/**
 * How many known conclusions of these relations come and go between two states: those that questions have asked for,
 * answered in both, each atom once. Nothing that is derived for it is kept.
 */
export async function knownChanges(
  before: BrowseContext,
  after: BrowseContext,
  relations: ReadonlySet<string>,
): Promise<{ readonly gained: number; readonly lost: number }> {
  const { reasoner, reader } = before;
  const candidates = reasoner.candidates(reasoner.reached(relations), true);
  const apart = { ...reader, overlay: new FactOverlay(reader) };
  const held = await atomsOf(before, apart, candidates);
  const holds = await atomsOf(before, after.reader, candidates);
  let gained = 0;
  let lost = 0;
  for (const atom of holds) if (!held.has(atom)) gained++;
  for (const atom of held) if (!holds.has(atom)) lost++;
  return { gained, lost };
}

/** What the reader concludes for the demand that the candidates had, rendered. */
async function atomsOf(
  { reasoner, pacer }: BrowseContext,
  reader: PinnedReader,
  candidates: readonly Candidates[],
): Promise<Set<string>> {
  const atoms = new Set<string>();
  if (candidates.length === 0) return atoms;
  await reasoner.evaluate(reader, false, pacer, async (set) => {
    for (const candidate of candidates) {
      const { view, predicate, arity, negated } = candidate;
      if (!set.isDerived(view, candidate.relation)) continue;
      const { boundPositions, rows } = wantedOf(candidate);
      const table = set.table({ view, predicate, arity, negated }, boundPositions);
      const key = new Int32Array(boundPositions.length);
      for (let row = 0; row < rows.count; row++) {
        tupleAt(rows, row, key);
        demand(set, table, set.constants.ownCount === 0 ? key : key.map((id) => set.constants.local(id)));
      }
      await settle(set, reader, pacer);
      const found = table.rows.rows;
      const tuple = new Int32Array(arity);
      for (let row = 0; row < found.count; row++) {
        if ((row & 0xfff) === 0xfff) await pacer.breathe();
        if (!isCandidate(found, row)) continue;
        const args = Array.from(tupleAt(found, row, tuple), (id) => set.constants.text(id));
        atoms.add(renderAtom({ predicate, args, negated }));
      }
    }
  });
  return atoms;
}

/** What was asked of the relation: the demand of its table, or each row itself where the table is gone. */
function wantedOf(candidate: Candidates): { boundPositions: readonly number[]; rows: Tuples } {
  if (candidate.table !== null)
    return { boundPositions: candidate.table.boundPositions, rows: candidate.table.demand.rows };
  const rows = new Tuples(candidate.arity);
  const tuple = new Int32Array(candidate.arity);
  for (let row = 0; row < candidate.count; row++)
    if (isCandidate(candidate, row)) rows.insert(tupleAt(candidate.rows, row, tuple));
  return { boundPositions: Array.from({ length: candidate.arity }, (_, position) => position), rows };
}
