/**
 * The places of the workbench that a link from outside may open: known routes, with known parameters.
 *
 * A link comes from anywhere: a page, a mail, another program. It may show something and no more, so parameters that
 * would begin something (make a key, rename, fork, import, export) are not in the table, and a link with one is refused
 * whole rather than opened in part.
 */

const space = ['database', 'tenant', 'scope', 'unscoped'];

/** The routes, each with the parameters that a link may have, those of the space aside. */
const linkedPlaces: Readonly<Record<string, readonly string[]>> = {
  '/': [],
  '/start': [],
  '/facts': ['predicate', 'q', 'truth', 'derived', 'sort', 'order', 'fact'],
  '/rules': ['rule', 'q', 'sort', 'view', 'at'],
  '/ask': ['question', 'stored', 'sort', 'why', 'whyNot', 'trace'],
  '/context': [
    'goals',
    'facts',
    'chars',
    'predicates',
    'cap',
    'buckets',
    'inferred',
    'resolve',
    'part',
    'rows',
    'fact',
  ],
  '/proof': ['question', 'look', 'from', 'find', 'hide', 'ways'],
  '/why-not': ['question'],
  '/trace': ['question'],
  '/what-if': ['add', 'retract', 'without', 'goals'],
  '/scopes': ['source', 'target', 'base', 'strategy', 'part', 'kind', 'q', 'fact'],
  '/memory': ['part', 'threshold', 'within', 'predicates', 'episodes', 'least', 'fact'],
  '/agents': ['part', 'client', 'tool', 'outcome', 'q', 'call', 'program'],
  '/admin': [],
  '/admin/databases': ['of', 'tenantOf', 'databases', 'tenants'],
  '/admin/replication': [],
  '/admin/keys': ['q', 'key'],
  '/settings': [],
};

export const linkedRoutes = Object.keys(linkedPlaces);

const longestPlace = 4096;

/**
 * The place as an address of the workbench, `/ask?question=…`, written anew from what was read; null where `text` is no
 * place that a link may open.
 */
export function readPlace(text: string): string | null {
  if (text.length > longestPlace || !text.startsWith('/') || /\p{Cc}/u.test(text)) return null;
  const [path = '', ...rest] = text.split('?');
  const route = path.length > 1 ? path.replace(/\/$/, '') : path;
  if (!Object.hasOwn(linkedPlaces, route)) return null;
  const parameters = new URLSearchParams(rest.join('?'));
  const allowed = new Set([...space, ...(linkedPlaces[route] ?? [])]);
  const names = [...parameters.keys()];
  if (new Set(names).size !== names.length || names.some((name) => !allowed.has(name))) return null;
  // What was written as %0A is a control character all the same; in a question a line break is none of its harm.
  if ([...parameters.values()].some((value) => /[^\P{Cc}\n\t]/u.test(value))) return null;
  return parameters.size === 0 ? route : `${route}?${parameters}`;
}

const linkScheme = 'corollary:';

/** The place that a link `corollary://ask?question=…` names, or null where it names none that it may. */
export function placeOfLink(link: string): string | null {
  if (link.slice(0, linkScheme.length).toLowerCase() !== linkScheme) return null;
  return readPlace(`/${link.slice(linkScheme.length).replace(/^\/{0,3}/, '')}`);
}

export function isLink(text: string): boolean {
  return text.slice(0, linkScheme.length).toLowerCase() === linkScheme;
}
