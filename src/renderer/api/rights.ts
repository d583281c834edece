/**
 * What the current user may do, from the operations table and the service's description of the key.
 *
 * It only spares certain refusals: the service decides. Until the caller is known, everything counts as allowed.
 * Reasons are sentences.
 */
import type { WhoAmI } from '../../engine/contract/authentication.ts';
import type { Operation } from '../../../client/src/operation.ts';
import { operations } from '../../../client/src/operations.ts';
import type { OperationName } from '../../engine/contract/operations.ts';
import type { Role } from '../../engine/contract/operation-spec.ts';
import { useServiceReadiness, useReplication, useWhoAmI } from './queries.ts';
import { reasonInPast } from './moment.ts';
import { useSession } from './session.tsx';
import type { Space } from './space.ts';

/** Role and restrictions of the current user; empty lists mean no restriction. */
export interface Rights {
  readonly role: WhoAmI['role'];
  readonly databases: readonly string[];
  readonly tenants: readonly string[];
}

/** Target of an action; null if it concerns no tenant or no database. */
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

/** Returns true if the key is valid for the database and tenant. */
export function reaches(
  { databases, tenants }: Pick<Rights, 'databases' | 'tenants'>,
  { database, tenant }: ActionTarget,
): boolean {
  return (database === null || isAmong(databases, database)) && (tenant === null || isAmong(tenants, tenant));
}

/** Returns why the operation would always be refused there; null if it would not. */
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
  if (spec.isOfAllTenants === true && rights.tenants.length > 0)
    return 'This concerns all tenants: it needs a key that is not restricted to tenants.';
  if (spec.changesRules === true && rights.tenants.length > 0)
    return 'Rules serve all tenants: a key that is restricted to tenants cannot change them.';
  if (database !== null && !isAmong(rights.databases, database))
    return `Your key does not reach the database ${database}.`;
  if (tenant !== null && !isAmong(rights.tenants, tenant))
    return `Your key does not reach the tenant ${tenant}.`;
  return null;
}

/** Returns why a follower refuses the operation; null if it does not, or the service is no follower. */
function reasonOfFollower(leader: Followed, name: OperationName): string | null {
  const spec: Operation = operations[name];
  if (leader === null || spec.kind === 'read') return null;
  const whom = leader.url === null ? 'its leader' : `its leader at ${leader.url}`;
  return `This service is a follower: ${whom} takes what is written.`;
}

/** Returns why the current user may not perform the operation, by default in the session's space; null if allowed. */
export function useReason(name: OperationName, place?: ActionTarget): string | null {
  const rights = useWhoAmI().data;
  const { space, moment } = useSession();
  const followed = useFollowed();
  const reason = rights === undefined ? null : reasonAgainst(rights, name, place ?? space);
  return reason ?? reasonOfFollower(followed, name) ?? reasonInPast(moment, name);
}

/**
 * The leader that the service follows, its address visible only to admins; null if the service leads or this is
 * unknown.
 */
type Followed = { readonly url: string | null } | null;

/** A follower may be promoted; a leader follows only after a restart, which ends the stream of changes. */
const followedEveryMs = 10_000;

/** Returns the leader that the service follows. */
export function useFollowed(): Followed {
  const isKnown = useWhoAmI().data !== undefined;
  const mayAsk = useMayAskOfReplication();
  const status = useReplication({
    everyMs: (mode) => (mode === 'FOLLOWER' ? followedEveryMs : false),
    isAllowed: mayAsk,
  }).data;
  const readiness = useServiceReadiness({
    everyMs: (replication) => ((replication ?? 'off') === 'off' ? false : followedEveryMs),
    isWanted: isKnown && !mayAsk,
  }).data;
  if (status !== undefined) return status.mode === 'FOLLOWER' ? { url: status.leader } : null;
  const state = readiness?.subsystems.replication ?? 'off';
  return state === 'off' ? null : { url: null };
}

/** Returns true if the current user may read the replication state; false while unknown. */
export function useMayAskOfReplication(): boolean {
  const rights = useWhoAmI().data;
  return (
    rights !== undefined &&
    reasonAgainst(rights, 'replicationStatus', { database: null, tenant: null }) === null
  );
}

/** Returns true if the current user reaches the space, or while that is unknown. */
export function useReaches(space: Space): boolean {
  const rights = useWhoAmI().data;
  return rights === undefined || reaches(rights, space);
}
