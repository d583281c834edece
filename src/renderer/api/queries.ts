/** Questions to the service that several views share, and the way all views write. */
import {
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  MutationCache,
  QueryCache,
} from '@tanstack/react-query';
import type { OperationName, OperationOutput, OperationRequest } from '../../engine/contract/operations.ts';
import { invalidate, keyOf, noteGeneration, type Topic, topics } from './live.ts';
import { ApiError, isPassing } from './problem.ts';
import { noteRefused, useSession } from './session.tsx';

function onError(error: Error): void {
  if (error instanceof ApiError && error.code === 'Unauthenticated') noteRefused();
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

export function usePredicates() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: keyOf('predicates', endpoint),
    queryFn: async ({ signal }) => (await call('listPredicates', {}, { signal })).predicates,
  });
}

export function useRules() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: keyOf('rules', endpoint),
    queryFn: async ({ signal }) => (await call('listRules', {}, { signal })).rules,
  });
}

export function useDatabases() {
  const { call } = useSession();
  return useQuery({
    queryKey: ['databases'],
    queryFn: async ({ signal }) => (await call('listDatabases', {}, { signal })).databases,
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

/**
 * A write. What it concerns is fetched again when it is done, whether or not the stream of changes is up.
 * `stale`: the topics it concerns; all where not given.
 */
export function useWrite<Name extends OperationName>(name: Name, stale: readonly Topic[] = topics) {
  const { call, endpoint } = useSession();
  const client = useQueryClient();
  return useMutation<OperationOutput<Name>, Error, OperationRequest<Name>>({
    mutationFn: (request) => call(name, request),
    onSuccess: (outcome) => {
      if (typeof outcome === 'object' && 'generation' in outcome) noteGeneration(outcome.generation);
      // A moment later, so that what its writer closes in answer (a retracted fact) is not asked for again.
      setTimeout(() => invalidate(client, endpoint, stale), 50);
    },
  });
}
