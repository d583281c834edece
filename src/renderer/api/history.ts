/**
 * What the user of this window did to the knowledge of one database and tenant, step by step, back and forth.
 *
 * One list for all views: edits that are staged, and what was stored (applied, asserted, taught, changed, deleted, merged,
 * imported). A step carries the act that takes it back; made, that gives the act which does it again. What cannot be taken
 * back stands in the list too and says why, and does not stand before the steps that can. The list lives as long as the
 * window.
 */
import { create, type StoreApi, type UseBoundStore } from 'zustand';
import { ApiError, type ApiFailure, apiFailureOf } from './problem.ts';
import type { Space } from './space.ts';

/**
 * Takes a step back, or does it again; resolves with what undoes that in its turn, or why nothing does. It rejects where
 * nothing was changed, and is guarded, so that what somebody else changed since is refused and not overwritten.
 */
export type Act = () => Promise<Act | string>;

export interface HistoryStep {
  /** `staged`: of edits that are not stored yet. */
  readonly kind: 'staged' | 'stored';
  /** What was done: `deleted the rule grandparent`. */
  readonly label: string;
  readonly act: Act | null;
  /** Why it cannot be undone, or done again; null: it can. */
  readonly stuck: string | null;
}

export type HistoryDirection = 'undo' | 'redo';

export interface Steps {
  /** Oldest first. */
  readonly done: readonly HistoryStep[];
  /** The next to be done again last. */
  readonly undone: readonly HistoryStep[];
}

export interface History extends Steps {
  readonly running: HistoryDirection | null;
  /** Why the last step could not be taken. */
  readonly failure: ApiFailure | null;
  /** What was staged last, in words; of what is stored there is a notice. */
  readonly said: string;
}

export const noSteps: Steps = { done: [], undone: [] };

const mostSteps = 100;

/** A step that was done now: what was undone before it is over. */
export function withStep({ done }: Steps, step: HistoryStep): Steps {
  return { done: [...done, step].slice(-mostSteps), undone: [] };
}

/** Without the steps of staging: what they led to is stored, in a step of its own. */
export function withoutStaged({ done }: Steps): Steps {
  return { done: done.filter(({ kind }) => kind === 'stored'), undone: [] };
}

/** The step that would be taken; null: there is none. */
export function nextStep({ done, undone }: Steps, way: HistoryDirection): HistoryStep | null {
  return (way === 'undo' ? done : undone).findLast(({ stuck }) => stuck === null) ?? null;
}

/** The step was taken: it stands on the other side, with the act that takes it back. */
export function withMovedStep(
  { done, undone }: Steps,
  way: HistoryDirection,
  step: HistoryStep,
  act: Act | string,
): Steps {
  const moved = typeof act === 'string' ? { ...step, act: null, stuck: act } : { ...step, act };
  const without = (steps: readonly HistoryStep[]) => steps.filter((each) => each !== step);
  return way === 'undo'
    ? { done: without(done), undone: [...undone, moved] }
    : { done: [...done, moved], undone: without(undone) };
}

/** The step can never be taken any more. */
export function withStuck({ done, undone }: Steps, step: HistoryStep, stuck: string): Steps {
  const marked = (steps: readonly HistoryStep[]) =>
    steps.map((each) => (each === step ? { ...each, stuck } : each));
  return { done: marked(done), undone: marked(undone) };
}

export type HistoryStore = UseBoundStore<StoreApi<History>>;

const stores = new Map<string, HistoryStore>();

/** The history of a space, for as long as the window is open, whatever view is shown. */
export function historyOf({ database, tenant }: Pick<Space, 'database' | 'tenant'>): HistoryStore {
  const key = JSON.stringify([database, tenant]);
  const known = stores.get(key);
  if (known !== undefined) return known;
  const store = create<History>()(() => ({ ...noSteps, running: null, failure: null, said: '' }));
  stores.set(key, store);
  return store;
}

/** Takes up what was done. */
export function record(
  space: Pick<Space, 'database' | 'tenant'>,
  label: string,
  act: Act,
  kind: HistoryStep['kind'] = 'stored',
): HistoryStep {
  const step: HistoryStep = { kind, label, act, stuck: null };
  const said = kind === 'staged' ? label : '';
  historyOf(space).setState((history) => ({ ...withStep(history, step), failure: null, said }));
  return step;
}

/** Takes up what was done and cannot be undone from here. */
export function recordStuck(space: Pick<Space, 'database' | 'tenant'>, label: string, stuck: string): void {
  historyOf(space).setState((history) => withStep(history, { kind: 'stored', label, act: null, stuck }));
}

/** Refusals that stay: what the step is about is not as it was left. */
const lasting = new Set(['Conflict', 'PreconditionFailed', 'FactNotFound', 'RuleNotFound', 'ScopeNotFound']);

/** What was asked for last in each history. */
const turns = new WeakMap<HistoryStore, Promise<HistoryStep | null>>();

/**
 * Takes one step, the next where none is given, after those that were asked for before; null where there is none. Never
 * rejects: what went wrong is in the history.
 */
export function move(
  store: HistoryStore,
  way: HistoryDirection,
  step?: HistoryStep | null,
): Promise<HistoryStep | null> {
  const before = turns.get(store) ?? Promise.resolve(null);
  const turn = before.then(() => take(store, way, step ?? nextStep(store.getState(), way)));
  turns.set(store, turn);
  return turn;
}

async function take(
  store: HistoryStore,
  way: HistoryDirection,
  step: HistoryStep | null,
): Promise<HistoryStep | null> {
  if (step === null || step.act === null) return null;
  store.setState({ running: way, failure: null });
  try {
    const act = await step.act();
    const said = step.kind === 'staged' ? `${way === 'undo' ? 'Undone' : 'Done again'}: ${step.label}` : '';
    store.setState((history) => ({ ...withMovedStep(history, way, step, act), said }));
    return step;
  } catch (error) {
    const failure = apiFailureOf(error);
    store.setState({ failure });
    if (error instanceof ApiError && lasting.has(error.code))
      store.setState((history) => withStuck(history, step, failure.detail));
    return null;
  } finally {
    store.setState({ running: null });
  }
}
