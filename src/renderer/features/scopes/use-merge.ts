/**
 * Merging, trying a merge, and taking one back.
 *
 * Nothing is written but by `apply` and `undo`, each once and whole. A merge is only made of what was looked at: where
 * the scopes have changed since, that is shown first. The last merge of a tenant can be taken back from this window.
 */
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useDebouncedValue } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { create } from 'zustand';
import type { Merged } from '../../../engine/contract/scopes.ts';
import type { Committed } from '../../../engine/contract/transactions.ts';
import type { ServiceEndpoint } from '../../api/client.ts';
import { historyOf, move, record, recordStuck, type HistoryStep } from '../../api/history.ts';
import { invalidate, noteGeneration, topics } from '../../api/live.ts';
import { type ApiFailure, apiFailureOf, isCancelled } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import type { Space } from '../../api/space.ts';
import { runTransaction, type TransactionWrite } from '../../api/transaction.ts';
import { type Side, sideLabel } from './scopes-search.ts';
import { mostUndone, undoOf } from './undo.ts';
import { type ScopeComparison, sidesOf } from './use-comparison.ts';

/** A merge that was made, and its way back. */
export interface MadeMerge {
  readonly source: Side;
  readonly target: Side;
  readonly merged: Merged;
  /** Writes that take it back, or why there are none. */
  readonly undo: readonly TransactionWrite[] | 'too many' | 'others wrote';
  /** In the history; null where there is no way back. */
  readonly step: HistoryStep | null;
}

const whyNoUndo = {
  'too many': 'it changed too many facts to be undone from here',
  'others wrote': 'others wrote at the same moment',
} as const;

interface LastMerge {
  /** Database and tenant that it was made in. */
  readonly about: string;
  readonly made: MadeMerge | null;
}

const useLastMerge = create<LastMerge>()(() => ({ about: '', made: null }));

function aboutOf({ database, tenant }: ServiceEndpoint): string {
  return JSON.stringify([database, tenant]);
}

function requestOf({ pair, strategy, resolutions }: ScopeComparison) {
  return { ...sidesOf(pair), strategy, resolutions };
}

/** Why a dry run is not asked for: its answer is known. */
export function isRefused({ strategy, counts }: ScopeComparison): boolean {
  return strategy === 'REJECT' && counts.unresolved > 0;
}

/**
 * What the merge would do, asked of the service a moment after the last choice: of the differences that are shown,
 * so that it is asked anew when they were fetched anew.
 */
export function useDryRun(comparison: ScopeComparison) {
  const { call, endpoint } = useSession();
  const { pair, strategy, resolutions, differences } = comparison;
  const isWanted = differences.isSuccess && !isRefused(comparison);
  const { dataUpdatedAt } = differences;
  const wanted = useMemo(
    // With nothing unresolved every strategy does the same; should something come to differ meanwhile, none refuses.
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
  /** The scopes were no longer what was shown; nothing was merged. */
  | { readonly kind: 'moved on' };

/** The generation that reads see: that of an answer to a question which costs nothing. */
async function generationOf(call: ReturnType<typeof useSession>['call']): Promise<number> {
  return (await call('ask', { body: { predicate: 'anything', args: [], limit: 1 } })).generation;
}

/** The way back from a merge, from what was shown before it. `before`: the generation that was read then. */
function wayBack(comparison: ScopeComparison, merged: Merged, before: number): MadeMerge['undo'] {
  if (merged.generation === before) return [];
  if (merged.generation !== before + 1) return 'others wrote';
  if (comparison.isTruncated) return 'too many';
  const writes = undoOf(comparison.changedRows(), comparison.pair.target, merged.generation, Date.now());
  return writes.length > mostUndone ? 'too many' : writes;
}

/** Makes the writes that take a merge back, telling how far it is. */
function runUndo(
  endpoint: ServiceEndpoint,
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

/** Takes the merge up into the history; null where there is no way back. */
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

export function useMerge(comparison: ScopeComparison) {
  const { call, endpoint, space } = useSession();
  const client = useQueryClient();
  const [state, setState] = useState<MergeState>({ kind: 'idle' });
  const about = aboutOf(endpoint);
  const last = useLastMerge((store) => (store.about === about ? store.made : null));
  const isBusy = state.kind === 'merging' || state.kind === 'undoing';
  const { differences, acknowledge, pair } = comparison;

  async function refresh(): Promise<unknown> {
    invalidate(client, endpoint, topics);
    return (await differences.refetch()).data;
  }

  async function merge(): Promise<MergeState> {
    const before = await generationOf(call);
    const fresh = await differences.refetch({ throwOnError: true });
    // Only what is the same down to the last field is the same object.
    if (fresh.data !== differences.data) return { kind: 'moved on' };
    const merged = await call('mergeScopes', { body: requestOf(comparison) });
    noteGeneration(merged.generation);
    const { source, target } = pair;
    const undo = wayBack(comparison, merged, before);
    const compared = await refresh();
    // Told once nothing runs any more: an undo that is offered and then passed over as too early would be lost.
    const step = recordMerge(space, { source, target, undo }, takeBack);
    useLastMerge.setState({ about, made: { source, target, merged, undo, step } });
    acknowledge(compared);
    return { kind: 'idle' };
  }

  /** The act of the history. A merge is not made again without its scopes being looked at again. */
  async function takeBack(writes: readonly TransactionWrite[]): Promise<string> {
    try {
      noteGeneration((await runUndo(endpoint, writes, setState)).generation);
      useLastMerge.setState({ about, made: null });
      acknowledge(await refresh());
      setState({ kind: 'idle' });
      return 'compare the scopes as they are now, and merge again';
    } catch (error) {
      // Who gives up knows it; nothing was undone.
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
      // What stood against it is looked at as it is now.
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

export type Merge = ReturnType<typeof useMerge>;
