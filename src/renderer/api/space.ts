/**
 * The space that the workbench shows: database, tenant and scope.
 *
 * The address bar is its only home: every view reads it from the route, so that a link restores it. Reading never
 * fails: missing or malformed parts fall back to the defaults.
 */
import { databaseNameProblem, scopeNameProblem, tenantNameProblem } from '../../engine/contract/names.ts';

/** All scopes together, the facts without scope, or one scope. */
export type ScopeSelection =
  | { readonly kind: 'all' }
  | { readonly kind: 'unscoped' }
  | { readonly kind: 'named'; readonly name: string };

/** A database, tenant and scope. */
export interface Space {
  readonly database: string;
  readonly tenant: string;
  readonly scope: ScopeSelection;
}

/** The space as search parameters of a route; absent parameters have their defaults. */
export interface SpaceSearch {
  database?: string | undefined;
  tenant?: string | undefined;
  scope?: string | undefined;
  unscoped?: 'true' | undefined;
}

/** Name of the default database and tenant. */
export const defaultName = 'default';
/** The selection of all scopes. */
export const allScopes: ScopeSelection = { kind: 'all' };

/** True for a text in which `problemOf` finds nothing wrong. */
export function isName(value: unknown, problemOf: (name: string) => string | null): value is string {
  return typeof value === 'string' && problemOf(value) === null;
}

/** Returns the search parameters of the space; malformed names are dropped. */
export function spaceSearchOf(search: Record<string, unknown>): SpaceSearch {
  const result: SpaceSearch = {};
  const { database, tenant, scope } = search;
  if (isName(database, databaseNameProblem) && database !== defaultName) result.database = database;
  if (isName(tenant, tenantNameProblem) && tenant !== defaultName) result.tenant = tenant;
  if (isName(scope, scopeNameProblem)) result.scope = scope;
  else if (search['unscoped'] === 'true') result.unscoped = 'true';
  return result;
}

/** Returns the space of search parameters. */
export function spaceOfSearch(search: SpaceSearch): Space {
  return {
    database: search.database ?? defaultName,
    tenant: search.tenant ?? defaultName,
    scope:
      search.scope !== undefined
        ? { kind: 'named', name: search.scope }
        : search.unscoped === 'true'
          ? { kind: 'unscoped' }
          : allScopes,
  };
}

/** Returns the search parameters of a space: the inverse of `spaceOfSearch`. */
export function searchOf(space: Space): SpaceSearch {
  return spaceSearchOf({
    database: space.database,
    tenant: space.tenant,
    ...(space.scope.kind === 'named' ? { scope: space.scope.name } : {}),
    ...(space.scope.kind === 'unscoped' ? { unscoped: 'true' } : {}),
  });
}

/** Returns `scope` and `unscoped` as request bodies take them; neither for all scopes. */
export function scopeFieldsOf(scope: ScopeSelection): { scope?: string; unscoped?: true } {
  if (scope.kind === 'named') return { scope: scope.name };
  return scope.kind === 'unscoped' ? { unscoped: true } : {};
}

/** Returns the same for the scope of a stored fact or rule; null means unscoped. */
export function scopeFieldsOfStored(scope: string | null): { scope?: string; unscoped?: true } {
  return scope === null ? { unscoped: true } : { scope };
}

/** Returns the label of a scope selection. */
export function scopeLabel(scope: ScopeSelection): string {
  if (scope.kind === 'named') return scope.name;
  return scope.kind === 'unscoped' ? 'No scope' : 'All scopes';
}

/** Returns a string that is equal exactly for equal selections. */
export function scopeKey(scope: ScopeSelection): string {
  return scope.kind === 'named' ? `named:${scope.name}` : scope.kind;
}
