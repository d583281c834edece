/**
 * A text read: statements of the grammar by themselves, natural language through a model where there is one.
 *
 * Whoever asks for it decides what natural language without a model means; here it is left alone. Nothing is stored.
 */
import { setImmediate } from 'node:timers/promises';
import { maxFactsPerRequest } from '../../engine/contract/facts.ts';
import type { ProviderName } from '../../engine/contract/extraction.ts';
import {
  type Caller,
  type Engine,
  invalid,
  renderAtom,
  renderRule,
  signalOf,
  Slices,
} from '../../engine/index.ts';
import type { ViewFields } from '../../engine/index.ts';
import { type Discarded, findFacts, type FoundFact } from './extraction.ts';
import { type FreeText, readFreeText, type RuleStatement } from './free-text.ts';
import type { LanguageModel } from './language-model.ts';
import { Vocabulary } from './vocabulary.ts';

/** A fact of a text; `from` is what it was read by. */
export interface ReadFact extends FoundFact {
  readonly from: ProviderName | 'statements';
}

export interface ReadText {
  /** In the order of the text, each once; what a statement says counts before what a model found. */
  readonly facts: readonly ReadFact[];
  /** Rendered, each once: those that are statements, then those that a model found. */
  readonly statedRules: readonly string[];
  readonly foundRules: readonly string[];
  readonly discarded: readonly Discarded[];
  /** `statements`: no model was asked. */
  readonly provider: ProviderName | 'statements';
  readonly model: string | null;
}

export interface TextWithHint extends ViewFields {
  readonly text: string;
  /** What the caller said the text is about. */
  readonly hint: string;
  readonly wantsRules: boolean;
}

/** Tells statements and natural language apart. `path` is the field of the request; too many statements are a 400. */
export async function readStatements(text: string, path: string): Promise<FreeText> {
  const slices = new Slices(() => setImmediate());
  const free = await readFreeText(text, () => slices.breathe());
  if (free.facts.length > maxFactsPerRequest)
    throw invalid(path, `the text states ${free.facts.length} facts: send at most ${maxFactsPerRequest}`);
  return free;
}

/** Reads what `free` was told apart from. `model` null: natural language is left alone. */
export async function readText(
  engine: Engine,
  model: LanguageModel | null,
  caller: Caller,
  free: FreeText,
  input: TextWithHint,
): Promise<ReadText> {
  const facts = new Map<string, ReadFact>();
  const slices = new Slices(() => setImmediate());
  for (const { atom, span: source } of free.facts) {
    await slices.breathe();
    const key = renderAtom(atom);
    if (!facts.has(key)) facts.set(key, { ...atom, confidence: 1, source, from: 'statements' });
  }
  const statedRules = renderedOnce(free.rules);
  if (model === null || free.prose.length === 0) {
    const rest = { foundRules: [], discarded: [], provider: 'statements', model: null } as const;
    return { facts: [...facts.values()], statedRules, ...rest };
  }
  const vocabulary = new Vocabulary(await engine.vocabulary(caller, input));
  const { text, hint, wantsRules } = input;
  const { requestId } = caller;
  const reading = { text, prose: free.prose, hint, wantsRules, requestId, signal: signalOf(caller) };
  const found = await findFacts(model, vocabulary, reading);
  for (const fact of found.facts) {
    const key = renderAtom(fact);
    if (!facts.has(key)) facts.set(key, { ...fact, from: model.provider });
  }
  return {
    facts: [...facts.values()].sort((a, b) => a.source.start - b.source.start || a.source.end - b.source.end),
    statedRules,
    foundRules: found.rules.filter((rule) => !statedRules.includes(rule)),
    discarded: found.discarded,
    provider: model.provider,
    model: model.model,
  };
}

function renderedOnce(rules: readonly RuleStatement[]): string[] {
  return [...new Set(rules.map(({ rule }) => renderRule(rule)))];
}
