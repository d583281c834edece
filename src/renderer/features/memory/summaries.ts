/** What a summary of episodes says of itself in its metadata, and which predicates can have summaries. Pure. */
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

/** What a fact was consolidated from, or null where it is no summary. Reads all that it stands for. */
export function summarySourcesOf(metadata: Metadata): Consolidation | null {
  const read = readAs(consolidationSchema, metadata['consolidated']);
  return read.success ? read.data : null;
}

/** How many facts a summary says it stands for, without reading them; null where it says nothing of it. */
export function summarizedCountOf({ consolidated }: Metadata): number | null {
  if (typeof consolidated !== 'object' || consolidated === null || Array.isArray(consolidated)) return null;
  const { count } = consolidated;
  return typeof count === 'number' ? count : null;
}

/** The names under which summaries may be stored; which of their facts are summaries their metadata says. */
export function summaryPredicates(names: readonly string[]): string[] {
  return [...new Set(names.filter((name) => name.endsWith(summarySuffix)))];
}

/** The predicates that a body asks for, also inside of aggregates. */
function predicatesInBody(body: readonly Literal[]): Set<string> {
  return new Set(
    body.flatMap((literal) =>
      'aggregate' in literal ? [...predicatesInBody(literal.body)] : [literal.predicate],
    ),
  );
}

/** Those of the predicates that an enabled rule asks for: consolidating their facts takes conclusions away. */
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

/** Why patterns are left alone, a sentence for each reason; empty where none is. */
export function skippedSentences(skipped: Consolidated['skipped']): string[] {
  return skipReasons.flatMap((reason) => {
    const [first, ...others] = skipped.filter((pattern) => pattern.reason === reason);
    if (first === undefined) return [];
    const more = others.length === 0 ? '' : ` and ${formatCount(others.length)} more`;
    return [`Left alone: ${first.atom}${more}, since ${skipWords[reason]}.`];
  });
}
