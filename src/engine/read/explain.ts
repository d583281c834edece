import { invalid } from '../base/errors.ts';
import type { InferenceContext } from './ask.ts';
import { type MissingAtom, BlockFinder } from './blocked-by.ts';
import { scopeChoice } from '../session/read-context.ts';
import type { ExplainInput, Explanation, WhyNot, Trace, TraceInput } from '../contract/explanation.ts';
import { type AtomLiteral, isVariable, type Literal } from '../contract/language.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import { relationOf } from '../language/terms.ts';
import { LiteralReader } from '../datalog/tables/literal-reader.ts';
import { question, matchesOf } from '../datalog/tables/question.ts';
import { furthest } from '../datalog/explain/why-not.ts';
import { TableSet } from '../datalog/tables/table-set.ts';
import { Tracer } from '../datalog/explain/tracer.ts';

/**
 * Explains an atom: its proof if it is true, otherwise how far each candidate rule gets and what blocks it. Reads only
 * the state that the reader is pinned to.
 */
export async function explain(
  context: InferenceContext,
  input: ExplainInput,
): Promise<{ explanation: Explanation; used: readonly FactRow[] }> {
  const { args, mode } = input;
  if (mode === 'why') return why(context, input);
  const open = args.findIndex(isVariable);
  if (open >= 0)
    throw invalid(
      `args.${open}`,
      `whyNot is about one atom: replace ${args[open]} by a constant, or ask why`,
    );
  return { explanation: await whyNot(context, scopeChoice(input), atomOf(input)), used: [] };
}

function atomOf({ predicate, args, negated }: ExplainInput): AtomLiteral {
  return { predicate, args, negated, naf: false };
}

/** The proof of the atom, or of every answer if it has variables, and the stored facts in it, which count as used. */
export async function why(
  { reasoner, reader, pacer }: InferenceContext,
  input: ExplainInput,
): Promise<{ explanation: Explanation; used: readonly FactRow[] }> {
  const atom = atomOf(input);
  const { matches, proof } = await reasoner.answer(question(scopeChoice(input), [atom]), reader, pacer, {
    offset: 0,
    limit: null,
    withProof: true,
    withAlternatives: false,
  });
  const explanation = {
    atom: renderAtom(atom),
    holds: matches.count > 0,
    proof: proof?.proof ?? { roots: [], steps: [] },
  };
  return { explanation, used: proof?.facts ?? [] };
}

/** Why the atom is not true in the view. It has no variables. */
export async function whyNot(
  context: InferenceContext,
  view: ScopeChoice,
  atom: AtomLiteral,
): Promise<WhyNot> {
  const { database, reasoner, reader, pacer } = context;
  // Read in the turn in which the reader was pinned: rules may change during the search.
  const rules = database.rules.all();
  const rendered = renderAtom(atom);
  return reasoner.evaluate(reader, false, pacer, async (set) => {
    if (await new LiteralReader(set, reader, pacer, view).holds(atom))
      return { atom: rendered, holds: true, attempts: [], blockedBy: [] };
    const attempts: WhyNot['attempts'] = [];
    const lacking: MissingAtom[] = [{ view, atom }];
    for (const { record, bodyView } of reader.program.rulesFor(view, relationOf(atom))) {
      await pacer.breathe();
      const found = await furthest(record.rule, atom, new LiteralReader(set, reader, pacer, bodyView));
      if (found === null) continue;
      const { bindings, satisfied, missing, missingAtoms } = found;
      attempts.push({
        rule: record.text,
        ruleId: record.id,
        bindings,
        satisfied: [...satisfied],
        missing: [...missing],
      });
      for (const premise of missingAtoms) lacking.push({ view: bodyView, atom: premise });
    }
    const blockedBy = await new BlockFinder(context, set, rules).of(lacking);
    return { atom: rendered, holds: false, attempts, blockedBy };
  });
}

/**
 * Traces the inference for a question. Derives everything anew in tables of its own, so that all work is visible, and
 * uses every rule as it was taught, without factoring linear recursion. Does not count as a use of facts or a firing of
 * rules.
 */
export async function trace(
  { reasoner, reader, pacer }: InferenceContext,
  input: TraceInput,
  body: readonly Literal[],
): Promise<Trace> {
  pacer.look();
  const asked = question(scopeChoice(input), body);
  const tracer = new Tracer(asked, input.maxEvents);
  const set = new TableSet(
    reasoner.facts,
    reader.program,
    { withHeights: false, isMaintained: false, observer: tracer },
    new Map(),
  );
  set.charge(pacer.memory);
  const { count } = await matchesOf(asked, set, reader, pacer);
  const parts = await tracer.finish(set.constants, pacer);
  return { answers: count, elapsedMs: pacer.elapsedRounded, ...parts };
}
