/**
 * What the one who is signed in may do, by the operations table and by what the service says of the key.
 *
 * It only saves the way to a refusal that is certain: the service decides. While it has not said who calls, nothing
 * counts as forbidden. The reasons are sentences for people.
 */
import type { WhoAmI } from '../../engine/contract/authentication.ts';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec, Role } from '../../engine/contract/operation-spec.ts';
import { useWhoAmI } from './queries.ts';
import { useSession } from './session.tsx';
import type { Space } from './space.ts';

/** Of whoever is signed in, what says what they may. Empty lists mean no restriction. */
export interface Rights {
  readonly role: WhoAmI['role'];
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
}

/** Where something would be done; null: it is about no tenant, or about no database. */
export interface Place {
  readonly database: string | null;
  readonly tenant: string | null;
}

const ranks = { public: 0, reader: 1, writer: 2, admin: 3 } as const;

function covers(role: Rights['role'], needed: Role): boolean {
  if (needed === 'public') return true;
  if (needed === 'replica') return role === 'replica' || role === 'admin';
  return role !== 'replica' && ranks[role] >= ranks[needed];
}

function isAmong(restriction: readonly string[], name: string): boolean {
  return restriction.length === 0 || restriction.includes(name);
}

/** Whether a key is good for the database and the tenant. */
export function reaches(
  { databases, tenants }: Pick<Rights, 'databases' | 'tenants'>,
  { database, tenant }: Place,
): boolean {
  return (database === null || isAmong(databases, database)) && (tenant === null || isAmong(tenants, tenant));
}

/** Why the operation would be refused there, for good; null: it would not. */
export function reasonAgainst(
  rights: Rights,
  name: OperationName,
  { database, tenant }: Place,
): string | null {
  const spec: OperationSpec = operations[name];
  if (!covers(rights.role, spec.role))
    return `This needs a key of the role ${spec.role}; you are signed in as ${rights.role}.`;
  if (spec.role === 'replica' && rights.databases.length + rights.tenants.length > 0)
    return 'This needs a key without restrictions.';
  if (spec.changesRules === true && rights.tenants.length > 0)
    return 'Rules serve all tenants: a key that is restricted to tenants cannot change them.';
  if (database !== null && !isAmong(rights.databases, database))
    return `Your key does not reach the database ${database}.`;
  if (tenant !== null && !isAmong(rights.tenants, tenant))
    return `Your key does not reach the tenant ${tenant}.`;
  return null;
}

/** Why the operation would be refused to the one who is signed in, where the workbench is; null: it would not. */
export function useReason(name: OperationName, place?: Place): string | null {
  const rights = useWhoAmI().data;
  const { space } = useSession();
  return rights === undefined ? null : reasonAgainst(rights, name, place ?? space);
}

/** Whether the one who is signed in reaches the space; true while that is not known. */
export function useReaches(space: Space): boolean {
  const rights = useWhoAmI().data;
  return rights === undefined || reaches(rights, space);
}
