/**
 * The runs of the tabs: the answer shown in each, the question being answered, earlier runs, and pinned ones to compare
 * others with.
 *
 * A question keeps running while the user looks at another tab or view; closing its tab cancels it. All runs
 * belong to one space and one person; for any other the store starts empty, since no events arrive for a
 * space that is not followed. A new question cancels the running one of its tab; the previous answer stays
 * visible meanwhile, to avoid flicker. Pinned runs contain answers, so they live as long as the browser keeps the
 * key: in this window, across reloads, until sign-out. Very long ones do not survive a reload.
 */
import { useCallback, useEffect, useEffectEvent } from 'react';
import { create } from 'zustand';
import { useCredential } from '../../api/credential.ts';
import { useLive } from '../../api/live.ts';
import { apiFailureOf, isCancelled } from '../../api/problem.ts';
import { noteAsked } from '../../api/questions.ts';
import { useSession, type WorkbenchSession } from '../../api/session.tsx';
import { scopeKey, type Space } from '../../api/space.ts';
import type { RunState } from '../../api/use-run.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import {
  type Allowance,
  askOnce,
  type ParsedQuestion,
  raised,
  readQuestion,
  type ShownAnswer,
  usualAllowance,
} from './answer.ts';
import type { AskTab } from './ask-tabs.ts';
import { earlierAfter } from './compare-runs.ts';

/** The runs of one tab. */
export interface TabRuns {
  readonly state: RunState<ShownAnswer>;
  /** The last request, by `wantedKey`; null before the first. */
  readonly asked: string | null;
  readonly allowance: Allowance;
  /** The version of the knowledge when the shown answer arrived. */
  readonly version: number;
  /** The runs before the shown one, the most recent first. */
  readonly earlier: readonly ShownAnswer[];
  /** The run that the shown one is compared with. */
  readonly comparedTo: string | null;
}

type Owner = WorkbenchSession['endpoint'];

interface Runs {
  /** The endpoint the runs belong to, by identity: each visit of a space has its own. */
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

/** Starts `work` in a tab; its promise must reject when the signal is aborted. */
function startRun(
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
        : { ...idle, failure: apiFailureOf(error) };
      // The previous answer is no answer to this question, but can be compared with the next.
      change(tab, (runs) => {
        const earlier = earlierAfter(runs.earlier, runs.state.result, null);
        return { ...runs, state: ended, earlier, version: useLive.getState().versions.answers };
      });
    },
  );
}

/** Cancels the run of a tab; the tab's state reports when it has ended. */
function cancelRun(tab: string): void {
  running.get(tab)?.controller.abort();
}

/** Sets the run that the answers of a tab are compared with; null: none. */
export function compareWith(tab: string, run: string | null): void {
  change(tab, (runs) => ({ ...runs, comparedTo: run }));
}

/** Drops the runs of a closed tab and cancels the current one. */
export function forgetTab(tab: string): void {
  const mine = running.get(tab);
  running.delete(tab);
  mine?.controller.abort();
  useStore.setState(({ byTab }) => {
    const { [tab]: _gone, ...rest } = byTab;
    return { byTab: rest };
  });
}

/** The runs of a tab; empty if they belong to another endpoint. */
function useTabRuns(owner: Owner, tab: string): TabRuns {
  return useStore((runs) => (runs.owner === owner ? (runs.byTab[tab] ?? noRuns) : noRuns));
}

/** True while a question runs in the tab. */
export function useIsRunning(owner: Owner, tab: string): boolean {
  return useTabRuns(owner, tab).state.runningSince !== null;
}

type Where = Pick<Space, 'database' | 'tenant'>;
type All = Readonly<Record<string, readonly ShownAnswer[]>>;

const storageKey = 'corollary.pinned-runs';
const maxPinned = 20;
/** Longer runs are not stored across reloads: session storage is limited to a few megabytes. */
const maxStoredAnswers = 5_000;
const none: readonly ShownAnswer[] = [];

function readRun(value: unknown): ShownAnswer | null {
  if (typeof value !== 'object' || value === null) return null;
  const { question, results, bindings } = value as Record<string, unknown>;
  const text = (question as Partial<ParsedQuestion> | null)?.text;
  if (typeof text !== 'string' || !Array.isArray(results) || !Array.isArray(bindings)) return null;
  const read = readQuestion(text);
  // This module wrote it in the same window; only the question needs parsing.
  return read.ok ? { ...(value as ShownAnswer), question: read.question } : null;
}

