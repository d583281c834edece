/** What the address of the Ask view says: the question that is answered, and what of it is explained beside it. */
export interface AskSearch {
  /** The tab that shows it; `newTab` asks for an empty one. What no tab is called opens where it fits. */
  tab?: string | undefined;
  question?: string | undefined;
  /** Stored facts only, without inference. */
  stored?: 'true' | undefined;
  /** The column that the answers are in the order of, as `answer-order.ts` writes it; absent: as they came. */
  sort?: string | undefined;
  /** The answer whose proof is open, as rendered. */
  why?: string | undefined;
  /** What was expected and did not come, whose explanation is open. */
  whyNot?: string | undefined;
  /** The trace of the question is open. */
  trace?: 'true' | undefined;
}

export const newTab = 'new';

/** Nothing is open beside the answers. */
export const nothingBeside = { why: undefined, whyNot: undefined, trace: undefined } as const;

/** Reads search parameters; what is not understood is dropped. */
export function askSearchOf(search: Record<string, unknown>): AskSearch {
  const { tab, question, stored, sort, why, whyNot, trace } = search;
  return {
    ...(typeof tab === 'string' && /^[a-z0-9]{1,16}$/.test(tab) ? { tab } : {}),
    ...(typeof question === 'string' && question !== '' ? { question } : {}),
    ...(stored === 'true' ? { stored: 'true' } : {}),
    ...(typeof sort === 'string' && sort !== '' ? { sort } : {}),
    ...(typeof why === 'string' && why !== '' ? { why } : {}),
    ...(typeof whyNot === 'string' && whyNot !== '' ? { whyNot } : {}),
    ...(trace === 'true' ? { trace: 'true' } : {}),
  };
}
