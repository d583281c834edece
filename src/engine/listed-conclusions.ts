import { type BrowseContext, storedFact } from './browse.ts';
import type { StoredFact } from './contract/facts.ts';
import type { Proof } from './contract/inference.ts';
import type { FactRow, ScopeChoice } from './facts/fact-store.ts';
import { ProofBuilder } from './solve/proof.ts';
import { type Matches, question } from './solve/question.ts';

/**
 * The derivable conclusions of a relation that are not stored, as they are shown among facts: with the rule and the
 * premises of their canonical proof, and what they take from the stored facts that it rests on.
 */
export async function listedConclusions(
  context: BrowseContext,
  view: ScopeChoice,
  relation: { readonly predicate: string; readonly arity: number; readonly negated: boolean },
  time: number,
): Promise<StoredFact[]> {
  const { reasoner, reader, pacer } = context;
  const { predicate, negated } = relation;
  const args = Array.from({ length: relation.arity }, (_, position) => `?v${position}`);
  const atom = { predicate, args, negated };
  const asked = question(view, [{ ...atom, naf: false }]);
  const { matches } = await reasoner.answer(asked, reader, pacer, {
    offset: 0,
    limit: null,
    withProof: false,
    withAlternatives: false,
  });
  const derived = await reasoner.evaluate(reader, true, pacer, async (set) => {
    const builder = new ProofBuilder(set, reader, pacer, Number.POSITIVE_INFINITY);
    const rows: number[] = [];
    for (let row = 0; row < matches.count; row++)
      if (builder.storedFact(view, { ...atom, args: argsAt(matches, row), naf: false }) === null)
        rows.push(row);
    return { rows, proof: await builder.prove(matches, rows), facts: builder.facts };
  });
  const supports = await supportOf(context, time, derived.proof, derived.facts);
  const listed: StoredFact[] = [];
  for (const [at, root] of derived.proof.roots.entries()) {
    if ((at & 0x3ff) === 0x3ff) await pacer.breathe();
    const step = derived.proof.steps[root] as Proof['steps'][number];
    const premises = step.premises.map((premise) => derived.proof.steps[premise]?.atom ?? '');
    const support = supports[root] as Support;
    listed.push({
      id: null,
      predicate: atom.predicate,
      args: argsAt(matches, derived.rows[at] as number),
      truthVal: !atom.negated,
      scope: step.scope,
      validFrom: Number.isFinite(support.from) ? support.from : null,
      validUntil: Number.isFinite(support.until) ? support.until : null,
      metadata: {},
      createdAt: support.createdAt,
      updatedAt: support.updatedAt,
      importId: null,
      salience: support.salience,
      derived: true,
      provenance: { rule: step.rule ?? '', premises },
    });
  }
  return listed;
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

function both(left: Support, right: Support): Support {
  return {
    createdAt: Math.max(left.createdAt, right.createdAt),
    updatedAt: Math.max(left.updatedAt, right.updatedAt),
    from: Math.max(left.from, right.from),
    until: Math.min(left.until, right.until),
    salience: Math.min(left.salience, right.salience),
  };
}

/** The support of every step, each from those before it. `facts` are those of the fact steps, in their order. */
async function supportOf(
  context: BrowseContext,
  time: number,
  proof: Proof,
  facts: readonly FactRow[],
): Promise<Support[]> {
  let next = 0;
  const support: Support[] = [];
  for (const step of proof.steps) {
    if ((support.length & 0x3ff) === 0x3ff) await context.pacer.breathe();
    let own = noSupport;
    if (step.kind === 'fact') {
      const fact = storedFact(context, facts[next++] as FactRow, time);
      const from = fact.validFrom ?? Number.NEGATIVE_INFINITY;
      own = { ...fact, from, until: fact.validUntil ?? Number.POSITIVE_INFINITY };
    }
    for (const premise of step.premises) own = both(own, support[premise] as Support);
    support.push(own);
  }
  return support;
}

function argsAt(matches: Matches, row: number): string[] {
  const width = matches.question.variables.length;
  return Array.from({ length: width }, (_, at) =>
    matches.constants.text(matches.ids[row * width + at] as number),
  );
}
