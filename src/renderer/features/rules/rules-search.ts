/** Search parameters of the Rules view: open rule, test or package, filter, way of showing, and the predicate to rename. */

/** What the view shows instead of the list. */
export const otherViews = ['graph', 'document', 'tests', 'packages'] as const;

/** The search parameters. */
export interface RulesSearch {
  /** Id of the rule in the editor. */
  rule?: string | undefined;
  /** Part of a rule's text or name. */
  q?: string | undefined;
  /** Order of the list, as in `rule-order.ts`; absent: by creation. */
  sort?: string | undefined;
  /** `graph` shows the dependency graph instead of the list, `document` all rules as one text, `tests` the tests, `packages` the packages. */
  view?: (typeof otherViews)[number] | undefined;
  /** Name of the test in the editor. */
  test?: string | undefined;
  /** Name of the package whose contents are shown. */
  package?: string | undefined;
  /** Selected relation of the graph, as `name/arity`. */
  at?: string | undefined;
  /** The predicate to rename, as `name/arity`; opens the dialog. */
  rename?: string | undefined;
  /** Its new name. */
  to?: string | undefined;
  /** Opens the dialog that finds and replaces; what it finds at first, possibly empty. */
  find?: string | undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function viewOf(value: unknown): RulesSearch['view'] {
  return otherViews.find((each) => each === value);
}

/** Reads the search parameters; invalid ones are dropped. */
export function rulesSearchOf(search: Record<string, unknown>): RulesSearch {
  const all = {
    rule: textOf(search['rule']),
    q: textOf(search['q']),
    sort: textOf(search['sort']),
    view: viewOf(search['view']),
    test: textOf(search['test']),
    package: textOf(search['package']),
    at: textOf(search['at']),
    rename: textOf(search['rename']),
    to: textOf(search['to']),
    find: typeof search['find'] === 'string' ? search['find'] : undefined,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

/** Returns name and arity of `parent/2`; null if malformed. */
export function readPredicate(text: string): { name: string; arity: number } | null {
  const parts = /^(.+)\/(\d{1,2})$/s.exec(text);
  const [, name, arity] = parts ?? [];
  return name === undefined || arity === undefined ? null : { name, arity: Number(arity) };
}
