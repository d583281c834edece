/**
 * The addresses of the workbench that an external link may open: known routes with known parameters.
 *
 * A link can come from a web page, a mail or another program. It may only show something, so the table omits
 * parameters that start an action (create a key, rename, fork, import, export), and a link with one is refused
 * completely.
 */

const space = ['database', 'tenant', 'scope', 'unscoped'];

/** The routes with the parameters that a link may have, besides those of the space. */
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

/** The routes. */
export const linkedRoutes = Object.keys(linkedPlaces);

const longestPlace = 4096;

/**
 * Returns the address of the workbench, `/ask?question=…`, rebuilt from the parsed text; null if a link may not open
 * it.
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
  // %0A decodes to a control character as well; a line break in a question is harmless.
  if ([...parameters.values()].some((value) => /[^\P{Cc}\n\t]/u.test(value))) return null;
  return parameters.size === 0 ? route : `${route}?${parameters}`;
}

const linkScheme = 'corollary:';

/** Returns the address of a link `corollary://ask?question=…`; null if the link may not open it. */
export function placeOfLink(link: string): string | null {
  if (link.slice(0, linkScheme.length).toLowerCase() !== linkScheme) return null;
  return readPlace(`/${link.slice(linkScheme.length).replace(/^\/{0,3}/, '')}`);
}

/** Returns true for a link of the application. */
export function isLink(text: string): boolean {
  return text.slice(0, linkScheme.length).toLowerCase() === linkScheme;
}
