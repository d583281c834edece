/** What the address of the Ask view says: the question that is answered, and the answer that is explained. */
export interface AskSearch {
  question?: string | undefined;
  /** Stored facts only, without inference. */
  stored?: 'true' | undefined;
  /** The answer whose proof is open, as rendered. */
  why?: string | undefined;
}

/** Reads search parameters; what is not understood is dropped. */
export function askSearchOf(search: Record<string, unknown>): AskSearch {
  const { question, stored, why } = search;
  return {
    ...(typeof question === 'string' && question !== '' ? { question } : {}),
    ...(stored === 'true' ? { stored: 'true' } : {}),
    ...(typeof why === 'string' && why !== '' ? { why } : {}),
  };
}
