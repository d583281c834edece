/** What the address of the Rules view says: the rule that is open, and what the list is narrowed to. */
export interface RulesSearch {
  /** Id of the rule in the editor. */
  rule?: string | undefined;
  /** A part of the rule's text or name. */
  q?: string | undefined;
}

export function rulesSearchOf(search: Record<string, unknown>): RulesSearch {
  const { rule, q } = search;
  return {
    ...(typeof rule === 'string' && rule !== '' ? { rule } : {}),
    ...(typeof q === 'string' && q !== '' ? { q } : {}),
  };
}
