/**
 * Does `work` for each item, so many at a time, and answers in the order of the items. Where one fails the signal of the
 * others is aborted, and when all have ended the first failure is thrown. `signal` aborts all of them.
 */
export async function allInTurns<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: Item, signal: AbortSignal) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const results: Result[] = [];
  let failure: { readonly error: unknown } | null = null;
  let next = 0;
  const takeTurns = async (): Promise<void> => {
    while (next < items.length && failure === null) {
      const at = next++;
      try {
        signal.throwIfAborted();
        results[at] = await work(items[at] as Item, ended);
      } catch (error) {
        failure ??= { error };
        failed.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, takeTurns));
  if (failure !== null) throw (failure as { readonly error: unknown }).error;
  return results;
}
