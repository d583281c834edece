/**
 * Queries of the Memory view.
 *
 * Figures over all facts are expensive, and changes may arrive many times a second: a query reruns shortly after a
 * change and never while it runs, so that it completes under any write load. It also reruns periodically, since
 * salience decays and validities end without a change.
 */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { StoredFact } from '../../../engine/contract/facts.ts';
import type { Decayed, MemoryStats, Recalled } from '../../../engine/contract/memory.ts';
import { parseAtom } from '../../../engine/language/parse.ts';
import { useLive } from '../../api/live.ts';
import { usePredicates } from '../../api/queries.ts';
import { type WorkbenchSession, useSession } from '../../api/session.tsx';
import { type ScopeSelection, scopeFieldsOf, scopeKey } from '../../api/space.ts';
import type { Forecast, Horizon } from './memory-search.ts';
import { type Remembered, rememberedAtomOf, rememberedOf, summaryPredicates } from './remembered.ts';

/** Minimum time between an answer and the next query after a change, in milliseconds. */
const pauseMs = 500;
/** Interval of queries without a change. */
const everyMs = 30_000;
/** Number of facts in a list. */
export const listLength = 500;

/** Returns `scope` and `unscoped` as query parameters. */
function scopeQueryOf(scope: ScopeSelection): { scope?: string; unscoped?: 'true' } {
  if (scope.kind === 'named') return { scope: scope.name };
  return scope.kind === 'unscoped' ? { unscoped: 'true' } : {};
}

/** Length of the key prefix that identifies space and query. */
const commonParts = 5;

/** True if the keys identify the same query of the same space, apart from its figures. */
function isLike(key: readonly unknown[], other: readonly unknown[] | undefined): boolean {
  return key.slice(0, commonParts).every((part, index) => part === other?.[index]);
}

/** A query that follows changes. `key` must determine `ask`. */
function useFollowed<Answer>(
  key: readonly unknown[],
  ask: (session: WorkbenchSession, signal: AbortSignal) => Promise<Answer>,
  isWanted = true,
) {
  const session = useSession();
  const { endpoint, space } = session;
  const version = useLive((live) => live.versions.facts);
  const askedAt = useRef(version);
  const queryKey = ['memory', endpoint.database, endpoint.tenant, scopeKey(space.scope), ...key];
  const query = useQuery<Answer>({
    queryKey,
    queryFn: ({ signal }) => {
      askedAt.current = useLive.getState().versions.facts;
      return ask(session, signal);
    },
    enabled: isWanted,
    // The answer for other figures stays until the new one arrives.
    placeholderData: <Before>(before: Before | undefined, asked?: { queryKey: readonly unknown[] }) =>
      isLike(queryKey, asked?.queryKey) ? before : undefined,
    refetchOnMount: 'always',
    refetchInterval: everyMs,
  });
  const { isFetching, refetch, dataUpdatedAt } = query;
  useEffect(() => {
    if (!isWanted || isFetching || askedAt.current === version) return undefined;
    const wait = Math.max(0, Math.min(pauseMs, dataUpdatedAt + pauseMs - Date.now()));
    const timer = setTimeout(() => void refetch(), wait);
    return () => clearTimeout(timer);
  }, [isWanted, isFetching, version, dataUpdatedAt, refetch]);
  return query;
}

/** Fetches the statistics of the space's memory. */
export function askStats({ call, space }: WorkbenchSession, signal?: AbortSignal): Promise<MemoryStats> {
  return call('memoryStats', { query: scopeQueryOf(space.scope) }, signal === undefined ? {} : { signal });
}

/** The statistics of the memory. */
export function useStats() {
  return useFollowed(['stats'], askStats);
}

/** The statistics in that many days, if nothing is used or written until then; without a number nothing is asked. */
export function useForecast(days: Forecast | undefined) {
  return useFollowed<MemoryStats>(
    ['forecast', days],
    ({ call, space }, signal) =>
      call('memoryStats', { query: { ...scopeQueryOf(space.scope), inDays: days ?? '0' } }, { signal }),
    days !== undefined,
  );
}

