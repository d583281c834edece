/**
 * A state with operations supposed over it, all at once. Must be called in the turn in which the context was pinned.
 */
import type { ReadContext } from '../session/read-context.ts';
import { type Supposed, type SupposedOperation, Supposition } from '../read/suppose.ts';

export async function suppose(
  context: ReadContext,
  operations: readonly SupposedOperation[],
): Promise<Supposed> {
  const withRules = operations.some(({ kind }) => ['teach', 'updateRule', 'forgetRule'].includes(kind));
  const supposition = new Supposition(context, withRules);
  for (const operation of operations) await supposition.add(operation);
  return supposition.made();
}
