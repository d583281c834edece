/**
 * Where in the knowledge base the workbench looks: database, tenant and scope.
 *
 * The address bar is the one home of the space: every view reads it from the route, so that a link opens
 * what it was copied from. Reading never fails: what is missing or malformed falls back to the default.
 */
import { databaseNameSchema, scopeNameSchema, tenantNameSchema } from '../../engine/contract/fields.ts';

/** All scopes together, the facts without scope, or one scope by name. */
export type ScopeSelection =
  | { readonly kind: 'all' }
  | { readonly kind: 'unscoped' }
  | { readonly kind: 'named'; readonly name: string };

export interface Space {
  readonly database: string;
  readonly tenant: string;
  readonly scope: ScopeSelection;
}

/** The space as search parameters of a route; what is absent has its default. */
export interface SpaceSearch {
  database?: string | undefined;
  tenant?: string | undefined;
  scope?: string | undefined;
  unscoped?: 'true' | undefined;
}

export const defaultName = 'default';
export const allScopes: ScopeSelection = { kind: 'all' };

/** The parts of a route's search parameters that make the space; malformed names are dropped. */
export function spaceSearchOf(search: Record<string, unknown>): SpaceSearch {
  const result: SpaceSearch = {};
  const database = databaseNameSchema.safeParse(search['database']);
  if (database.success && database.data !== defaultName) result.database = database.data;
  const tenant = tenantNameSchema.safeParse(search['tenant']);
  if (tenant.success && tenant.data !== defaultName) result.tenant = tenant.data;
  const scope = scopeNameSchema.safeParse(search['scope']);
  if (scope.success) result.scope = scope.data;
  else if (search['unscoped'] === 'true') result.unscoped = 'true';
  return result;
}

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

/** The search parameters of a space: the inverse of `spaceOf`. */
export function searchOf(space: Space): SpaceSearch {
  return spaceSearchOf({
    database: space.database,
    tenant: space.tenant,
    ...(space.scope.kind === 'named' ? { scope: space.scope.name } : {}),
    ...(space.scope.kind === 'unscoped' ? { unscoped: 'true' } : {}),
  });
}

/** `scope` and `unscoped` as request bodies take them. All scopes: neither. */
export function scopeFieldsOf(scope: ScopeSelection): { scope?: string; unscoped?: true } {
  if (scope.kind === 'named') return { scope: scope.name };
  return scope.kind === 'unscoped' ? { unscoped: true } : {};
}

/** The same for the scope of one stored fact or rule, where null is the unscoped. */
export function scopeFieldsOfStored(scope: string | null): { scope?: string; unscoped?: true } {
  return scope === null ? { unscoped: true } : { scope };
}

/** How a scope is called in the interface. */
export function scopeLabel(scope: ScopeSelection): string {
  if (scope.kind === 'named') return scope.name;
  return scope.kind === 'unscoped' ? 'No scope' : 'All scopes';
}

/** A key that is equal exactly for equal choices. */
export function scopeKey(scope: ScopeSelection): string {
  return scope.kind === 'named' ? `named:${scope.name}` : scope.kind;
}
