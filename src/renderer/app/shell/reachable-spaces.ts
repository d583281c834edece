/** The databases and tenants that a key reaches, offered when it does not reach those of the address. */
import { type ActionTarget, reaches, type Rights } from '../../api/rights.ts';

interface Named {
  readonly name: string;
}

/** A database and one of its tenants. */
export type ReachableSpace = { readonly [Part in keyof ActionTarget]: string };

/**
 * Returns reachable tenants of one database, the current one if the key reaches it: the tenants that the key names,
 * else the existing ones, else the current one. `databases` and `tenants` are the service's lists for the key;
 * `tenants` belong to that database.
 */
export function reachableSpaces(
  { databases: allowed, tenants: named }: Pick<Rights, 'databases' | 'tenants'>,
  here: ReachableSpace,
  databases: readonly Named[],
  tenants: readonly Named[],
): ReachableSpace[] {
  const rights = { databases: allowed, tenants: named };
  const listed = databases
    .map(({ name }) => name)
    .filter((name) => reaches(rights, { database: name, tenant: null }));
  const database = listed.includes(here.database) ? here.database : listed[0];
  if (database === undefined) return [];
  const names = named.length > 0 ? named : tenants.map(({ name }) => name);
  const sorted = [...(names.length > 0 ? names : [here.tenant])].sort();
  const place = sorted.map((tenant) => ({ database, tenant }));
  return place.filter(({ tenant }) => database !== here.database || tenant !== here.tenant);
}
