/** What the address of the Proof view says: the question whose proof is shown. */
export interface ProofSearch {
  question?: string | undefined;
}

export function proofSearchOf(search: Record<string, unknown>): ProofSearch {
  const { question } = search;
  return typeof question === 'string' && question !== '' ? { question } : {};
}
