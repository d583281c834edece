/**
 * Runs that are kept to compare others with.
 *
 * They hold answers, so they live as long as the key does in a browser: in this window, over a reload of it, and not
 * past the sign-out. A very long one is kept without the reload.
 */
import { create } from 'zustand';
import { useCredential } from '../../api/credential.ts';
import type { Space } from '../../api/space.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import type { ShownAnswer } from './answer.ts';
import { type Question, readQuestion } from './question.ts';

type Where = Pick<Space, 'database' | 'tenant'>;
type All = Readonly<Record<string, readonly ShownAnswer[]>>;

const storageKey = 'corollary.pinned-runs';
const mostPinned = 20;
/** Longer ones are not kept over a reload: the storage of a window has a few megabytes. */
const mostAnswersStored = 5_000;
const none: readonly ShownAnswer[] = [];

function readRun(value: unknown): ShownAnswer | null {
  if (typeof value !== 'object' || value === null) return null;
  const { question, results, bindings } = value as Record<string, unknown>;
  const text = (question as Partial<Question> | null)?.text;
  if (typeof text !== 'string' || !Array.isArray(results) || !Array.isArray(bindings)) return null;
  const read = readQuestion(text);
  // Written by this module a moment before, in the same window; what matters here is that it can be read at all.
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

const useStore = create<{ readonly all: All }>()(() => ({
  all: readStoredState(storageKey, readAll, {}, sessionStorage),
}));

function set(all: All): void {
  useStore.setState({ all });
  const kept = Object.entries(all).map(([name, runs]) => {
    let room = mostAnswersStored;
    return [name, runs.filter(({ results }) => (room -= results.length) >= 0)] as const;
  });
  writeStored(storageKey, Object.fromEntries(kept), sessionStorage);
}

useCredential.subscribe((now, before) => {
  if (now.person !== before.person) set({});
});

function nameOf({ database, tenant }: Where): string {
  return `${database}/${tenant}`;
}

export function pinRun(space: Where, run: ShownAnswer): void {
  const { all } = useStore.getState();
  const name = nameOf(space);
  const others = (all[name] ?? none).filter(({ id }) => id !== run.id);
  set({ ...all, [name]: [run, ...others].slice(0, mostPinned) });
}

export function unpinRun(space: Where, id: string): void {
  const { all } = useStore.getState();
  const name = nameOf(space);
  set({ ...all, [name]: (all[name] ?? none).filter((run) => run.id !== id) });
}

/** The last pinned first. */
export function usePinnedRuns(space: Where): readonly ShownAnswer[] {
  return useStore(({ all }) => all[nameOf(space)] ?? none);
}
