/** Metadata of summaries, and the predicates that can have them. Pure. */
import type { Metadata } from '../../../engine/contract/facts.ts';
import type { Literal } from '../../../engine/contract/language.ts';
import {
  type Consolidated,
  type Consolidation,
  consolidationSchema,
  type SkipReason,
  skipReasons,
  summarySuffix,
} from '../../../engine/contract/memory.ts';
import { readAs } from '../../../engine/contract/validation.ts';
import { formatCount } from '../../ui/format.ts';

/** Returns the sources of a summary, validated completely; null if the fact is no summary. */
export function summarySourcesOf(metadata: Metadata): Consolidation | null {
  const read = readAs(consolidationSchema, metadata['consolidated']);
  return read.success ? read.data : null;
}

/** Returns how many facts a summary replaces, without validating them; null if not given. */
export function summarizedCountOf({ consolidated }: Metadata): number | null {
  if (typeof consolidated !== 'object' || consolidated === null || Array.isArray(consolidated)) return null;
  const { count } = consolidated;
  return typeof count === 'number' ? count : null;
}

/** Returns the predicates that may contain summaries; metadata decides per fact. */
export function summaryPredicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => name.endsWith(summarySuffix)))];
}

/** The predicates of a body, aggregates included. */
function predicatesInBody(body: readonly Literal[]): Set<string> {
  return new Set(
    body.flatMap((literal) =>
      'aggregate' in literal ? [...predicatesInBody(literal.body)] : [literal.predicate],
    ),
  );
}

/** Returns the predicates that enabled rules use: consolidating their facts removes conclusions. */
export function neededByRules(
  predicates: readonly string[],
  rules: readonly { readonly enabled: boolean; readonly body: readonly Literal[] }[],
): string[] {
  const needed = new Set(rules.flatMap(({ enabled, body }) => (enabled ? [...predicatesInBody(body)] : [])));
  return predicates.filter((predicate) => needed.has(predicate));
}

const skipWords: Record<SkipReason, string> = {
  name_too_long: 'the name of the summary would be too long',
  atom_taken: 'something else is stored under it',
  too_large: 'the facts are too large for one summary',
  next_time: 'this consolidation is full, and the next one takes it',
};

/** Returns a sentence for each reason why patterns were skipped. */
export function skippedSentences(skipped: Consolidated['skipped']): string[] {
  return skipReasons.flatMap((reason) => {
    const [first, ...others] = skipped.filter((pattern) => pattern.reason === reason);
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${formatCount(others.length)} more`;
    return [`Left alone: ${first.atom}${more}, since ${skipWords[reason]}.`];
  });
}
