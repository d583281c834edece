/**
 * What was chosen for single facts before a merge: source's version, target's, or both.
 *
 * A choice is made for a predicate with its arguments, so a fact and its negation share it. It is a draft: one for a
 * fact in which the scopes do not differ (any more) is kept and means nothing.
 */
import type { Resolution } from '../../../engine/contract/scopes.ts';
import type { MergeRow } from './merge-rows.ts';

export const takeOptions = ['source', 'target', 'both'] as const;
export type Take = (typeof takeOptions)[number];

/** By place. */
export type Choices = ReadonlyMap<string, Take>;

function isTake(value: unknown): value is Take {
  return takeOptions.some((take) => take === value);
}

/** The choices of a stored draft; what cannot be read counts as none. */
export function readChoices(draft: string): Choices {
  if (draft === '') return new Map();
  let value: unknown;
  try {
    value = JSON.parse(draft);
  } catch {
    // Another version wrote it. The next choice replaces it.
    return new Map();
  }
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(Object.entries(value).filter((entry): entry is [string, Take] => isTake(entry[1])));
}

export function writeChoices(choices: Choices): string {
  return choices.size === 0 ? '' : JSON.stringify(Object.fromEntries(choices));
}

/** The choices with another one for `places`; null takes them back. */
export function withChoice(choices: Choices, places: readonly string[], take: Take | null): Choices {
  const next = new Map(choices);
  for (const place of places)
    if (take === null) next.delete(place);
    else next.set(place, take);
  return next;
}

/** The choices as a merge takes them: those for facts in which the scopes differ, each once, in the rows' order. */
export function resolutionsOf(rows: readonly MergeRow[], choices: Choices): Resolution[] {
  const resolutions = new Map<string, Resolution>();
  for (const { place, source, target } of rows) {
    const take = choices.get(place);
    const fact = source ?? target;
    if (take !== undefined && fact !== null)
      resolutions.set(place, { predicate: fact.predicate, args: fact.args, take });
  }
  return [...resolutions.values()];
}
