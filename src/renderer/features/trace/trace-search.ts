/** What the address of the Trace view says: the question whose inference is shown. */
export interface TraceSearch {
  question?: string | undefined;
}

export function traceSearchOf(search: Record<string, unknown>): TraceSearch {
  const { question } = search;
  return typeof question === 'string' && question !== '' ? { question } : {};
}
