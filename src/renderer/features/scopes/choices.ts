/**
 * Choices per fact before a merge: source's version, target's, or both.
 *
 * A choice applies to predicate and arguments, so a fact and its negation share it. It is a draft; one for a fact
 * without differences is kept without effect.
 */
import type { Resolution } from '../../../engine/contract/scopes.ts';
import type { MergeRow } from './merge-rows.ts';

/** The possible choices. */
export const takeOptions = ['source', 'target', 'both'] as const;
/** A choice. */
export type Take = (typeof takeOptions)[number];

/** By row key of the fact. */
export type Choices = ReadonlyMap<string, Take>;

function isTake(value: unknown): value is Take {
  return takeOptions.some((take) => take === value);
}

/** Reads stored choices; an invalid draft counts as none. */
export function readChoices(draft: string): Choices {
  if (draft === '') return new Map();
  let value: unknown;
  try {
    value = JSON.parse(draft);
  } catch {
    // Another version wrote it; the next choice replaces it.
    return new Map();
  }
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(Object.entries(value).filter((entry): entry is [string, Take] => isTake(entry[1])));
}

/** Returns the choices as a draft. */
export function writeChoices(choices: Choices): string {
  return choices.size === 0 ? '' : JSON.stringify(Object.fromEntries(choices));
}

/** Returns the choices with `take` for `places`; null removes them. */
export function withChoice(choices: Choices, places: readonly string[], take: Take | null): Choices {
  const next = new Map(choices);
  for (const place of places)
    if (take === null) next.delete(place);
    else next.set(place, take);
  return next;
}

/** Returns the choices as a merge takes them: for facts that differ, without duplicates, in row order. */
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
