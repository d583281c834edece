import { type ReadContext, storedFact } from '../session/read-context.ts';
import { present } from '../base/assert.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { StoredFact } from '../contract/facts.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import { ProofBuilder } from '../datalog/explain/proof.ts';
import { type Matches, question } from '../datalog/tables/question.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import { isAtomStored } from '../datalog/model/reader.ts';
import { rowsByText } from '../datalog/tables/sorted.ts';

/**
 * The derivable conclusions that are not stored, shown among facts.
 *
 * `conclusionsOf` finds them without proofs. Their rule, premises, times, validity and salience come from the canonical
 * proof, so only what is shown is proved, a page at a time; all are proved only if the sort order needs it.
 */

/**
 * The conclusions of the relation that are derivable in the view and not stored there, ordered by arguments by code
 * point. `part`: only those whose rendered atom contains it, in lower case.
 */
export async function conclusionsOf(
  context: ReadContext,
  view: ScopeChoice,
  relation: RelationShape,
  part: string | null = null,
): Promise<Matches> {
  const { pacer } = context;
  const matches = await everyAtom(context, view, relation);
  const isStoredAt = storedAmong(context, view, relation, matches);
  let selected = new Int32Array(matches.count);
  let count = 0;
  for (let row = 0; row < matches.count; row++) {
    if ((row & 0xff) === 0xff) await pacer.breathe();
    if (isStoredAt(row)) continue;
    if (part === null || renderAtom(answerAt(matches, row)).toLowerCase().includes(part))
      selected[count++] = row;
  }
  selected = selected.subarray(0, count);
  const columns = matches.columns.map((column) => selected.map((row) => column[row] as number));
  const order = await rowsByText(columns, count, matches.constants, pacer);
  const inOrder = columns.map((column) => order.map((row) => column[row] as number));
  return { ...matches, columns: inOrder, count };
}

/** Returns a test whether the view has a visible stored fact for a row. */
function storedAmong(
  { reader }: ReadContext,
  view: ScopeChoice,
  relation: RelationShape,
  { question: asked, columns, constants }: Matches,
): (row: number) => boolean {
  const ids = new Int32Array(relation.arity);
  const atom = asked.body[0] as AtomLiteral;
  const columnOf = atom.args.map((term) => columns[asked.variables.indexOf(term)] as Int32Array);
  return (row) => {
    for (const [position, column] of columnOf.entries()) {
      const id = constants.known(column[row] as number);
      if (id < 0) return false;
      ids[position] = id;
    }
    return isAtomStored(reader, view, relation, ids);
  };
}

/** The conclusions of these rows as they are shown, in the given order; proved together. */
export async function shownConclusions(
  context: ReadContext,
  matches: Matches,
  rows: readonly number[],
  time: number,
): Promise<StoredFact[]> {
  return proving(context, time, async (builder, conclusions) => {
    const { roots } = await builder.prove(matches, rows);
    await conclusions.takeIn();
    return roots.map((root) => conclusions.at(root));
  });
}

/** What each conclusion inherits from the stored premises of its proof, by relation. Proves all of them. */
export async function supportsOf(
  context: ReadContext,
  relations: readonly Matches[],
  time: number,
): Promise<Concluding[][]> {
  if (relations.every(({ count }) => count === 0)) return relations.map(() => []);
  return proving(context, time, async (builder, conclusions) => {
    const found: Concluding[][] = [];
    for (const matches of relations) {
      const rows = Array.from({ length: matches.count }, (_, row) => row);
      const { roots } = await builder.prove(matches, rows);
      await conclusions.takeIn();
      found.push(roots.map((root) => ({ ...conclusions.supportOf(root), scope: conclusions.scopeOf(root) })));
    }
    return found;
  });
}

async function proving<Result>(
  context: ReadContext,
  time: number,
  work: (builder: ProofBuilder, conclusions: Conclusions) => Promise<Result>,
): Promise<Result> {
  const { reasoner, reader, pacer } = context;
  return reasoner.evaluate(reader, true, pacer, (set) => {
    const builder = new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY);
    return work(builder, new Conclusions(context, builder, time));
  });
}

/** All atoms of the relation in the view, stored and derived, in no order. */
export async function everyAtom(
  { reasoner, reader, pacer }: ReadContext,
  view: ScopeChoice,
  { predicate, arity, negated }: RelationShape,
): Promise<Matches> {
  const args = Array.from({ length: arity }, (_, position) => `?v${position}`);
  const asked = question(view, [{ predicate, args, negated, naf: false }]);
  return reasoner.answers(asked, reader, pacer);
}

