/**
 * What the tabs have asked: the answer that is shown in each, the question that runs in it, and its earlier runs.
 *
 * A question goes on while one looks at another tab or view; closing its tab ends it. All of it is of one space and
 * one person: for others it begins empty, since nobody tells of changes in a space that is not followed. A new question
 * ends the one that runs in the tab; the answer before stays meanwhile, so that nothing flickers.
 */
import { create } from 'zustand';
import { useCredential } from '../../api/credential.ts';
import { useLive } from '../../api/live.ts';
import { failureOf, isCancelled } from '../../api/problem.ts';
import type { Session } from '../../api/session.tsx';
import type { RunState } from '../../api/use-run.ts';
import { type Allowance, type ShownAnswer, usualAllowance } from './answer.ts';
import { earlierAfter } from './compare-runs.ts';

export interface TabRuns {
  readonly state: RunState<ShownAnswer>;
  /** What was asked last, by `wantedKey`; null before the first time. */
  readonly asked: string | null;
  readonly allowance: Allowance;
  /** Version of what answers stand on when the shown one came. */
  readonly version: number;
  /** The runs before the one that is shown, the last first. */
  readonly earlier: readonly ShownAnswer[];
  /** The run that the shown one is compared with. */
  readonly comparedTo: string | null;
}

type Owner = Session['endpoint'];

interface Runs {
  /** Whose space this is about, by identity: another visit of the space is another one. */
  readonly owner: Owner | null;
  readonly byTab: Readonly<Record<string, TabRuns>>;
}

const idle = { runningSince: null, result: null, failure: null, cancelledAfter: null } as const;

const noRuns: TabRuns = {
  state: idle,
  asked: null,
  allowance: usualAllowance,
  version: 0,
  earlier: [],
  comparedTo: null,
};

const useStore = create<Runs>()(() => ({ owner: null, byTab: {} }));
const running = new Map<string, { readonly controller: AbortController; readonly since: number }>();

function forgetAll(owner: Owner | null): void {
  for (const { controller } of running.values()) controller.abort();
  running.clear();
  useStore.setState({ owner, byTab: {} });
}

useCredential.subscribe((now, before) => {
  if (now.person !== before.person) forgetAll(null);
});

function change(tab: string, edit: (runs: TabRuns) => TabRuns): void {
  useStore.setState(({ byTab }) => ({ byTab: { ...byTab, [tab]: edit(byTab[tab] ?? noRuns) } }));
}

/** Begins `work` in a tab; its promise is to reject when the signal is aborted. */
export function startRun(
  owner: Owner,
  tab: string,
  asked: string,
  allowance: Allowance,
  work: (signal: AbortSignal) => Promise<ShownAnswer>,
): void {
  if (useStore.getState().owner !== owner) forgetAll(owner);
  running.get(tab)?.controller.abort();
  const mine = { controller: new AbortController(), since: performance.now() };
  running.set(tab, mine);
  change(tab, (runs) => ({
    ...runs,
    asked,
    allowance,
    state: { ...runs.state, runningSince: mine.since, cancelledAfter: null },
  }));
  const isMine = () => running.get(tab) === mine;
  work(mine.controller.signal).then(
    (result) => {
      if (!isMine()) return;
      running.delete(tab);
      change(tab, (runs) => ({
        ...runs,
        state: { ...idle, result },
        version: useLive.getState().versions.answers,
        earlier: earlierAfter(runs.earlier, runs.state.result, result),
      }));
    },
    (error: unknown) => {
      if (!isMine()) return;
      running.delete(tab);
      const ended = isCancelled(error)
        ? { ...idle, cancelledAfter: performance.now() - mine.since }
        : { ...idle, failure: failureOf(error) };
      // What answered before is no answer to this, but it can be compared with the next.
      change(tab, (runs) => {
        const earlier = earlierAfter(runs.earlier, runs.state.result, null);
        return { ...runs, state: ended, earlier, version: useLive.getState().versions.answers };
      });
    },
  );
}

/** Ends what runs in a tab; it says when it has ended. */
export function cancelRun(tab: string): void {
  running.get(tab)?.controller.abort();
}

export function compareWith(tab: string, run: string | null): void {
  change(tab, (runs) => ({ ...runs, comparedTo: run }));
}

/** Forgets a tab that is closed, and ends what runs in it. */
export function forgetTab(tab: string): void {
  const mine = running.get(tab);
  running.delete(tab);
  mine?.controller.abort();
  useStore.setState(({ byTab }) => {
    const { [tab]: _gone, ...rest } = byTab;
    return { byTab: rest };
  });
}

export function useTabRuns(owner: Owner, tab: string): TabRuns {
  return useStore((runs) => (runs.owner === owner ? (runs.byTab[tab] ?? noRuns) : noRuns));
}

/** True where a question runs in the tab. */
export function useIsRunning(owner: Owner, tab: string): boolean {
  return useTabRuns(owner, tab).state.runningSince !== null;
}
