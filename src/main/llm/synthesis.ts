import type { SynthesizeInput, Synthesized } from '../../engine/contract/extraction.ts';
import type { Caller, Engine } from '../../engine/index.ts';
import type { LanguageModel } from './language-model.ts';
import { planQueries } from './planning.ts';
import { proveAll } from './proved.ts';
import { Vocabulary } from './vocabulary.ts';
import { wordingOf } from './wording.ts';

/** What is answered where nothing is derivable. */
export const nothingKnown = 'Nothing in the knowledge base answers this question.';

/**
 * A question answered in words: a model plans queries, the engine proves their answers, the model words them. Nothing of
 * what a model says counts as known, and nothing is stored.
 */
export async function synthesize(
  engine: Engine,
  model: LanguageModel,
  caller: Caller,
  input: SynthesizeInput,
): Promise<Synthesized> {
  const vocabulary = new Vocabulary(await engine.vocabulary(caller, input));
  const queries = vocabulary.isEmpty ? [] : await planQueries(engine, model, vocabulary, caller, input);
  const proved = await proveAll(engine, caller, queries, input);
  const isKnown = proved.steps.length > 0;
  const answer = isKnown ? await wordingOf(engine, model, caller, input.question, proved) : nothingKnown;
  return {
    answer,
    derivation: proved.steps.map(({ fact, type }) => ({ fact, type })),
    confidence: isKnown ? proved.confidence : 0,
    queriesExecuted: proved.queries.map(({ query }) => query),
    provider: model.provider,
    model: model.model,
  };
}
