/** The search parameters of the Admin view: the chosen database and tenant, and the filters of the lists. */
import { databaseNameProblem, tenantNameProblem } from '../../../engine/contract/names.ts';
import { allScopes, isName, searchOf, type Space } from '../../api/space.ts';

/** The chosen database need not be the one the workbench is in. */
export interface AdminSearch {
  /** The database whose tenants are listed; absent: the one the workbench is in. */
  of?: string | undefined;
  /** The tenant whose scopes are listed; absent: the one the workbench is in, or the first. */
  tenantOf?: string | undefined;
  /** Filters databases by a part of the name. */
  databases?: string | undefined;
  /** Filters tenants by a part of the name. */
  tenants?: string | undefined;
}

/** Reads search parameters; drops those it does not understand. */
export function adminSearchOf(search: Record<string, unknown>): AdminSearch {
  const result: AdminSearch = {};
  const { of, tenantOf } = search;
  if (isName(of, databaseNameProblem)) result.of = of;
  if (isName(tenantOf, tenantNameProblem)) result.tenantOf = tenantOf;
  for (const name of ['databases', 'tenants'] as const) {
    const part = search[name];
    if (typeof part === 'string' && part !== '') result[name] = part;
  }
  return result;
}

/** The rows whose name contains `part`, ignoring case. */
export function withPart<Row extends { readonly name: string }>(rows: readonly Row[], part = ''): Row[] {
  const wanted = part.toLowerCase();
  return rows.filter((row) => row.name.toLowerCase().includes(wanted));
}

/** The address of the Scopes view in a database and tenant; `source`: the scope to compare with another. */
export function scopesAddress(where: Omit<Space, 'scope'>, source?: string): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(searchOf({ ...where, scope: allScopes })))
    if (typeof value === 'string') parameters.set(name, value);
  if (source !== undefined) parameters.set('source', source);
  return `#/scopes${parameters.size === 0 ? '' : `?${parameters}`}`;
}
