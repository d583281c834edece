/** What the address of the Ask view says: the question that is answered, and what of it is explained beside it. */
export interface AskSearch {
  question?: string | undefined;
  /** Stored facts only, without inference. */
  stored?: 'true' | undefined;
  /** The answer whose proof is open, as rendered. */
  why?: string | undefined;
  /** What was expected and did not come, whose explanation is open. */
  whyNot?: string | undefined;
  /** The trace of the question is open. */
  trace?: 'true' | undefined;
}

/** Nothing is open beside the answers. */
export const nothingBeside = { why: undefined, whyNot: undefined, trace: undefined } as const;

/** Reads search parameters; what is not understood is dropped. */
export function askSearchOf(search: Record<string, unknown>): AskSearch {
  const { question, stored, why, whyNot, trace } = search;
  return {
    ...(typeof question === 'string' && question !== '' ? { question } : {}),
    ...(stored === 'true' ? { stored: 'true' } : {}),
    ...(typeof why === 'string' && why !== '' ? { why } : {}),
    ...(typeof whyNot === 'string' && whyNot !== '' ? { whyNot } : {}),
    ...(trace === 'true' ? { trace: 'true' } : {}),
  };
}
