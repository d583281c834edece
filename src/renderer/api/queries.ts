/** Queries that several views share, and the mutation that all views write with. */
import {
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  MutationCache,
  QueryCache,
} from '@tanstack/react-query';
import type { PredicateList } from '../../engine/contract/facts.ts';
import type { ReplicationStatus } from '../../engine/contract/replication.ts';
import type { OperationName, OperationOutput, OperationRequest } from '../../engine/contract/operations.ts';
import { call as callEndpoint, type ApiEndpoint, fetchText } from './client.ts';
import { invalidate, queryKeyOf, noteGeneration, type Topic, topics } from './live.ts';
import { asSignedIn, currentKey, noteRefused, useCredential } from './credential.ts';
import { ApiError, isPassing, passingRetries } from './problem.ts';
import { useSession } from './session.tsx';

/** Errors of calls that do not wait for another key, such as those of a transaction. */
function onError(error: Error): void {
  if (error instanceof ApiError && error.code === 'Unauthenticated') noteRefused(currentKey(), error);
}

/**
 * Creates the query cache. A query is fetched again on invalidation and when its view opens, since counters of
 * inference (fired, known conclusions, dependents) change without a write; there is no timer.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      // The service runs on this machine: the browser's online state is irrelevant.
      queries: {
        networkMode: 'always',
        staleTime: 2_000,
        refetchOnWindowFocus: false,
        retry: (failures, error) => failures < passingRetries.most && isPassing(error),
        retryDelay: passingRetries.afterMs,
      },
      mutations: { networkMode: 'always', retry: false },
    },
  });
}

const lookAgainMs = 2000;
/** Slowest polling interval for incomplete counts. */
const lookSeldomMs = 60_000;
const seenSince = new WeakMap<object, number>();

/** When to poll incomplete counts again; unchanged ones ever more rarely. */
function untilComplete(rows: PredicateList['predicates'] | undefined): number | false {
  if (rows === undefined || rows.every(({ derivedComplete }) => derivedComplete)) return false;
  const now = Date.now();
  const since = seenSince.get(rows) ?? now;
  seenSince.set(rows, since);
  return Math.min(lookSeldomMs, Math.max(lookAgainMs, (now - since) / 2));
}

/** What is shown only in answer to something is asked for only then. */
interface Wanted {
  readonly isWanted?: boolean;
}

/** All predicates with their counts, polled until the counts of conclusions are complete. */
export function usePredicates() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('predicates', endpoint),
    queryFn: async ({ signal }) => (await call('listPredicates', { query: {} }, { signal })).predicates,
    // The service completes the counts while it is idle.
    refetchInterval: ({ state }) => untilComplete(state.data),
  });
}

/** All rules of the database; `isWanted` false: those known from before. */
export function useRules({ isWanted = true }: Wanted = {}) {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('rules', endpoint),
    queryFn: async ({ signal }) => (await call('listRules', { query: {} }, { signal })).rules,
    enabled: isWanted,
  });
}

/** All databases; `everyMs` sets a polling interval. */
export function useDatabases(options: Wanted & { readonly everyMs?: number } = {}) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['databases'],
    queryFn: async ({ signal }) => (await call('listDatabases', {}, { signal })).databases,
    enabled: options.isWanted ?? true,
    refetchInterval: options.everyMs ?? false,
  });
}

/** The tenants of a database that the caller reaches; null disables the query. */
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

/** The scopes of a database and tenant, which may differ from the session's; null disables the query. */
export function useScopesOf(
  where: Pick<ApiEndpoint, 'database' | 'tenant'> | null,
  options: { readonly everyMs?: number } = {},
) {
  const { endpoint } = useSession();
  return useQuery({
    queryKey: ['databases', where?.database, where?.tenant, 'scopes', endpoint.moment],
    queryFn: async ({ signal }) =>
      (
        await asSignedIn(
          () => callEndpoint({ ...endpoint, ...where }, 'listScopes', { query: {} }, { signal }),
          {
            signal,
          },
        )
      ).scopes,
    enabled: where !== null,
    refetchInterval: options.everyMs ?? false,
  });
}

