/**
 * Pinned runs, to compare others with.
 *
 * They contain answers, so they live as long as the browser keeps the key: in this window, across reloads,
 * until sign-out. Very long ones do not survive a reload.
 */
import { create } from 'zustand';
import { useCredential } from '../../api/credential.ts';
import type { Space } from '../../api/space.ts';
import { readStoredState, writeStored } from '../../ui/stored-state.ts';
import type { ShownAnswer } from './answer.ts';
import { type ParsedQuestion, readQuestion } from './question.ts';

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

const useStore = create<{ readonly all: All }>()(() => ({
  all: readStoredState(storageKey, readAll, {}, sessionStorage),
}));

function set(all: All): void {
  useStore.setState({ all });
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
  const { all } = useStore.getState();
  const name = nameOf(space);
  const others = (all[name] ?? none).filter(({ id }) => id !== run.id);
  set({ ...all, [name]: [run, ...others].slice(0, maxPinned) });
}

/** Removes a pin. */
export function unpinRun(space: Where, id: string): void {
  const { all } = useStore.getState();
  const name = nameOf(space);
  set({ ...all, [name]: (all[name] ?? none).filter((run) => run.id !== id) });
}

/** The pinned runs, the most recent first. */
export function usePinnedRuns(space: Where): readonly ShownAnswer[] {
  return useStore(({ all }) => all[nameOf(space)] ?? none);
}
