/** The search parameters of the page of an entity, all as text. */

/** The lists of the page, in order. */
export const entityParts = ['facts', 'conclusions', 'places', 'rules', 'history'] as const;
export type EntityPart = (typeof entityParts)[number];

/** What of the entity is shown. */
export interface EntitySearch {
  /** The constant, if no path can hold it. */
  of?: string | undefined;
  /** Absent: the facts. */
  part?: EntityPart | undefined;
  /** Derive every conclusion, not only show those that are known. */
  infer?: 'true' | undefined;
  /** The other entity of an open merge; `-`: the dialog is open and asks for it. */
  merge?: string | undefined;
}

/** Returns the valid parameters. */
export function entitySearchOf(search: Record<string, unknown>): EntitySearch {
  const { of, part, infer, merge } = search;
  const known = entityParts.find((each) => each === part);
  return {
    ...(typeof of === 'string' ? { of } : {}),
    ...(known === undefined || known === 'facts' ? {} : { part: known }),
    ...(infer === 'true' ? { infer: 'true' } : {}),
    ...(typeof merge === 'string' ? { merge } : {}),
  };
}
