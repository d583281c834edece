/**
 * A stored fact as memory lists it, and what can be done to keep it or let it fade. Pure.
 *
 * A change of metadata is written whole: all that is there and is not meant stays as it is. Every change is guarded by
 * the generation of the fact as it was read, so that what somebody else changed or retracted meanwhile is refused.
 */
import type { FactDetail, StoredFact } from '../../../engine/contract/facts.ts';
import type { ContextEntry } from '../../../engine/contract/memory.ts';
import type { OperationRequest } from '../../../engine/contract/operations.ts';
import { renderAtom } from '../../../engine/language/print.ts';
import { scopeFieldsOfStored } from '../../api/space.ts';

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

export function rememberedOf({ truthVal, ...fact }: StoredFact): Remembered {
  return { ...fact, negated: !truthVal };
}

export function rememberedAtomOf({
  predicate,
  args,
  negated,
}: Pick<Remembered, 'predicate' | 'args' | 'negated'>): string {
  return renderAtom({ predicate, args: [...args], negated });
}

export function isPinnedFact({ metadata }: Pick<Remembered, 'metadata'>): boolean {
  return metadata['pinned'] === true;
}

/** The importance that counts, or null where metadata gives none that does. */
export function importanceOf({ metadata }: Pick<Remembered, 'metadata'>): number | null {
  const { importance } = metadata;
  return typeof importance === 'number' && importance >= 0 && importance <= 1 ? importance : null;
}

/** What is done to a fact. */
export type MemoryChange =
  /** Asserted again as it is: one more use, now. */
  | { readonly kind: 'boost' }
  | { readonly kind: 'pin'; readonly isPinned: boolean }
  /** null: as if none were given. */
  | { readonly kind: 'importance'; readonly importance: number | null }
  /** Its validity no longer ends. */
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

/** The assertion that makes the change to a fact that was read so. */
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

/** The generation of the last change of a fact. */
export function generationOf({ history }: Pick<FactDetail, 'history'>): number {
  return history.reduce((greatest, { generation }) => Math.max(greatest, generation), 0);
}
