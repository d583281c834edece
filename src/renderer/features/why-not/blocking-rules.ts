/** Which rules a sentence of an explanation speaks of. */
import type { StoredRule } from '../../../engine/contract/rules.ts';

/** The rules whose id stands in the sentence as a word of its own, in their order. */
export function rulesNamedIn(sentence: string, rules: readonly StoredRule[]): StoredRule[] {
  const words = new Set(sentence.match(/[\p{L}\p{N}_-]+/gu) ?? []);
  return rules.filter(({ id }) => words.has(id));
}
