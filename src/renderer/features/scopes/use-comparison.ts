/**
 * The current differences of two scopes, and the state of the comparison.
 *
 * Changes made elsewhere appear automatically, with a note that the view has changed.
 */
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import type { MergeStrategy } from '../../../engine/contract/scopes.ts';
import { queryKeyOf } from '../../api/live.ts';
import { useSession } from '../../api/session.tsx';
import { useDraft } from '../../ui/use-draft.ts';
import {
  type Choices,
  type MergeRow,
  mergeRowCountsOf,
  mergeRowsOf,
  readChoices,
  resolutionsOf,
  resultOf,
  type RowResult,
  type Take,
  withChoice,
  writeChoices,
} from './merge.ts';
import { parameterOf, type Side } from './scopes-search.ts';
import type { ChangedRow } from './undo.ts';

/** Maximum number of compared facts of each kind. */
export const maxCompared = 20_000;

/** Two scopes and their base. */
export interface Pair {
  readonly source: Side;
  readonly target: Side;
  /** The common base; null: none; undefined: their common fork, if any. */
  readonly base: string | null | undefined;
}

/** Returns a pair as requests name it. A scope is given as an object, since one may be named fork. */
export function sidesOf({ source, target, base }: Pair) {
  if (base === undefined) return { source, target };
  return { source, target, base: base === null ? null : { scope: base } };
}

/** The list of scopes. */
export function useScopeList() {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: queryKeyOf('predicates', endpoint, 'scopes'),
    queryFn: async ({ signal }) => (await call('listScopes', { query: {} }, { signal })).scopes,
  });
}

/** The number of facts without scope. */
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
      call('diffScopes', { body: { ...sidesOf(pair), asMerge: true, limit: maxCompared } }, { signal }),
    // Reports a deleted scope at once.
    retry: false,
  });
}

/** The choices of a pair, a draft in this browser. */
function useChoices({ source, target, base }: Pair): [Choices, (choices: Choices) => void] {
  const { space } = useSession();
  const about = [space.database, space.tenant, parameterOf(source), parameterOf(target), base];
  const [draft, setDraft] = useDraft(`merge.${JSON.stringify(about)}`);
  const choices = useMemo(() => readChoices(draft), [draft]);
  return [choices, useCallback((next: Choices) => setDraft(writeChoices(next)), [setDraft])];
}

/** Grace period after opening, in milliseconds, in which a change needs no note. */
const justOpenedMs = 2_000;

/**
 * True once the view differs from what the user last acknowledged. Cached results of an earlier visit were not shown
 * as current, and events from before this visit may still arrive.
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

/** Results of rows, computed on first use. */
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

/** Returns the comparison of a pair. Remount the component for another pair. */
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

/** A comparison. */
export type ScopeComparison = ReturnType<typeof useComparison>;