/** The facts that the threshold would evict. */
export function useEvictable(threshold: number) {
  return useFollowed<Decayed>(['decay', threshold], ({ call, space }, signal) =>
    call('decay', { body: { threshold, ...scopeFieldsOf(space.scope), dryRun: true } }, { signal }),
  );
}

function recall(
  session: WorkbenchSession,
  predicates: readonly string[],
  signal: AbortSignal,
): Promise<Recalled> {
  const { call, space } = session;
  const body = {
    maxFacts: listLength,
    ...(predicates.length === 0 ? {} : { predicates: [...predicates] }),
    ...scopeFieldsOf(space.scope),
  };
  // It has facts, because no text was asked for.
  return call('recall', { body }, { signal }) as Promise<Recalled>;
}

/** The most salient facts of these predicates; of all if none is given. */
export function useSalient(predicates: readonly string[]) {
  return useFollowed(['salient', predicates], (session, signal) => recall(session, predicates, signal));
}

const horizonMs: Record<Horizon, number> = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** The facts whose validity ends soon, earliest first. */
export function useExpiring(within: Horizon) {
  return useFollowed<Remembered[]>(['expiring', within], async ({ call, space }, signal) => {
    const now = Date.now();
    const { facts } = await call(
      'listFacts',
      {
        query: { ...scopeQueryOf(space.scope), sort: 'validUntil', order: 'asc', limit: String(listLength) },
      },
      { signal },
    );
    return facts
      .filter(({ validFrom, validUntil }) => {
        const hasBegun = validFrom === null || validFrom <= now;
        return hasBegun && validUntil !== null && validUntil <= now + horizonMs[within];
      })
      .map(rememberedOf);
  });
}

/** The summaries of consolidated facts, most salient first. */
export function useSummaries() {
  const { data, error, refetch } = usePredicates();
  const names = summaryPredicates(
    (data ?? []).flatMap(({ name, facts }) => (facts > 0 ? [name] : [])),
  ).sort();
  const isAsked = names.length > 0;
  const query = useFollowed(
    ['summaries', names],
    async (session, signal) => {
      const { facts } = await recall(session, names, signal);
      return facts.filter(({ category }) => category === 'consolidated');
    },
    isAsked,
  );
  if (isAsked) return query;
  return { data: data === undefined ? undefined : [], error, refetch };
}

/** A dry run of consolidation. */
export function useConsolidation(predicates: readonly string[], least: number) {
  return useFollowed(['consolidate', predicates, least], ({ call, space }, signal) =>
    call(
      'consolidate',
      { body: { ...consolidationBody(predicates, least, space.scope), dryRun: true } },
      { signal },
    ),
  );
}

/** Returns the request body of a consolidation. */
export function consolidationBody(predicates: readonly string[], least: number, scope: ScopeSelection) {
  return {
    ...(predicates.length === 0 ? {} : { predicates: [...predicates] }),
    minOccurrences: least,
    ...scopeFieldsOf(scope),
  };
}

/** The detail of a fact; `isGone` if it was retracted or evicted while shown. */
export function useFact(id: string | null) {
  const isGone = useLive((live) => id !== null && live.gone.has(id));
  const query = useFollowed(
    [`fact ${id}`],
    ({ call }, signal) => call('getFact', { params: { id: id ?? '' } }, { signal }),
    id !== null && !isGone,
  );
  return { ...query, isGone };
}

/**
 * Returns the stored fact of an atom in the current space, the least salient of several scopes; null if it is no
 * longer stored or valid. Throws the errors of `call`.
 */
export async function findByAtom(
  { call, space }: WorkbenchSession,
  atom: string,
): Promise<StoredFact | null> {
  const { predicate, negated } = parseAtom(atom, 'atom');
  let cursor: string | null = null;
  do {
    const page: { facts: StoredFact[]; nextCursor: string | null } = await call('listFacts', {
      query: {
        predicate,
        q: atom,
        truthVal: negated ? 'false' : 'true',
        ...scopeQueryOf(space.scope),
        sort: 'salience',
        limit: '1000',
        cursor,
      },
    });
    const match = page.facts.find((fact) => rememberedAtomOf(rememberedOf(fact)) === atom);
    if (match !== undefined) return match;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return null;
}
