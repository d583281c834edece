/** How many arguments the facts of a predicate have. */
import { usePredicates } from '../../api/queries.ts';

/** Arguments of the widest predicate of that name; null where none is chosen. */
export function useArity(predicate: string | undefined): number | null {
  const rows = usePredicates().data;
  if (predicate === undefined) return null;
  const arities = (rows ?? []).filter((row) => row.name === predicate).map((row) => row.arity);
  return arities.length === 0 ? null : Math.max(...arities);
}
