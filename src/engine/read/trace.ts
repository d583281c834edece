import type { ReadContext } from '../session/read-context.ts';
import { scopeChoice } from '../session/read-context.ts';
import type { Trace, TraceInput } from '../contract/explanation.ts';
import type { Literal } from '../contract/language.ts';
import { matchesOf, question } from '../datalog/tables/question.ts';
import { TableSet } from '../datalog/tables/table-set.ts';
import { Tracer } from '../datalog/explain/tracer.ts';

/**
 * What inference does for a question. It is derived afresh, in tables of its own, so that the whole work shows, and
 * with every rule as it was taught: linear recursion, which a question may have rewritten, is followed goal by
 * goal. It counts as no use of a fact and as no firing of a rule.
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
