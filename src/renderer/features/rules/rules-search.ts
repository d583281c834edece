/**
 * What the address of the Rules view says: the rule that is open, what the list is narrowed to, whether rules are
 * listed or drawn, and the predicate that is to be renamed.
 */
export interface RulesSearch {
  /** Id of the rule in the editor. */
  rule?: string | undefined;
  /** A part of the rule's text or name. */
  q?: string | undefined;
  /** The order of the list, as `rule-order.ts` has it; absent: as they were taught. */
  sort?: string | undefined;
  /** `graph`: which predicate depends on which, in place of the list. */
  view?: 'graph' | undefined;
  /** The relation that is chosen in the graph, as `name/arity`. */
  at?: string | undefined;
  /** The predicate that is to be renamed, as `name/arity`; the dialog is open. */
  rename?: string | undefined;
  /** What it is to be called. */
  to?: string | undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function rulesSearchOf(search: Record<string, unknown>): RulesSearch {
  const all = {
    rule: textOf(search['rule']),
    q: textOf(search['q']),
    sort: textOf(search['sort']),
    view: search['view'] === 'graph' ? ('graph' as const) : undefined,
    at: textOf(search['at']),
    rename: textOf(search['rename']),
    to: textOf(search['to']),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** `parent/2` as name and arity; null where it is no such thing. */
export function readPredicate(text: string): { name: string; arity: number } | null {
  const parts = /^(.+)\/(\d{1,2})$/s.exec(text);
  const [, name, arity] = parts ?? [];
  return name === undefined || arity === undefined ? null : { name, arity: Number(arity) };
}
