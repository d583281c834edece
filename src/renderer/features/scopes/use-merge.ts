/**
 * Merging, its dry run and its undo.
 *
 * Only `apply` and `undo` write, each atomically. A merge applies only to what was shown: if the scopes have changed
 * since, the new state is shown first. The last merge of a tenant can be undone from this window.
 */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { create } from 'zustand';
import type { Merged } from '../../../engine/contract/scopes.ts';
import type { Committed } from '../../../engine/contract/transactions.ts';
import type { ApiEndpoint } from '../../api/client.ts';
import { historyOf, move, record, recordStuck, type HistoryStep } from '../../api/history.ts';
import { invalidate, noteGeneration, topics } from '../../api/live.ts';
import { type ApiFailure, apiFailureOf, isCancelled } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { useTestsFirst } from '../../editor/tests-first.tsx';
import type { Space } from '../../api/space.ts';
import { runTransaction, type TransactionWrite } from '../../api/transaction.ts';
import { type Side, sideLabel } from './scopes-search.ts';
import { maxUndone, undoOf } from './undo.ts';
import { type ScopeComparison, sidesOf } from './use-comparison.ts';

/** A completed merge and its undo. */
export interface MadeMerge {
  readonly source: Side;
  readonly target: Side;
  readonly merged: Merged;
  /** The writes that undo it, or why there are none. */
  readonly undo: readonly TransactionWrite[] | 'tooMany' | 'othersWrote';
  /** Its history step; null if it cannot be undone. */
  readonly step: HistoryStep | null;
}

const whyNoUndo = {
  tooMany: 'it changed too many facts to be undone from here',
  othersWrote: 'others wrote at the same moment',
} as const;

interface LastMerge {
  /** Database and tenant of the merge. */
  readonly about: string;
  readonly made: MadeMerge | null;
}

const useLastMerge = create<LastMerge>()(() => ({ about: '', made: null }));

function aboutOf({ database, tenant }: ApiEndpoint): string {
  return JSON.stringify([database, tenant]);
}

function requestOf({ pair, strategy, resolutions }: ScopeComparison) {
  return { ...sidesOf(pair), strategy, resolutions };
}

/** Returns true if a dry run would certainly be refused. */
export function isRefused({ strategy, counts }: ScopeComparison): boolean {
  return strategy === 'REJECT' && counts.unresolved > 0;
}

/** Dry-runs the merge shortly after the last choice, against the shown differences; reruns when these are refetched. */
export function useDryRun(comparison: ScopeComparison) {
  const { call, endpoint, moment } = useSession();
  const { pair, strategy, resolutions, differences } = comparison;
  const isWanted = moment === null && differences.isSuccess && !isRefused(comparison);
  const { dataUpdatedAt } = differences;
  const wanted = useMemo(
    // With nothing unresolved all strategies agree; if a conflict appears meanwhile, this one does not refuse.
    () => ({
      request: { ...sidesOf(pair), strategy: strategy === 'REJECT' ? 'TARGET_WINS' : strategy, resolutions },
      dataUpdatedAt,
      isWanted,
    }),
    [pair, strategy, resolutions, dataUpdatedAt, isWanted],
  );
  const [asked] = useDebouncedValue(wanted, 250);
  const { database, tenant } = endpoint;
  return useQuery({
    queryKey: ['merge', database, tenant, asked.request, asked.dataUpdatedAt],
    queryFn: ({ signal }) => call('mergeScopes', { body: { ...asked.request, dryRun: true } }, { signal }),
    enabled: asked.isWanted,
    placeholderData: keepPreviousData,
    gcTime: 0,
    retry: false,
  });
}

/** State of a merge. */
export type MergeState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'merging' }
  /** `made` of `count` writes. */
  | {
      readonly kind: 'undoing';
      readonly made: number;
      readonly count: number;
      readonly cancel: () => void;
    }
  | { readonly kind: 'failed'; readonly what: 'merge' | 'undo'; readonly failure: ApiFailure }
  /** The scopes had changed since they were shown; nothing was merged. */
  | { readonly kind: 'moved on' };

/** Returns the generation that reads see, by a free request. */
async function generationOf(call: ReturnType<typeof useSession>['call']): Promise<number> {
  return (await call('ask', { body: { predicate: 'anything', args: [], limit: 1 } })).generation;
}

