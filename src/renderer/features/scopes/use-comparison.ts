/**
 * The differences of two scopes as they are now, and what is made of them.
 *
 * Changes made elsewhere come in by themselves; whoever looks on is told that what is shown has become another.
 */
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { MergeStrategy } from '../../../engine/contract/scopes.ts';
import { queryKeyOf } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import { type Choices, readChoices, resolutionsOf, type Take, withChoice, writeChoices } from './choices.ts';
import { resultOf, type RowResult } from './merge-result.ts';
import { mergeRowCountsOf, type MergeRow, mergeRowsOf } from './merge-rows.ts';
import { parameterOf, type Side } from './scopes-search.ts';
import type { ChangedRow } from './undo.ts';

/** The greatest number of facts of each kind that are compared in the workbench. */
export const mostCompared = 20_000;

export interface Pair {
  readonly source: Side;
  readonly target: Side;
  /** A scope that both come from; null: none; undefined: their common fork, where there is one. */
  readonly base: string | null | undefined;
}

/** A pair as requests name it. A scope is given as an object: one may be named fork. */
export function sidesOf({ source, target, base }: Pair) {
  if (base === undefined) return { source, target };
  return { source, target, base: base === null ? null : { scope: base } };
}

export function useScopeList() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('predicates', endpoint, 'scopes'),
    queryFn: async ({ signal }) => (await call('listScopes', {}, { signal })).scopes,
  });
}

/** How many facts have no scope. */
export function useUnscopedFacts() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('predicates', endpoint, 'unscoped facts'),
    queryFn: async ({ signal }) =>
      (await call('listFacts', { query: { unscoped: 'true', limit: '1' } }, { signal })).total,
  });
}

function useDifferences(pair: Pair) {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('facts', endpoint, 'differences', sidesOf(pair)),
    queryFn: ({ signal }) =>
      call('diffScopes', { body: { ...sidesOf(pair), asMerge: true, limit: mostCompared } }, { signal }),
    // A scope that goes away while it is looked at is said at once.
    retry: false,
  });
}

/** The choices for a pair: a draft of this browser. */
function useChoices({ source, target, base }: Pair): [Choices, (choices: Choices) => void] {
  const { space } = useSession();
  const about = [space.database, space.tenant, parameterOf(source), parameterOf(target), base];
  const [draft, setDraft] = useDraft(`merge.${JSON.stringify(about)}`);
  const choices = useMemo(() => readChoices(draft), [draft]);
  return [choices, useCallback((next: Choices) => setDraft(writeChoices(next)), [setDraft])];
}

/** Whoever has just come has seen nothing yet that a change could take away, in milliseconds. */
const justOpenedMs = 2_000;

/**
 * True once what is shown became other than what was acknowledged last. What an earlier visit left in the cache was not
 * shown as the differences of now, and news of changes before this visit may still be on the way.
 */
function useChangedElsewhere(
  shown: unknown,
  updatedAt: number,
  isFetching: boolean,
): { isChanged: boolean; acknowledge: (seen: unknown) => void } {
  const [openedAt] = useState(() => Date.now());
  const [seen, setSeen] = useState<unknown>(undefined);
  const isFirst = seen === undefined || updatedAt < openedAt + justOpenedMs;
  if (isFirst && shown !== undefined && shown !== seen && !isFetching) setSeen(shown);
  return { isChanged: seen !== undefined && shown !== undefined && seen !== shown, acknowledge: setSeen };
}

/** The results of rows, each worked out when it is first looked at. */
function resultsOf(strategy: MergeStrategy, choices: Choices): (row: MergeRow) => RowResult {
  const known = new WeakMap<MergeRow, RowResult>();
  return (row) => {
    const before = known.get(row);
    if (before !== undefined) return before;
    const result = resultOf(row, strategy, choices);
    known.set(row, result);
    return result;
  };
}

/** The comparison of a pair. For another pair the component that uses it is to be another one. */
export function useComparison(pair: Pair, strategy: MergeStrategy) {
  const differences = useDifferences(pair);
  const { data, dataUpdatedAt, isFetching } = differences;
  const [choices, setChoices] = useChoices(pair);
  const { isChanged, acknowledge } = useChangedElsewhere(data, dataUpdatedAt, isFetching);
  const rows = useMemo(() => (data === undefined ? [] : mergeRowsOf(data)), [data]);
  const isChosen = useCallback((place: string) => choices.has(place), [choices]);
  const results = useMemo(() => resultsOf(strategy, choices), [strategy, choices]);
  const changedRows = useCallback(
    (): ChangedRow[] => rows.map((row) => ({ row, result: results(row) })),
    [rows, results],
  );
  const counts = useMemo(() => mergeRowCountsOf(rows, isChosen), [rows, isChosen]);
  const resolutions = useMemo(() => resolutionsOf(rows, choices), [rows, choices]);
  const choose = useCallback(
    (places: readonly string[], take: Take | null) => setChoices(withChoice(choices, places, take)),
    [choices, setChoices],
  );
  return {
    pair,
    strategy,
    differences,
    rows,
    resultOf: results,
    changedRows,
    counts,
    choices,
    resolutions,
    isChosen,
    choose,
    clearChoices: useCallback(() => setChoices(new Map()), [setChoices]),
    isTruncated: data?.truncated === true,
    isChanged,
    acknowledge,
  };
}

export type ScopeComparison = ReturnType<typeof useComparison>;