/** The service's metrics as Prometheus text, polled while the window is visible. */
export function useMetricsText(everyMs: number) {
  const { endpoint } = useSession();
  return useQuery({
    queryKey: ['service', 'metrics'],
    queryFn: ({ signal }) => asSignedIn(() => fetchText(endpoint, '/metrics', { signal }), { signal }),
    refetchInterval: everyMs,
  });
}

/** The metrics of the last day as Prometheus text with timestamps. */
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

/** The state of the storage, polled; for admins. */
export function useStorageState(everyMs: number) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'storage'],
    queryFn: ({ signal }) => call('storageState', {}, { signal }),
    refetchInterval: everyMs,
  });
}

/** The nodes of the store, polled; for admins. */
export function useNodes(everyMs: number) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'nodes'],
    queryFn: ({ signal }) => call('listNodes', {}, { signal }),
    refetchInterval: everyMs,
  });
}

/** Liveness and version of the service, polled while they are shown. */
export function useHealth({ isWanted = true }: Wanted = {}) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'health'],
    queryFn: ({ signal }) => call('health', {}, { signal }),
    enabled: isWanted,
    refetchInterval: 30_000,
  });
}

/** How the service authenticates callers, whoever asks. */
export function useAuthentication({ isWanted = true }: Wanted = {}) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'authentication'],
    queryFn: ({ signal }) => call('authenticationStatus', {}, { signal }),
    enabled: isWanted,
    staleTime: 30_000,
  });
}

/** Polling interval for changes of the key, in milliseconds. */
const whoEveryMs = 30_000;

/** The current caller with role and reach. */
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

/** How the service authenticates callers; undefined until it is known. Those whom it knows learn it with their role. */
export function useAuthenticationMode() {
  const who = useWhoAmI();
  const asked = useAuthentication({ isWanted: who.isError });
  return who.data?.mode ?? asked.data?.mode;
}

/** The replication state: leader or followers. Only replica keys and admins may read it. */
export function useReplication({
  everyMs,
  isAllowed,
}: {
  everyMs: number | ((mode: ReplicationStatus['mode'] | undefined) => number | false);
  isAllowed: boolean;
}) {
  const { call } = useSession();
  const turn = useCredential((credential) => credential.turn);
  return useQuery({
    queryKey: ['service', 'replication', turn],
    queryFn: ({ signal }) => call('replicationStatus', {}, { signal }),
    enabled: isAllowed,
    refetchInterval: ({ state }) => (typeof everyMs === 'number' ? everyMs : everyMs(state.data?.mode)),
    staleTime: 1000,
  });
}

/** Readiness of the service's parts, public; undefined while the service is not ready. */
export function useServiceReadiness({
  everyMs,
  isWanted,
}: {
  everyMs: number | ((replication: string | undefined) => number | false);
  isWanted: boolean;
}) {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'readiness'],
    queryFn: ({ signal }) => call('ready', {}, { signal }),
    enabled: isWanted,
    refetchInterval: ({ state }) =>
      typeof everyMs === 'number' ? everyMs : everyMs(state.data?.subsystems.replication),
  });
}

/** Returns the names of scopes that contain facts or rules, by code point; as far as known if `isWanted` is false. */
export function useScopes({ isWanted = true }: Wanted = {}): string[] {
  const predicates = usePredicates().data ?? [];
  const rules = useRules({ isWanted }).data ?? [];
  const names = new Set<string>();
  for (const predicate of predicates)
    for (const scope of predicate.scopes) if (scope !== null) names.add(scope);
  for (const rule of rules) if (rule.scope !== null) names.add(rule.scope);
  return [...names].sort();
}

/** A request; `ifMatch` as in `CallOptions`. */
type WriteRequest<Name extends OperationName> = OperationRequest<Name> & { readonly ifMatch?: string };

/**
 * Returns a write. It invalidates `stale`, by default all topics, on success and after a conflict, even while the
 * change stream is down.
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
      // Delayed, so that views closed in response, such as that of a retracted fact, are not fetched again.
      setTimeout(() => invalidate(client, endpoint, stale), 50);
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'PreconditionFailed')
        invalidate(client, endpoint, stale);
    },
  });
}
