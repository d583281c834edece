import type { ReadContext } from '../session/read-context.ts';
import { scopeChoice } from '../session/read-context.ts';
import type { Trace, TraceInput } from '../contract/explanation.ts';
import type { Literal } from '../contract/language.ts';
import { matchesOf, question } from '../datalog/tables/question.ts';
import { TableSet } from '../datalog/tables/table-set.ts';
import { Tracer } from '../datalog/explain/tracer.ts';

/**
 * Traces the inference for a question. Derives everything anew in tables of its own, so that all work is visible, and
 * uses every rule as it was taught, without factoring linear recursion. Does not count as a use of facts or a firing of
 * rules.
 */
export async function trace(
  { reasoner, reader, pacer }: ReadContext,
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
  const { count } = await matchesOf(asked, set, reader, pacer);
  const parts = await tracer.finish(set.constants, pacer);
  return { answers: count, elapsedMs: pacer.elapsedRounded, ...parts };
}
