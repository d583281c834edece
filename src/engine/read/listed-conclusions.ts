import { type ReadContext, storedFact } from '../session/read-context.ts';
import { present } from '../base/assert.ts';
import type { AtomLiteral } from '../contract/language.ts';
import type { StoredFact } from '../contract/facts.ts';
import type { ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import { ProofBuilder } from '../datalog/explain/proof.ts';
import { type Matches, question } from '../datalog/tables/question.ts';
import type { RelationShape } from '../datalog/model/program.ts';
import { sees } from '../datalog/model/reader.ts';
import { rowsByText } from '../datalog/tables/sorted.ts';

/**
 * The derivable conclusions that are not stored, as they are shown among facts.
 *
 * Which there are takes no proof; `conclusionsOf` finds them. What one is shown with (rule, premises, times, validity,
 * salience) is of its canonical proof: so only what is shown is proved, all of a page together, and everything only
 * where an order needs it.
 */

/**
 * The conclusions of the relation that are derivable in the view and not stored there, ordered by their arguments by code
 * point. `part`: only those that have it in their rendered atom, in lower case.
 */
export async function conclusionsOf(
  context: ReadContext,
  view: ScopeChoice,
  relation: RelationShape,
  part: string | null = null,
): Promise<Matches> {
  const { pacer } = context;
  const matches = await everyAtom(context, view, relation);
  const isStored = storedAmong(context, view, relation, matches);
  let kept = new Int32Array(matches.count);
  let count = 0;
  for (let row = 0; row < matches.count; row++) {
    if ((row & 0xff) === 0xff) await pacer.breathe();
    if (isStored(row)) continue;
    if (part === null || renderAtom(answerAt(matches, row)).toLowerCase().includes(part)) kept[count++] = row;
  }
  kept = kept.subarray(0, count);
  const columns = matches.columns.map((column) => kept.map((row) => column[row] as number));
  const order = await rowsByText(columns, count, matches.constants, pacer, count);
  const inOrder = columns.map((column) => order.map((row) => column[row] as number));
  return { ...matches, columns: inOrder, count };
}

/** Tells of which rows the view has a stored fact that the reader sees. */
function storedAmong(
  { tenant, reader }: ReadContext,
  view: ScopeChoice,
  { predicate, arity, negated }: RelationShape,
  { question: asked, columns, constants }: Matches,
): (row: number) => boolean {
  const { facts } = tenant;
  const relation = facts.relation(predicate, arity, negated);
  if (relation === null) return () => false;
  const identity = new Int32Array(arity);
  const atom = asked.body[0] as AtomLiteral;
  const columnOf = atom.args.map((term) => columns[asked.variables.indexOf(term)] as Int32Array);
  return (row) => {
    for (const [position, column] of columnOf.entries()) {
      const id = constants.known(column[row] as number);
      if (id < 0) return false;
      identity[position] = id;
    }
    return facts.rowsOf(relation, identity, view).some((newest) => {
      const version = relation.versionAt(newest, reader.generation);
      return version >= 0 && sees(reader, relation, version);
    });
  };
}

/** The rows of conclusions as they are shown, in the order in which they are given: proved together. */
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

/** What each of the conclusions takes from the stored premises of its proof, relation by relation. All are proved. */
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

/** All atoms of the relation that the view has, stored and concluded, in no order. */
export async function everyAtom(
  { reasoner, reader, pacer }: ReadContext,
  view: ScopeChoice,
  { predicate, arity, negated }: RelationShape,
): Promise<Matches> {
  const args = Array.from({ length: arity }, (_, position) => `?v${position}`);
  const asked = question(view, [{ predicate, args, negated, naf: false }]);
  return reasoner.answers(asked, reader, pacer);
}

/** The atom of an answer to a question that is one atom. */
export function answerAt({ question: asked, columns, constants }: Matches, row: number): AtomLiteral {
  const { variables } = asked;
  const atom = asked.body[0] as AtomLiteral;
  const args = atom.args.map((term) => {
    const at = variables.indexOf(term);
    return at < 0 ? term : constants.text((columns[at] as Int32Array)[row] as number);
  });
  return { ...atom, args };
}

/** What a conclusion takes from the stored premises of its proof; of no premises the neutral values. */
export interface ProofSupport {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly from: number;
  readonly until: number;
  readonly salience: number;
}

/** With the scope of the rule that concludes it, null of one without scope. */
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
 * What the steps of proofs amount to as facts. Steps that are added to the proofs are taken in when they are asked for;
 * many at once are better taken in before, in slices.
 */
export class Conclusions {
  readonly #context: ReadContext;
  readonly #builder: ProofBuilder;
  readonly #time: number;
  /** Of every step, each from those before it. */
  readonly #support: ProofSupport[] = [];
  /** Facts of the builder that were taken in. */
  #facts = 0;

  /** `time`: the one that saliences are as of. */
  constructor(context: ReadContext, builder: ProofBuilder, time: number) {
    this.#context = context;
    this.#builder = builder;
    this.#time = time;
  }

  /** Takes in all steps that there are. */
  async takeIn(): Promise<void> {
    const { steps } = this.#builder;
    while (this.#support.length < steps.length) {
      this.supportOf(Math.min(steps.length, this.#support.length + stepsBetweenBreaths) - 1);
      await this.#context.pacer.breathe();
    }
  }

  /** The least salience among the stored premises of the step's proof; 1 without any. */
  salienceOf(step: number): number {
    return this.supportOf(step).salience;
  }

  /** The scope of the rule that the step is by; null of one without scope. */
  scopeOf(step: number): string | null {
    return present(this.#builder.steps[step], 'the step is there').scope;
  }

  /** The conclusion of a step by a rule, as it is shown among facts. */
  at(step: number): StoredFact {
    const { steps, proved } = this.#builder;
    const { rule, scope, premises } = present(steps[step], 'the step is there');
    const { predicate, args, negated } = present(proved[step], 'it proves an atom').premise
      .literal as AtomLiteral;
    const support = this.supportOf(step);
    return {
      id: null,
      predicate,
      args: [...args],
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

  /** What the step's proof takes from its stored premises. */
  supportOf(step: number): ProofSupport {
    const { steps, facts } = this.#builder;
    for (let next = this.#support.length; next <= step; next++) {
      const { kind, premises } = present(steps[next], 'the step is there');
      let own = noSupport;
      if (kind === 'fact') {
        const row = present(facts[this.#facts++], 'a step of a fact has its fact');
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
