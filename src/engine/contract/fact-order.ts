/** The orders of a listing of facts. */

export const factSortKeys = [
  'predicate',
  'createdAt',
  'updatedAt',
  'salience',
  'validUntil',
  'scope',
  'truthVal',
  'derived',
] as const;
/** `argN` with N from 0 to 63. */
export const argumentSort = /^arg(\d|[1-5]\d|6[0-3])$/;

/** Sort key of a listing; `argN`: the argument at position N, from 0. */
export type FactSort = (typeof factSortKeys)[number] | `arg${number}`;

/** The position of the argument that a listing is sorted by; null for any other sort key. */
export function sortedPosition(sort: FactSort): number | null {
  const [, position] = argumentSort.exec(sort) ?? [];
  return position === undefined ? null : Number(position);
}

/** True if the sort key is text or absent: an argument or the scope. */
export function isTextSort(sort: FactSort): boolean {
  return sort === 'scope' || sortedPosition(sort) !== null;
}