/** The atom of an answer to a question of one atom. */
export function answerAt({ question: asked, columns, constants }: Matches, row: number): AtomLiteral {
  const { variables } = asked;
  const atom = asked.body[0] as AtomLiteral;
  const args = atom.args.map((term) => {
    const at = variables.indexOf(term);
    return at < 0 ? term : constants.text((columns[at] as Int32Array)[row] as number);
  });
  return { ...atom, args };
}

/** What a conclusion inherits from the stored premises of its proof; neutral values if there are none. */
export interface ProofSupport {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly from: number;
  readonly until: number;
  readonly salience: number;
}

/** A support with the scope of the concluding rule; null: an unscoped rule. */
export interface Concluding extends ProofSupport {
  readonly scope: string | null;
}

const noSupport: ProofSupport = {
  createdAt: 0,
  updatedAt: 0,
  from: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  salience: 1,
};

const stepsBetweenBreaths = 256;

function both(left: ProofSupport, right: ProofSupport): ProofSupport {
  return {
    createdAt: Math.max(left.createdAt, right.createdAt),
    updatedAt: Math.max(left.updatedAt, right.updatedAt),
    from: Math.max(left.from, right.from),
    until: Math.min(left.until, right.until),
    salience: Math.min(left.salience, right.salience),
  };
}

/**
 * Shows proof steps as facts. New steps of the builder are processed on demand; many at once are better processed in
 * advance with `takeIn`, which yields between slices.
 */
export class Conclusions {
  readonly #context: ReadContext;
  readonly #builder: ProofBuilder;
  readonly #time: number;
  /** The support of every step, computed from earlier ones. */
  readonly #support: ProofSupport[] = [];
  /** Number of the builder's facts processed. */
  #facts = 0;

  /** `time`: the time of the saliences. */
  constructor(context: ReadContext, builder: ProofBuilder, time: number) {
    this.#context = context;
    this.#builder = builder;
    this.#time = time;
  }

  /** Processes all steps so far. */
  async takeIn(): Promise<void> {
    const { steps } = this.#builder;
    while (this.#support.length < steps.length) {
      this.supportOf(Math.min(steps.length, this.#support.length + stepsBetweenBreaths) - 1);
      await this.#context.pacer.breathe();
    }
  }

  /** The lowest salience among the stored premises of the step's proof; 1 if there are none. */
  salienceOf(step: number): number {
    return this.supportOf(step).salience;
  }

  /** The scope of the step's rule; null: an unscoped rule. */
  scopeOf(step: number): string | null {
    return present(this.#builder.steps[step], 'the step exists').scope;
  }

  /** The conclusion of a rule step as it is shown among facts. */
  at(step: number): StoredFact {
    const { steps, proved } = this.#builder;
    const { rule, scope, premises } = present(steps[step], 'the step exists');
    const { predicate, args, negated } = present(proved[step], 'the step proves an atom').premise
      .literal as AtomLiteral;
    const support = this.supportOf(step);
    return {
      id: null,
      predicate,
      args: [...args],
      ...this.#context.database.declarations.names.part(predicate, args),
      truthVal: !negated,
      scope,
      validFrom: Number.isFinite(support.from) ? support.from : null,
      validUntil: Number.isFinite(support.until) ? support.until : null,
      metadata: {},
      createdAt: support.createdAt,
      updatedAt: support.updatedAt,
      importId: null,
      salience: support.salience,
      derived: true,
      provenance: { rule: rule ?? '', premises: premises.map((premise) => steps[premise]?.atom ?? '') },
    };
  }

  /** What the step inherits from the stored premises of its proof. */
  supportOf(step: number): ProofSupport {
    const { steps, facts } = this.#builder;
    for (let next = this.#support.length; next <= step; next++) {
      const { kind, premises } = present(steps[next], 'the step exists');
      let own = noSupport;
      if (kind === 'fact') {
        const row = present(facts[this.#facts++], 'a fact step has its fact');
        const fact = storedFact(this.#context, row, this.#time);
        const from = fact.validFrom ?? Number.NEGATIVE_INFINITY;
        own = { ...fact, from, until: fact.validUntil ?? Number.POSITIVE_INFINITY };
      }
      for (const premise of premises) own = both(own, this.#support[premise] as ProofSupport);
      this.#support.push(own);
    }
    return this.#support[step] as ProofSupport;
  }
}