function readAll(value: unknown): All | null {
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).map(([name, runs]) => [
      name,
      Array.isArray(runs) ? runs.map(readRun).filter((run) => run !== null) : [],
    ]),
  );
}

const usePins = create<{ readonly all: All }>()(() => ({
  all: readStoredState(storageKey, readAll, {}, sessionStorage),
}));

function set(all: All): void {
  usePins.setState({ all });
  const stored = Object.entries(all).map(([name, runs]) => {
    let room = maxStoredAnswers;
    return [name, runs.filter(({ results }) => (room -= results.length) >= 0)] as const;
  });
  writeStored(storageKey, Object.fromEntries(stored), sessionStorage);
}

useCredential.subscribe((now, before) => {
  if (now.person !== before.person) set({});
});

function nameOf({ database, tenant }: Where): string {
  return `${database}/${tenant}`;
}

/** Pins a run; the oldest pin goes if there are too many. */
export function pinRun(space: Where, run: ShownAnswer): void {
  const { all } = usePins.getState();
  const name = nameOf(space);
  const others = (all[name] ?? none).filter(({ id }) => id !== run.id);
  set({ ...all, [name]: [run, ...others].slice(0, maxPinned) });
}

/** Removes a pin. */
export function unpinRun(space: Where, id: string): void {
  const { all } = usePins.getState();
  const name = nameOf(space);
  set({ ...all, [name]: (all[name] ?? none).filter((run) => run.id !== id) });
}

/** The pinned runs, the most recent first. */
export function usePinnedRuns(space: Where): readonly ShownAnswer[] {
  return usePins(({ all }) => all[nameOf(space)] ?? none);
}

/** Answers that took longer, in milliseconds, are not repeated automatically. */
const quickMs = 300;

/** The state of a tab's question, and its actions. */
export interface Asking {
  readonly runs: TabRuns;
  /** The shown answer may be outdated. */
  readonly isOld: boolean;
  again(): void;
  /** Asks again with ten times the limit that was exceeded; null if it is at the maximum. */
  raise(part: keyof Allowance): (() => void) | null;
  cancel(): void;
}

/** Repeats outdated answers, and questions that failed while the service was unreachable. */
function useCurrency(runs: TabRuns, isLive: boolean, again: () => void): boolean {
  const { moment } = useSession();
  const version = useLive((live) => live.versions.answers);
  const { result, failure, runningSince } = runs.state;
  // The past never changes.
  const isOld = moment === null && result !== null && version !== runs.version;
  const wasAway = failure?.code === 'Unreachable' || failure?.code === 'NotReady';
  const onChange = useEffectEvent(() => {
    if (runningSince !== null) return;
    const isQuick = isOld && isLive && (result?.elapsedMs ?? 0) <= quickMs;
    if (isQuick || wasAway) again();
  });
  const isRunning = runningSince !== null;
  const hasChanged = isOld || (wasAway && version !== runs.version);
  useEffect(() => {
    if (hasChanged && !isRunning) onChange();
  }, [hasChanged, isRunning, version, isLive]);
  return isOld;
}

/** Answers the question of a tab. */
export function useAnswer(tab: AskTab, isLive: boolean): Asking {
  const session = useSession();
  const { endpoint, space } = session;
  const { question } = tab.shown;
  const isStoredOnly = tab.shown.stored === 'true';
  const runs = useTabRuns(endpoint, tab.id);
  const wanted = JSON.stringify([question, isStoredOnly, scopeKey(space.scope)]);

  const ask = useCallback(
    (allowance: Allowance, isNoted: boolean, known: ShownAnswer | null = null) => {
      if (question === undefined) return;
      startRun(endpoint, tab.id, wanted, allowance, async (signal) => {
        const answer = await askOnce(session, question, isStoredOnly, allowance, known, signal);
        if (isNoted && !signal.aborted) noteAsked(space, answer.question.text, answer.results.length);
        return answer;
      });
    },
    [endpoint, session, space, tab.id, question, isStoredOnly, wanted],
  );

  const onWanted = useEffectEvent(() => {
    if (question !== undefined && runs.asked !== wanted) ask(usualAllowance, true);
  });
  useEffect(() => onWanted(), [wanted, tab.id, endpoint]);

  const isOld = useCurrency(runs, isLive, () => ask(runs.allowance, false));
  return {
    runs,
    isOld,
    again: () => ask(runs.allowance, true),
    raise(part) {
      const more = raised(runs.allowance, part);
      const known = part === 'limit' && runs.asked === wanted ? runs.state.result : null;
      return more === null ? null : () => ask(more, true, known);
    },
    cancel: () => cancelRun(tab.id),
  };
}
