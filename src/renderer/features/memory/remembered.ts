/**
 * A stored fact in the Memory view, the changes that keep it or let it fade, and summaries. Pure.
 *
 * Metadata is written as a whole: everything not changed is preserved. Every write is guarded by the generation that
 * was read, so that a concurrent change or retraction causes a refusal.
 */
import type { FactDetail, Metadata, StoredFact } from '../../../engine/contract/facts.ts';
import type { Literal } from '../../../engine/contract/language.ts';
import {
  type Consolidated,
  type Consolidation,
  consolidationSchema,
  type ContextEntry,
  type SkipReason,
  skipReasons,
  summarySuffix,
} from '../../../engine/contract/memory.ts';
import type { OperationRequest } from '../../../engine/contract/operations.ts';
import { readAs } from '../../../engine/contract/validation.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';
import { formatCount } from '../../ui/format.ts';

/** A fact in a list. */
export type Remembered = Pick<
  ContextEntry,
  | 'id'
  | 'predicate'
  | 'args'
  | 'negated'
  | 'scope'
  | 'salience'
  | 'createdAt'
  | 'validFrom'
  | 'validUntil'
  | 'metadata'
>;

/** Returns a stored fact as listed. */
export function rememberedOf({ truthVal, ...fact }: StoredFact): Remembered {
  return { ...fact, negated: !truthVal };
}

/** Returns the rendered atom of a fact. */
export function rememberedAtomOf({
  predicate,
  args,
  negated,
}: Pick<Remembered, 'predicate' | 'args' | 'negated'>): string {
  return renderAtom({ predicate, args: [...args], negated });
}

/** Returns true if the fact is pinned. */
export function isPinnedFact({ metadata }: Pick<Remembered, 'metadata'>): boolean {
  return metadata['pinned'] === true;
}

/** Returns the effective importance; null if metadata has no valid one. */
export function importanceOf({ metadata }: Pick<Remembered, 'metadata'>): number | null {
  const { importance } = metadata;
  return typeof importance === 'number' && importance >= 0 && importance <= 1 ? importance : null;
}

/** A change of a fact. */
export type MemoryChange =
  /** Asserts it again unchanged: one more use, now. */
  | { readonly kind: 'boost' }
  | { readonly kind: 'pin'; readonly isPinned: boolean }
  /** null restores the default. */
  | { readonly kind: 'importance'; readonly importance: number | null }
  /** Removes the end of its validity. */
  | { readonly kind: 'keep' };

function metadataAfter(
  metadata: FactDetail['metadata'],
  change: MemoryChange,
): FactDetail['metadata'] | null {
  switch (change.kind) {
    case 'boost':
    case 'keep':
      return null;
    case 'pin': {
      const { pinned: _pinned, ...rest } = metadata;
      return change.isPinned ? { ...metadata, pinned: true } : rest;
    }
    case 'importance': {
      const { importance: _importance, ...rest } = metadata;
      return change.importance === null ? rest : { ...metadata, importance: change.importance };
    }
  }
}

/** Returns the assertion that changes a fact as read. */
export function assertionOf(detail: FactDetail, change: MemoryChange): OperationRequest<'assertFact'> {
  const { predicate, args, truthVal, scope } = detail;
  const metadata = metadataAfter(detail.metadata, change);
  return {
    body: {
      predicate,
      args,
      truthVal,
      ...scopeFieldsOfStored(scope),
      ...(metadata === null ? {} : { metadata }),
      ...(change.kind === 'keep' ? { validUntil: 'never' } : {}),
      ifGeneration: generationOf(detail),
    },
  };
}

/** Returns the generation of a fact's last change. */
export function generationOf({ history }: Pick<FactDetail, 'history'>): number {
  return history.reduce((greatest, { generation }) => Math.max(greatest, generation), 0);
}

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
