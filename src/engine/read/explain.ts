import { invalid } from '../base/errors.ts';
import { type Lacking, Blocks } from './blocked-by.ts';
import { type ReadContext, scopeChoice } from '../session/read-context.ts';
import type { ExplainInput, Explanation, WhyNot } from '../contract/explanation.ts';
import { type AtomLiteral, isVariable } from '../contract/language.ts';
import type { FactRow, ScopeChoice } from '../store/fact-store.ts';
import { renderAtom } from '../language/print.ts';
import { relationOf } from '../language/terms.ts';
import { LiteralReader } from '../datalog/tables/literal-reader.ts';
import { question } from '../datalog/tables/question.ts';
import { furthest } from '../datalog/explain/why-not.ts';

/**
 * Explains an atom: its proof if it is true, otherwise how far each candidate rule gets and what blocks it. Reads only
 * the state that the reader is pinned to.
 */
export async function explain(
  context: ReadContext,
  input: ExplainInput,
): Promise<{ explanation: Explanation; used: readonly FactRow[] }> {
  const { predicate, args, negated, mode } = input;
  const atom: AtomLiteral = { predicate, args, negated, naf: false };
  const view = scopeChoice(input);
  if (mode === 'why') return why(context, view, atom);
  const open = args.findIndex(isVariable);
  if (open >= 0)
    throw invalid(
      `args.${open}`,
      `whyNot is about one atom: replace ${args[open]} by a constant, or ask why`,
    );
  return { explanation: await whyNot(context, view, atom), used: [] };
}

/** The proof of the atom, or of every answer if it has variables, and the stored facts in it, which count as used. */
async function why(
  { reasoner, reader, pacer }: ReadContext,
  view: ScopeChoice,
  atom: AtomLiteral,
): Promise<{ explanation: Explanation; used: readonly FactRow[] }> {
  const { matches, proof } = await reasoner.answer(question(view, [atom]), reader, pacer, {
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

async function whyNot(context: ReadContext, view: ScopeChoice, atom: AtomLiteral): Promise<WhyNot> {
  const { database, reasoner, reader, pacer } = context;
  // Read in the turn in which the reader was pinned: rules may change during the search.
  const rules = database.rules.all();
  const rendered = renderAtom(atom);
  return reasoner.evaluate(reader, false, pacer, async (set) => {
    if (await new LiteralReader(set, reader, pacer, view).holds(atom))
      return { atom: rendered, holds: true, attempts: [], blockedBy: [] };
    const attempts: WhyNot['attempts'] = [];
    const lacking: Lacking[] = [{ view, atom }];
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
    const blockedBy = await new Blocks(context, set, rules).of(lacking);
    return { atom: rendered, holds: false, attempts, blockedBy };
  });
}
