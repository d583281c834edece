/** Questions to the service that several views share, and the way all views write. */
import {
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  MutationCache,
  QueryCache,
} from '@tanstack/react-query';
import type { PredicateList } from '../../engine/contract/facts.ts';
import type { OperationName, OperationOutput, OperationRequest } from '../../engine/contract/operations.ts';
import { call as callEndpoint, type ServiceEndpoint, fetchText } from './client.ts';
import { invalidate, queryKeyOf, noteGeneration, type Topic, topics } from './live.ts';
import { asSignedIn, currentKey, noteRefused, useCredential } from './credential.ts';
import { ApiError, isPassing } from './problem.ts';
import { useSession } from './session.tsx';

/** Of calls that do not wait for another key, such as those of a transaction. */
function onError(error: Error): void {
  if (error instanceof ApiError && error.code === 'Unauthenticated') noteRefused(currentKey(), error);
}

/**
 * The cache of what the service answered. It asks again when told to and when a view opens, since counts of what
 * inference did (fired, known conclusions, dependents) change without a change of knowledge; not on a timer.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The service is on this machine: the browser's idea of being online says nothing about it.
      queries: {
        networkMode: 'always',
        staleTime: 2_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < 2 && isPassing(error),
        retryDelay: 400,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}

const lookAgainMs = 2000;
/** So often what does not get complete is looked at. */
const lookSeldomMs = 60_000;
const seenSince = new WeakMap<object, number>();

/** When counts that are not complete are to be looked at again; what stays as it is, ever more seldom. */
function untilComplete(rows: PredicateList['predicates'] | undefined): number | false {
  if (rows === undefined || rows.every(({ derivedComplete }) => derivedComplete)) return false;
  const now = Date.now();
  const since = seenSince.get(rows) ?? now;
  seenSince.set(rows, since);
  return Math.min(lookSeldomMs, Math.max(lookAgainMs, (now - since) / 2));
}

/** Every predicate, with its counts: looked at again until those of conclusions are complete. */
export function usePredicates() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('predicates', endpoint),
    queryFn: async ({ signal }) => (await call('listPredicates', {}, { signal })).predicates,
    // What is not worked out yet is, while nobody asks.
    refetchInterval: ({ state }) => untilComplete(state.data),
  });
}

export function useRules() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('rules', endpoint),
    queryFn: async ({ signal }) => (await call('listRules', {}, { signal })).rules,
  });
}

export function useDatabases(options: { readonly everyMs?: number } = {}) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['databases'],
    queryFn: async ({ signal }) => (await call('listDatabases', {}, { signal })).databases,
    refetchInterval: options.everyMs ?? false,
  });
}

/** The tenants of a database that this caller can reach; null asks for none. */
export function useTenants(database: string | null, options: { readonly everyMs?: number } = {}) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['databases', database, 'tenants'],
    queryFn: async ({ signal }) =>
      (await call('listTenants', { params: { name: database ?? '' } }, { signal })).tenants,
    enabled: database !== null,
    refetchInterval: options.everyMs ?? false,
  });
}

/** The scopes of a database and tenant, which need not be those of the session; null asks for none. */
export function useScopesOf(
  where: Pick<ServiceEndpoint, 'database' | 'tenant'> | null,
  options: { readonly everyMs?: number } = {},
) {
  const { endpoint } = useSession();
  return useQuery({
    queryKey: ['databases', where?.database, where?.tenant, 'scopes'],
    queryFn: async ({ signal }) =>
      (
        await asSignedIn(() => callEndpoint({ ...endpoint, ...where }, 'listScopes', {}, { signal }), {
          signal,
        })
      ).scopes,
    enabled: where !== null,
    refetchInterval: options.everyMs ?? false,
  });
}

/** The service's metrics in Prometheus' text format, read again every so often while the window is seen. */
export function useMetricsText(everyMs: number) {
  const { endpoint } = useSession();
  return useQuery({
    queryKey: ['service', 'metrics'],
    queryFn: ({ signal }) => asSignedIn(() => fetchText(endpoint, '/metrics', { signal }), { signal }),
    refetchInterval: everyMs,
  });
}

