/** What the address of the Why-not view says: the statement that one expected to hold. */
export interface WhyNotSearch {
  question?: string | undefined;
}

export function whyNotSearchOf(search: Record<string, unknown>): WhyNotSearch {
  const { question } = search;
  return typeof question === 'string' && question !== '' ? { question } : {};
}