/** The undo of a merge, from what was shown before it. `before`: the generation at that time. */
function wayBack(comparison: ScopeComparison, merged: Merged, before: number): MadeMerge['undo'] {
  if (merged.generation === before) return [];
  if (merged.generation !== before + 1) return 'othersWrote';
  if (comparison.isTruncated) return 'tooMany';
  const writes = undoOf(comparison.changedRows(), comparison.pair.target, merged.generation, Date.now());
  return writes.length > maxUndone ? 'tooMany' : writes;
}

/** Makes the writes of an undo and reports progress. */
function runUndo(
  endpoint: ApiEndpoint,
  writes: readonly TransactionWrite[],
  onState: (state: MergeState) => void,
): Promise<Committed> {
  const controller = new AbortController();
  const cancel = () => controller.abort();
  const count = writes.length;
  onState({ kind: 'undoing', made: 0, count, cancel });
  return runTransaction(endpoint, writes, {
    signal: controller.signal,
    onProgress: (made) => {
      if (made % 50 === 0) onState({ kind: 'undoing', made, count, cancel });
    },
  });
}

/** Records the merge in the history; null if it cannot be undone. */
function recordMerge(
  space: Space,
  { source, target, undo }: Pick<MadeMerge, 'source' | 'target' | 'undo'>,
  takeBack: (writes: readonly TransactionWrite[]) => Promise<string>,
): HistoryStep | null {
  const label = `merged ${sideLabel(source)} into ${sideLabel(target)}`;
  if (typeof undo === 'string') {
    recordStuck(space, label, whyNoUndo[undo]);
    return null;
  }
  return undo.length === 0 ? null : record(space, label, () => takeBack(undo));
}

/** Returns state and actions of the merge of a comparison. */
export function useMerge(comparison: ScopeComparison) {
  const { call, endpoint, space } = useSession();
  const client = useQueryClient();
  const [state, setState] = useState<MergeState>({ kind: 'idle' });
  const about = aboutOf(endpoint);
  const last = useLastMerge((store) => (store.about === about ? store.made : null));
  const runTests = useTestsFirst();
  const isBusy = state.kind === 'merging' || state.kind === 'undoing';
  const { differences, acknowledge, pair } = comparison;

  async function refresh(): Promise<unknown> {
    invalidate(client, endpoint, topics);
    return (await differences.refetch()).data;
  }

  async function merge(): Promise<MergeState> {
    const before = await generationOf(call);
    const fresh = await differences.refetch({ throwOnError: true });
    // Structural sharing: only an identical result is the same object.
    if (fresh.data !== differences.data) return { kind: 'moved on' };
    const merged = await call('mergeScopes', { body: { ...requestOf(comparison), runTests } });
    noteGeneration(merged.generation);
    const { source, target } = pair;
    const undo = wayBack(comparison, merged, before);
    const compared = await refresh();
    // Reported once nothing runs: an undo offered earlier would be ignored.
    const step = recordMerge(space, { source, target, undo }, takeBack);
    useLastMerge.setState({ about, made: { source, target, merged, undo, step } });
    acknowledge(compared);
    return { kind: 'idle' };
  }

  /** The undo act of the history. Redoing a merge requires looking at the scopes again. */
  async function takeBack(writes: readonly TransactionWrite[]): Promise<string> {
    try {
      noteGeneration((await runUndo(endpoint, writes, setState)).generation);
      useLastMerge.setState({ about, made: null });
      acknowledge(await refresh());
      setState({ kind: 'idle' });
      return 'compare the scopes as they are now, and merge again';
    } catch (error) {
      // The user cancelled; nothing was undone.
      setState(
        isCancelled(error)
          ? { kind: 'idle' }
          : { kind: 'failed', what: 'undo', failure: apiFailureOf(error) },
      );
      void refresh();
      throw error;
    }
  }

  function apply(): void {
    if (isBusy || !differences.isSuccess) return;
    setState({ kind: 'merging' });
    merge().then(setState, (error: unknown) => {
      setState({ kind: 'failed', what: 'merge', failure: apiFailureOf(error) });
      // Refetches what caused the refusal.
      void refresh();
    });
  }

  function undo(): void {
    if (isBusy || last === null || last.step === null) return;
    void move(historyOf(space), 'undo', last.step);
  }

  return {
    state,
    isBusy,
    last,
    apply,
    undo,
    dismiss: () => setState({ kind: 'idle' }),
    forget: () => useLastMerge.setState({ about, made: null }),
  };
}

/** A merge with its actions. */
export type Merge = ReturnType<typeof useMerge>;