/** What the metrics said over the last day, in Prometheus' text format with the time of each sample. */
export function useMetricsHistoryText(isWanted: boolean, everyMs: number) {
  const { endpoint } = useSession();
  return useQuery({
    queryKey: ['service', 'metrics', 'history'],
    queryFn: ({ signal }) =>
      asSignedIn(() => fetchText(endpoint, '/metrics/history', { signal }), { signal }),
    refetchInterval: everyMs,
    enabled: isWanted,
  });
}

/** What the storage holds, read again every so often; for admins. */
export function useStorageState(everyMs: number) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'storage'],
    queryFn: ({ signal }) => call('storageState', {}, { signal }),
    refetchInterval: everyMs,
  });
}

/** Liveness and version of the service. */
export function useHealth() {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'health'],
    queryFn: ({ signal }) => call('health', {}, { signal }),
    refetchInterval: 30_000,
  });
}

/** How the service knows who calls. */
export function useAuthentication() {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'authentication'],
    queryFn: ({ signal }) => call('authenticationStatus', {}, { signal }),
    staleTime: 30_000,
  });
}

/** How often it is looked whether the key was changed, in milliseconds. */
const whoEveryMs = 30_000;

/** Who this window calls as, what that may and where. */
export function useWhoAmI() {
  const { call } = useSession();
  const turn = useCredential((credential) => credential.turn);
  return useQuery({
    queryKey: ['service', 'whoami', turn],
    queryFn: ({ signal }) => call('whoami', {}, { signal }),
    refetchInterval: ({ state }) => (state.data?.mode === 'rbac' ? whoEveryMs : false),
    refetchOnWindowFocus: true,
    staleTime: 10_000,
  });
}

/** How the service follows its leader, or who follows it. It is told to keys for replicas and to admins alone. */
export function useReplication({ everyMs, isAllowed }: { everyMs: number; isAllowed: boolean }) {
  const { call } = useSession();
  const turn = useCredential((credential) => credential.turn);
  return useQuery({
    queryKey: ['service', 'replication', turn],
    queryFn: ({ signal }) => call('replicationStatus', {}, { signal }),
    enabled: isAllowed,
    refetchInterval: everyMs,
    staleTime: 1000,
  });
}

/** How the parts of the service stand, which is told to everybody; nothing while it is not ready. */
export function useServiceReadiness({ everyMs, isWanted }: { everyMs: number; isWanted: boolean }) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'readiness'],
    queryFn: ({ signal }) => call('ready', {}, { signal }),
    enabled: isWanted,
    refetchInterval: everyMs,
  });
}

/** Names of the scopes that facts or rules are in, by code point. */
export function useScopes(): string[] {
  const predicates = usePredicates().data ?? [];
  const rules = useRules().data ?? [];
  const names = new Set<string>();
  for (const predicate of predicates)
    for (const scope of predicate.scopes) if (scope !== null) names.add(scope);
  for (const rule of rules) if (rule.scope !== null) names.add(rule.scope);
  return [...names].sort();
}

/** A request; `ifMatch` as in `CallOptions`. */
type WriteRequest<Name extends OperationName> = OperationRequest<Name> & { readonly ifMatch?: string };

/**
 * A write. What it concerns is fetched again when it is done, whether or not the stream of changes is up, and when it
 * was refused because somebody else was first. `stale`: the topics it concerns; all where not given.
 */
export function useWrite<Name extends OperationName>(name: Name, stale: readonly Topic[] = topics) {
  const { call, endpoint } = useSession();
  const client = useQueryClient();
  return useMutation<OperationOutput<Name>, Error, WriteRequest<Name>>({
    mutationFn: (request) => {
      const { ifMatch } = request;
      return call(name, request, { isWanted: true, ...(ifMatch === undefined ? {} : { ifMatch }) });
    },
    onSuccess: (outcome) => {
      if (typeof outcome === 'object' && 'generation' in outcome && outcome.generation !== undefined)
        noteGeneration(outcome.generation);
      // A moment later, so that what its writer closes in answer (a retracted fact) is not asked for again.
      setTimeout(() => invalidate(client, endpoint, stale), 50);
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'PreconditionFailed')
        invalidate(client, endpoint, stale);
    },
  });
}
