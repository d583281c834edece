/**
 * Contradictions: atoms that a view contains both true and false.
 *
 * Considers the stored facts that a reader sees; all are valid at its time, so their validities overlap. Looks up the
 * rows of the smaller relation in the larger one by identity. Atoms that can have copies in several scopes, or that
 * changed after the reader was pinned, are gathered and found by one scan of the larger relation. Builds no index.
 */
import { type IsVisible, type ReadContext, visibleIn } from '../session/read-context.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import type { StoredRelation } from '../store/stored-relation.ts';
import { DistinctAtoms, tupleAt } from '../store/tuples.ts';

/** An atom that is both true and false, with its facts: one per scope, at least one on either side. */
interface OpposedFacts {
  readonly positive: readonly FactRow[];
  readonly negative: readonly FactRow[];
}

/**
 * The contradicted atoms among the visible stored facts of the view, each once, in no order. In the view of all scopes,
 * facts of different scopes contradict each other too. `isWanted` selects by the positive relation.
 */
export async function* contradictions(
  context: ReadContext,
  view: ScopeChoice,
  isWanted: (relation: StoredRelation) => boolean = () => true,
): AsyncGenerator<OpposedFacts> {
  const { facts } = context.tenant;
  for (const negative of facts.relations.values()) {
    if (!negative.negated) continue;
    const positive = facts.relation(negative.predicate, negative.arity, false);
    if (positive === null || !isWanted(positive)) continue;
    yield* contradictedIn(context, view, positive, negative);
  }
}

/** The number of atoms that `contradictions` yields. */
export async function countContradictions(context: ReadContext, view: ScopeChoice): Promise<number> {
  const found = contradictions(context, view);
  let count = 0;
  while ((await found.next()).done !== true) count++;
  return count;
}

const rowsBetweenBreaths = 0x3ff;

async function* contradictedIn(
  context: ReadContext,
  view: ScopeChoice,
  positive: StoredRelation,
  negative: StoredRelation,
): AsyncGenerator<OpposedFacts> {
  const { tenant, reader, pacer } = context;
  const isVisible = visibleIn(context, view);
  const [small, large] = positive.count <= negative.count ? [positive, negative] : [negative, positive];
  const asPair = (own: readonly FactRow[], others: readonly FactRow[]): OpposedFacts =>
    small === positive ? { positive: own, negative: others } : { positive: others, negative: own };
  const scope = onlyScope(tenant.facts.chosenScope(view), small, large);
  const identity = new Int32Array(small.arity + 1);
  const gathered = new Gathered(small.arity);
  const count = small.rowsAt(reader.generation);
  for (let row = 0; row < count; row++) {
    if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
    if (!isVisible(small, row)) continue;
    if (scope !== null) {
      tupleAt(small, row, identity);
      identity[small.arity] = scope;
      const newest = large.find(identity);
      if (newest < 0) continue;
      // The newest version is the visible one, unless it was born after the reader's generation.
      if (large.bornIn(newest) <= reader.generation) {
        if (isVisible(large, newest))
          yield asPair([{ relation: small, row }], [{ relation: large, row: newest }]);
        continue;
      }
    }
    gathered.add(small, row);
  }
  if (gathered.count === 0) return;
  await gathered.match(context, large, isVisible);
  for (const { own, others } of gathered.matched()) yield asPair(own, others);
}

/** The only scope that can be visible in both relations; null if an atom can have copies in several scopes. */
function onlyScope(wanted: number | null, small: StoredRelation, large: StoredRelation): number | null {
  if (wanted !== null) return wanted;
  if (small.spansScopes || large.spansScopes || large.count === 0) return null;
  return (large.columns[large.arity] as Int32Array)[0] as number;
}

/** Atoms with their rows in one relation, and their matches in another. */
class Gathered {
  readonly #distinct: DistinctAtoms;
  readonly #rows: FactRow[][] = [];
  readonly #others = new Map<number, FactRow[]>();

  constructor(arity: number) {
    this.#distinct = new DistinctAtoms(arity);
  }

  get count(): number {
    return this.#distinct.atoms.count;
  }

  add(relation: StoredRelation, row: number): void {
    if (this.#distinct.add(relation, row) >= 0) this.#rows.push([{ relation, row }]);
    else this.#rows[this.#distinct.find(relation, row)]?.push({ relation, row });
  }

  /** Finds the gathered atoms among the visible rows of another relation. */
  async match({ reader, pacer }: ReadContext, relation: StoredRelation, isVisible: IsVisible): Promise<void> {
    const count = relation.rowsAt(reader.generation);
    for (let row = 0; row < count; row++) {
      if ((row & rowsBetweenBreaths) === rowsBetweenBreaths) await pacer.breathe();
      if (!isVisible(relation, row)) continue;
      const atom = this.#distinct.find(relation, row);
      if (atom < 0) continue;
      const known = this.#others.get(atom);
      if (known === undefined) this.#others.set(atom, [{ relation, row }]);
      else known.push({ relation, row });
    }
  }

  *matched(): Generator<{ own: readonly FactRow[]; others: readonly FactRow[] }> {
    for (const [atom, others] of this.#others) yield { own: this.#rows[atom] ?? [], others };
  }
}
