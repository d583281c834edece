import { optimizeInputSchema } from '../contract/context.ts';
import type { Recalled, RecallInput } from '../contract/memory.ts';
import { type ReadContext, countVisible, scopeChoice } from '../session/read-context.ts';
import { contextWindow } from './window.ts';

/**
 * Recall for a query in plain words: the window that it has, without entries below the minimal salience. `totalFacts`:
 * the visible stored facts of the view, and the conclusions in the window.
 */
export async function recallFor(context: ReadContext, input: RecallInput, query: string): Promise<Recalled> {
  const { maxFacts, maxTokens, minSalience, predicates, scope, unscoped, includeInferred, timeoutMs } = input;
  const view = { scope, unscoped };
  const choice = { maxFacts, maxTokens, predicates, ...view, includeInferred, timeoutMs, query };
  const window = await contextWindow(context, optimizeInputSchema.parse(choice), () => '');
  const facts = window.entries.filter(({ salience }) => salience >= minSalience);
  const { mentions = [], goalsLeftOut = 0, generatedAt } = window;
  const concluded = window.entries.filter(({ provenance }) => provenance !== null).length;
  const totalFacts = (await countVisible(context, scopeChoice(view))) + concluded;
  return { facts, totalFacts, returned: facts.length, mentions, goalsLeftOut, generatedAt };
}
