/**
 * What the one who is signed in may do, by the operations table and by what the service says of the key.
 *
 * It only saves the way to a refusal that is certain: the service decides. While it has not said who calls, nothing
 * counts as forbidden. The reasons are sentences for people.
 */
import type { WhoAmI } from '../../engine/contract/authentication.ts';
import type { Operation } from '../../../client/src/operation.ts';
import { operations } from '../../../client/src/operations.ts';
import type { OperationName } from '../../engine/contract/operations.ts';
import type { Role } from '../../engine/contract/operation-spec.ts';
import { useServiceReadiness, useReplication, useWhoAmI } from './queries.ts';
import { useSession } from './session.tsx';
import type { Space } from './space.ts';

/** Of whoever is signed in, what says what they may. Empty lists mean no restriction. */
export interface Rights {
  readonly role: WhoAmI['role'];
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
}

/** Where something would be done; null: it is about no tenant, or about no database. */
export interface ActionTarget {
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
  { database, tenant }: ActionTarget,
): boolean {
  return (database === null || isAmong(databases, database)) && (tenant === null || isAmong(tenants, tenant));
}

/** Why the operation would be refused there, for good; null: it would not. */
export function reasonAgainst(
  rights: Rights,
  name: OperationName,
  { database, tenant }: ActionTarget,
): string | null {
  const spec: Operation = operations[name];
  if (!covers(rights.role, spec.role))
    return `This needs a key of the role ${spec.role}; you are signed in as ${rights.role}.`;
  const isOfEverything = spec.role === 'replica' || spec.isOfEverything === true;
  if (isOfEverything && rights.databases.length + rights.tenants.length > 0)
    return 'This needs a key without restrictions.';
  if (spec.changesRules === true && rights.tenants.length > 0)
    return 'Rules serve all tenants: a key that is restricted to tenants cannot change them.';
  if (database !== null && !isAmong(rights.databases, database))
    return `Your key does not reach the database ${database}.`;
  if (tenant !== null && !isAmong(rights.tenants, tenant))
    return `Your key does not reach the tenant ${tenant}.`;
  return null;
}

/** Why a follower refuses the operation; null: it does not, or the service is none. */
export function reasonOfFollower(leader: Followed, name: OperationName): string | null {
  const spec: Operation = operations[name];
  if (leader === null || spec.kind === 'read') return null;
  const whom = leader.url === null ? 'its leader' : `its leader at ${leader.url}`;
  return `This service is a follower: ${whom} takes what is written.`;
}

/** Why the operation would be refused to the one who is signed in, where the workbench is; null: it would not. */
export function useReason(name: OperationName, place?: ActionTarget): string | null {
  const rights = useWhoAmI().data;
  const { space } = useSession();
  const followed = useFollowed();
  const reason = rights === undefined ? null : reasonAgainst(rights, name, place ?? space);
  return reason ?? reasonOfFollower(followed, name);
}

/** Whom the service follows; its address is told to admins alone. null: it leads, or nobody knows yet. */
export type Followed = { readonly url: string | null } | null;

const followedEveryMs = 10_000;

export function useFollowed(): Followed {
  const isKnown = useWhoAmI().data !== undefined;
  const mayAsk = useMayAskOfReplication();
  const status = useReplication({ everyMs: followedEveryMs, isAllowed: mayAsk }).data;
  const readiness = useServiceReadiness({ everyMs: followedEveryMs, isWanted: isKnown && !mayAsk }).data;
  if (status !== undefined) return status.mode === 'FOLLOWER' ? { url: status.leader } : null;
  const state = readiness?.subsystems.replication ?? 'off';
  return state === 'off' ? null : { url: null };
}

/** Whether who is signed in is told how the service follows; false while that is not known. */
export function useMayAskOfReplication(): boolean {
  const rights = useWhoAmI().data;
  return (
    rights !== undefined &&
    reasonAgainst(rights, 'replicationStatus', { database: null, tenant: null }) === null
  );
}

/** Whether the one who is signed in reaches the space; true while that is not known. */
export function useReaches(space: Space): boolean {
  const rights = useWhoAmI().data;
  return rights === undefined || reaches(rights, space);
}
