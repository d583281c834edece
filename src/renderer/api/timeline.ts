/**
 * The generations of this knowledge base as views need them: the latest ones, one by its number, their words, and the way
 * to the moment of one.
 *
 * A page of the history costs the service a replay, so these queries follow no changes: they are asked again when they are
 * shown anew.
 */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { GenerationEntry, History, LifeBound } from '../../engine/contract/history.ts';
import type { OperationRequest } from '../../engine/contract/operations.ts';
import { parseTime } from '../../engine/contract/time-text.ts';
import { formatAmount, formatCount, formatTime } from '../ui/format.ts';
import { queryKeyOf } from './live.ts';
import { asGeneration, type MomentSearch, presentSearch } from './moment.ts';
import { useSession, type WorkbenchSession } from './session.tsx';

/** Generations that the time line has at first, and that each further page adds. */
const timelineLength = 200;

/** The latest generations, newest first, asked for when `isWanted`; `fetchNextPage` adds older ones. */
export function useTimeline(isWanted: boolean) {
  const { call, endpoint } = useSession();
  return useInfiniteQuery({
    queryKey: ['timeline', endpoint.database, endpoint.tenant],
    queryFn: ({ pageParam, signal }) =>
      call('history', { query: { limit: String(timelineLength), cursor: pageParam } }, { signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => ({
      generations: pages.flatMap(({ generations }) => generations),
      nextCursor: pages.at(-1)?.nextCursor ?? null,
    }),
    enabled: isWanted,
    staleTime: 10_000,
  });
}

/**
 * Returns the newest generation that the query selects; null if there is none. A page can be empty and have a next one, so
 * it is asked until one is not.
 */
export async function newestOf(
  { call }: Pick<WorkbenchSession, 'call'>,
  query: OperationRequest<'history'>['query'],
  signal: AbortSignal,
): Promise<GenerationEntry | null> {
  let cursor: string | null = null;
  do {
    const page: History = await call('history', { query: { ...query, limit: '1', cursor } }, { signal });
    const [found] = page.generations;
    if (found !== undefined) return found;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return null;
}

/** One generation by its number; null if it changed nothing of this tenant. `generation` null asks for none. */
export function useGeneration(generation: number | null) {
  const session = useSession();
  const { database, tenant } = session.endpoint;
  return useQuery({
    queryKey: ['generation', database, tenant, generation],
    queryFn: ({ signal }) => {
      const at = generation ?? 0;
      return newestOf(session, { after: String(at - 1), before: String(at + 1) }, signal);
    },
    enabled: generation !== null && generation > 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The last change of a rule that is kept; null if none is. `rule` null asks for none. */
export function useRuleChange(rule: string | null) {
  const session = useSession();
  return useQuery({
    queryKey: queryKeyOf('rules', session.endpoint, 'change', rule),
    queryFn: ({ signal }) => newestOf(session, { rule: rule ?? '' }, signal),
    enabled: rule !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** The generation whose knowledge is shown; undefined in the present and until it is known. */
export function useKnowledgeGeneration(): number | undefined {
  const { call, endpoint, moment } = useSession();
  const { data } = useQuery({
    queryKey: queryKeyOf('rules', endpoint, 'generation'),
    queryFn: async ({ signal }) =>
      (await call('listRules', { query: {} }, { signal })).knowledgeGeneration ?? null,
    enabled: moment !== null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return data ?? undefined;
}

const surfaceWords: Readonly<Record<string, string>> = {
  http: 'HTTP',
  mcp: 'MCP',
  a2a: 'A2A',
  workbench: 'workbench',
  cli: 'command line',
  system: 'the service itself',
};

/** Who made a change: the name of the key, or `local`. */
export function actorInWords({ actor, surface }: Pick<LifeBound, 'actor' | 'surface'>): string {
  if (surface === 'system') return 'the service';
  return actor === null ? 'unknown' : (actor.name ?? actor.id);
}

/** By what it was made: the program as it named itself, or the way it came. Empty if neither is known. */
export function surfaceInWords({
  surface,
  client,
}: Pick<GenerationEntry, 'surface'> & { readonly client?: string | null }): string {
  if (surface === 'system') return '';
  return client ?? (surface === null ? '' : (surfaceWords[surface] ?? surface));
}

/** What a generation changed, in a few words: `3 facts added, 1 removed`. */
export function changesInWords(entry: GenerationEntry): string {
  const { added, removed, changed, rules, declarations, redacted } = entry;
  const parts: string[] = [];
  const amounts = [
    [added.count, 'added'],
    [removed.count, 'removed'],
    [changed.count, 'changed'],
  ] as const;
  for (const [count, word] of amounts)
    if (count > 0)
      parts.push(
        parts.length === 0 ? `${formatAmount(count, 'fact')} ${word}` : `${formatCount(count)} ${word}`,
      );
  if (rules.length > 0) parts.push(formatAmount(rules.length, 'rule'));
  for (const kind of ['declaration', 'constraint', 'alias'] as const) {
    const count = declarations.filter((each) => each.kind === kind).length;
    if (count > 0) parts.push(formatAmount(count, kind, kind === 'alias' ? 'aliases' : `${kind}s`));
  }
  if (redacted > 0) parts.push(`${formatAmount(redacted, 'fact')} erased since`);
  return parts.join(', ');
}

/** The moment of knowledge in words: a generation, or a time. */
export function knownInWords(asKnown: string): string {
  const generation = asGeneration(asKnown);
  return generation === null ? formatTime(parseTime(asKnown) ?? 0) : `generation ${formatCount(generation)}`;
}

/** Returns a function that shows the current view at another moment; null: now. */
export function useShowMoment(): (moment: MomentSearch | null) => void {
  const navigate = useNavigate();
  return useCallback(
    (moment) => void navigate({ to: '.', search: (before) => ({ ...before, ...presentSearch, ...moment }) }),
    [navigate],
  );
}
