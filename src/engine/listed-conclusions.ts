import { type BrowseContext, storedFact } from './browse.ts';
import { present } from './base/assert.ts';
import type { AtomLiteral } from './contract/language.ts';
import type { StoredFact } from './contract/facts.ts';
import type { ScopeChoice } from './facts/fact-store.ts';
import { ProofBuilder } from './solve/proof.ts';
import { type Matches, question } from './solve/question.ts';
import type { RelationShape } from './solve/program.ts';

/**
 * The derivable conclusions of a relation that are not stored, as they are shown among facts: with the rule and the
 * premises of their canonical proof, and what they take from the stored facts that it rests on.
 */
export async function listedConclusions(
  context: BrowseContext,
  view: ScopeChoice,
  relation: RelationShape,
  time: number,
): Promise<StoredFact[]> {
  const { reasoner, reader, pacer } = context;
  const matches = await everyAtom(context, view, relation);
  return reasoner.evaluate(reader, true, pacer, async (set) => {
    const builder = new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY);
    const rows: number[] = [];
    for (let row = 0; row < matches.count; row++) {
      if ((row & 0xff) === 0xff) await pacer.breathe();
      if (builder.storedFact(view, answerAt(matches, row)) === null) rows.push(row);
    }
    const { roots } = await builder.prove(matches, rows);
    const conclusions = new Conclusions(context, builder, time);
    await conclusions.takeIn();
    const listed: StoredFact[] = [];
    for (const root of roots) {
      if ((listed.length & 0xff) === 0xff) await pacer.breathe();
      listed.push(conclusions.at(root));
    }
    return listed;
  });
}

/** All atoms of the relation that the view has, stored and concluded, in no order. */
export async function everyAtom(
  { reasoner, reader, pacer }: BrowseContext,
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
interface Support {
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly from: number;
  readonly until: number;
  readonly salience: number;
}

const noSupport: Support = {
  createdAt: 0,
  updatedAt: 0,
  from: Number.NEGATIVE_INFINITY,
  until: Number.POSITIVE_INFINITY,
  salience: 1,
};

const stepsBetweenBreaths = 256;

function both(left: Support, right: Support): Support {
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
  readonly #context: BrowseContext;
  readonly #builder: ProofBuilder;
  readonly #time: number;
  /** Of every step, each from those before it. */
  readonly #support: Support[] = [];
  /** Facts of the builder that were taken in. */
  #facts = 0;

  /** `time`: the one that saliences are as of. */
  constructor(context: BrowseContext, builder: ProofBuilder, time: number) {
    this.#context = context;
    this.#builder = builder;
    this.#time = time;
  }

  /** Takes in all steps that there are. */
  async takeIn(): Promise<void> {
    const { steps } = this.#builder;
    while (this.#support.length < steps.length) {
      this.#supportOf(Math.min(steps.length, this.#support.length + stepsBetweenBreaths) - 1);
      await this.#context.pacer.breathe();
    }
  }

  /** The least salience among the stored premises of the step's proof; 1 without any. */
  salienceOf(step: number): number {
    return this.#supportOf(step).salience;
  }

  /** The conclusion of a step by a rule, as it is shown among facts. */
  at(step: number): StoredFact {
    const { steps, proved } = this.#builder;
    const { rule, scope, premises } = present(steps[step], 'the step is there');
    const { predicate, args, negated } = present(proved[step], 'it proves an atom').premise
      .literal as AtomLiteral;
    const support = this.#supportOf(step);
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

  #supportOf(step: number): Support {
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
      for (const premise of premises) own = both(own, this.#support[premise] as Support);
      this.#support.push(own);
    }
    return this.#support[step] as Support;
  }
}
