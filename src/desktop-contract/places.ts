/**
 * The addresses of the workbench that an external link may open: known routes with known parameters.
 *
 * A link can come from a web page, a mail or another program. It may only show something, so the table omits
 * parameters that start an action (create a key, rename, fork, import, export), and a link with one is refused
 * completely. A question of a link is filled in, not asked: its place has the parameter `unasked`.
 */

/** The space, and the moment that is shown. */
const space = ['database', 'tenant', 'scope', 'unscoped', 'asOf', 'asKnown'];
const defaultDatabase = 'default';
const defaultTenant = 'default';

/** The parameter of a view that fills in its question and waits for the user to ask it. */
export const unasked = 'unasked';

/** The parameters that choose a context window. */
const windowParameters = [
  'query',
  'goals',
  'proofs',
  'fill',
  'facts',
  'chars',
  'tokens',
  'predicates',
  'cap',
  'buckets',
  'inferred',
  'resolve',
];

/** The routes with the parameters that a link may have, besides those of the space. */
const linkedPlaces: Readonly<Record<string, readonly string[]>> = {
  '/': [],
  '/start': [],
  '/facts': ['predicate', 'q', 'truth', 'derived', 'sort', 'order', 'fact'],
  '/rules': ['rule', 'q', 'sort', 'view', 'at'],
  '/ask': ['question', 'words', 'stored', 'sort', 'as', 'axes', 'why', 'whyNot', 'trace', 'plan'],
  '/context': [...windowParameters, 'part', 'rows', 'fact'],
  '/entity': ['of', 'part', 'infer'],
  '/proof': ['question', 'look', 'from', 'find', 'hide', 'ways', 'facts', 'chains', 'flow', 'versus'],
  '/why-not': ['question'],
  '/trace': ['question'],
  '/what-if': ['add', 'retract', 'without', 'goals'],
  '/scopes': ['source', 'target', 'base', 'strategy', 'part', 'kind', 'q', 'fact'],
  '/memory': ['part', 'threshold', 'within', 'predicates', 'episodes', 'least', 'fact'],
  '/history': ['part', 'entity', 'predicate', 'rule', 'actor', 'surface', 'open', 'from', 'to', 'flip'],
  '/agents': ['part', 'client', 'tool', 'outcome', 'q', 'call', 'program'],
  '/admin': [],
  '/admin/databases': ['of', 'tenantOf', 'databases', 'tenants'],
  '/admin/replication': [],
  '/admin/keys': ['q', 'key'],
  '/settings': [],
};

/** The parameters for which a view computes something as soon as it opens. */
const askedParameters: Readonly<Record<string, readonly string[]>> = {
  '/ask': ['question'],
  '/proof': ['question'],
  '/why-not': ['question'],
  '/trace': ['question'],
  '/what-if': ['add', 'retract', 'without', 'goals'],
  '/context': windowParameters,
};

/** The routes. */
export const linkedRoutes = Object.keys(linkedPlaces);

const longestPlace = 4096;

/**
 * Returns the address of the workbench, `/ask?question=…`, rebuilt from the parsed text; null if a link may not open
 * it.
 */
export function readPlace(text: string): string | null {
  const parsed = parsePlace(text);
  if (parsed === null) return null;
  const { route, parameters } = parsed;
  const allowed = allowedOn(route);
  const names = [...parameters.keys()];
  if (new Set(names).size !== names.length || names.some((name) => !allowed.has(name))) return null;
  return joined(route, parameters);
}

/**
 * Returns what a link can open of an address that the workbench shows: without the parameters that are not for links,
 * such as the tab; null if there is no such view or the address is too long.
 */
export function linkablePlace(text: string): string | null {
  const parsed = parsePlace(text);
  if (parsed === null) return null;
  const { route, parameters } = parsed;
  const allowed = allowedOn(route);
  return joined(route, new URLSearchParams([...parameters].filter(([name]) => allowed.has(name))));
}

/** Returns the database that a place shows. */
export function databaseOfPlace(place: string): string {
  return parsePlace(place)?.parameters.get('database') ?? defaultDatabase;
}

/** Returns the tenant that a place shows. */
export function tenantOfPlace(place: string): string {
  return parsePlace(place)?.parameters.get('tenant') ?? defaultTenant;
}

/** Returns the address of the same view without what it shows: `/ask?database=d`. */
export function barePlace(place: string): string {
  const { route, parameters } = parsePlace(place) ?? { route: '/', parameters: new URLSearchParams() };
  return joined(route, new URLSearchParams([...parameters].filter(([name]) => space.includes(name))));
}

interface ParsedPlace {
  readonly route: string;
  readonly parameters: URLSearchParams;
}

function parsePlace(text: string): ParsedPlace | null {
  if (text.length > longestPlace || !text.startsWith('/') || /\p{Cc}/u.test(text)) return null;
  const [path = '', ...rest] = text.split('?');
  const route = path.startsWith(entityPrefix)
    ? entityRouteOf(path)
    : path.length > 1
      ? path.replace(/\/$/, '')
      : path;
  if (route === null || !Object.hasOwn(linkedPlaces, viewOf(route))) return null;
  const parameters = new URLSearchParams(rest.join('?'));
  // %0A decodes to a control character as well; a line break in a question is harmless.
  return [...parameters.values()].some((value) => /[^\P{Cc}\n\t]/u.test(value))
    ? null
    : { route, parameters };
}

function allowedOn(route: string): ReadonlySet<string> {
  const asks = Object.hasOwn(askedParameters, route) ? [unasked] : [];
  return new Set([...space, ...(linkedPlaces[viewOf(route)] ?? []), ...asks]);
}

const entityPrefix = '/entity/';

/** The view of a route: that of an entity has the constant in its path. */
function viewOf(route: string): string {
  return route.startsWith(entityPrefix) ? '/entity' : route;
}

/** The route of an entity, rebuilt from its constant; null if the path is none, or its constant cannot be in one. */
function entityRouteOf(path: string): string | null {
  const [, encoded] = /^\/entity\/([^/]+)\/?$/.exec(path) ?? [];
  if (encoded === undefined) return null;
  try {
    const constant = decodeURIComponent(encoded);
    const isShown = !/^\.{1,2}$/.test(constant) && !/[^\P{Cc}\n\t]/u.test(constant);
    return isShown ? `${entityPrefix}${encodeURIComponent(constant)}` : null;
  } catch (error) {
    // A percent sign that begins no character.
    if (error instanceof URIError) return null;
    throw error;
  }
}

function joined(route: string, parameters: URLSearchParams): string {
  return parameters.size === 0 ? route : `${route}?${parameters}`;
}

const linkScheme = 'corollary:';

/**
 * Returns the address of a link `corollary://ask?question=…`, with its question filled in and not asked; null if the
 * link may not open it.
 */
export function placeOfLink(link: string): string | null {
  if (!isLink(link)) return null;
  const place = readPlace(`/${link.slice(linkScheme.length).replace(/^\/{0,3}/, '')}`);
  if (place === null) return null;
  const [route = '', query = ''] = place.split('?');
  const parameters = new URLSearchParams(query);
  if ((askedParameters[route] ?? []).some((name) => parameters.has(name))) parameters.set(unasked, 'true');
  return joined(route, parameters);
}

/** Returns the link that opens an address of the workbench; null if no link can. */
export function linkOfPlace(text: string): string | null {
  const place = linkablePlace(text);
  return place === null ? null : `${linkScheme}/${place}`;
}

/** Returns true for a link of the application. */
export function isLink(text: string): boolean {
  return text.slice(0, linkScheme.length).toLowerCase() === linkScheme;
}
