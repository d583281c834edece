import { usePredicates } from '../../api/queries.ts';

/**
 * The number of arguments of a predicate, the largest if it has several arities; null if none is selected or
 * it is unknown.
 */
export function useArity(predicate: string | undefined): number | null {
  const rows = usePredicates().data;
  if (predicate === undefined) return null;
  const arities = (rows ?? []).filter((row) => row.name === predicate).map((row) => row.arity);
  return arities.length === 0 ? null : Math.max(...arities);
}
