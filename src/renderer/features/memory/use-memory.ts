/**
 * What the Memory view asks the service.
 *
 * Figures over all facts are dear, and changes may come many times a second: a question is asked again a moment after
 * a change and never while it is under way, so that it is answered however much is written. It is also asked again
 * every so often, since salience fades and validities come to their ends without any change.
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
import type { Horizon } from './memory-search.ts';
import { rememberedAtomOf, type Remembered, rememberedOf } from './remembered.ts';
import { summaryPredicates } from './summaries.ts';

/** The least time between an answer and the next time its question is asked for a change, in milliseconds. */
const pauseMs = 500;
/** After this it is asked again without a change. */
const everyMs = 30_000;
/** Facts in a list. */
export const listLength = 500;

/** `scope` and `unscoped` as query parameters. */
export function scopeQueryOf(scope: ScopeSelection): { scope?: string; unscoped?: 'true' } {
  if (scope.kind === 'named') return { scope: scope.name };
  return scope.kind === 'unscoped' ? { unscoped: 'true' } : {};
}

/** The parts of a key that say whose memory it is about, and which question it is. */
const commonParts = 5;

/** True where the keys ask the same of the same space, with other figures at most. */
function isLike(key: readonly unknown[], other: readonly unknown[] | undefined): boolean {
  return key.slice(0, commonParts).every((part, index) => part === other?.[index]);
}

/** A question that is asked again as the knowledge changes. `key` and `ask` say the same thing. */
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
    // What was answered for other figures stays until the answer for these comes.
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

export function askStats({ call, space }: WorkbenchSession, signal?: AbortSignal): Promise<MemoryStats> {
  return call('memoryStats', { query: scopeQueryOf(space.scope) }, signal === undefined ? {} : { signal });
}

/** How the memory of the space stands. */
export function useStats() {
  return useFollowed(['stats'], askStats);
}

/** What would be evicted below the threshold. */
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
  return call('recall', { body }, { signal });
}

/** The most salient facts of these predicates; of all where none is named. */
export function useSalient(predicates: readonly string[]) {
  return useFollowed(['salient', predicates], (session, signal) => recall(session, predicates, signal));
}

const horizonMs: Record<Horizon, number> = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/** The facts whose validity ends soon, the first to end first. */
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

/** The summaries that stand for consolidated facts, the most salient first. */
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

/** What consolidation would do. */
export function useConsolidation(predicates: readonly string[], least: number) {
  return useFollowed(['consolidate', predicates, least], ({ call, space }, signal) =>
    call(
      'consolidate',
      { body: { ...consolidationBody(predicates, least, space.scope), dryRun: true } },
      { signal },
    ),
  );
}

export function consolidationBody(predicates: readonly string[], least: number, scope: ScopeSelection) {
  return {
    ...(predicates.length === 0 ? {} : { predicates: [...predicates] }),
    minOccurrences: least,
    ...scopeFieldsOf(scope),
  };
}

/** Everything about one fact; `isGone`: it was retracted or evicted while this window looked on. */
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
 * The stored fact that an atom is, in the space that is shown; of several scopes the least salient. null where it is
 * stored no more, or its validity has ended. Errors: those of `call`.
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
