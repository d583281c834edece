/**
 * What the user of this window did to one database and tenant, as undo and redo steps.
 *
 * All views share the list: staged edits, and stored changes (applied, asserted, taught, changed, deleted, merged,
 * imported). Each step carries the act that reverses it; running that act returns its inverse. A step that cannot be
 * undone is listed with the reason and does not block earlier ones. The list lives as long as the window.
 */
import { useQueryClient } from '@tanstack/react-query';
import { create, type StoreApi, type UseBoundStore } from 'zustand';
import { notifyDone } from '../ui/notify.tsx';
import { invalidate, topics } from './live.ts';
import { pastFailure } from './moment.ts';
import { ApiError, type ApiFailure, apiFailureOf } from './problem.ts';
import { useSession } from './session.tsx';
import type { Space } from './space.ts';

/**
 * Undoes or redoes a step; resolves with its inverse, or with the reason why there is none. Rejects if nothing
 * changed. Guarded: a newer change by someone else causes a refusal and is not overwritten.
 */
export type Act = () => Promise<Act | string>;

/** One step of the history. */
export interface HistoryStep {
  /** `staged`: edits not yet stored. */
  readonly kind: 'staged' | 'stored';
  /** A description, such as `deleted the rule grandparent`. */
  readonly label: string;
  readonly act: Act | null;
  /** Why the step cannot be undone or redone; null if it can. */
  readonly stuck: string | null;
}

/** Undo or redo. */
export type HistoryDirection = 'undo' | 'redo';

/** Steps on both sides of the present. */
export interface Steps {
  /** Oldest first. */
  readonly done: readonly HistoryStep[];
  /** The next one to redo is last. */
  readonly undone: readonly HistoryStep[];
}

/** A history with its state. */
interface History extends Steps {
  readonly running: HistoryDirection | null;
  /** Why the last step failed. */
  readonly failure: ApiFailure | null;
  /** Announcement of the last staged step; stored steps have a notice instead. */
  readonly said: string;
}

/** An empty history. */
export const noSteps: Steps = { done: [], undone: [] };

const maxSteps = 100;

/** Adds a new step and drops the undone ones. */
export function withStep({ done }: Steps, step: HistoryStep): Steps {
  return { done: [...done, step].slice(-maxSteps), undone: [] };
}

/** Drops the staged steps: their result is stored as its own step. */
export function withoutStaged({ done }: Steps): Steps {
  return { done: done.filter(({ kind }) => kind === 'stored'), undone: [] };
}

/** Returns the step to take; null if there is none. */
export function nextStep({ done, undone }: Steps, way: HistoryDirection): HistoryStep | null {
  return (way === 'undo' ? done : undone).findLast(({ stuck }) => stuck === null) ?? null;
}

/** Moves a step to the other side, with its inverse. */
function withMovedStep(
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

/** Marks a step that can no longer be taken. */
function withStuck({ done, undone }: Steps, step: HistoryStep, stuck: string): Steps {
  const marked = (steps: readonly HistoryStep[]) =>
    steps.map((each) => (each === step ? { ...each, stuck } : each));
  return { done: marked(done), undone: marked(undone) };
}

/** Store of one history. */
type HistoryStore = UseBoundStore<StoreApi<History>>;

const stores = new Map<string, HistoryStore>();

/** Returns the history of a space, shared by all views while the window is open. */
export function historyOf({ database, tenant }: Pick<Space, 'database' | 'tenant'>): HistoryStore {
  const key = JSON.stringify([database, tenant]);
  const known = stores.get(key);
  if (known !== undefined) return known;
  const store = create<History>()(() => ({ ...noSteps, running: null, failure: null, said: '' }));
  stores.set(key, store);
  return store;
}

/** Records a step. */
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

/** Records a step that cannot be undone here. */
export function recordStuck(space: Pick<Space, 'database' | 'tenant'>, label: string, stuck: string): void {
  historyOf(space).setState((history) => withStep(history, { kind: 'stored', label, act: null, stuck }));
}

/** Permanent refusals: the step's subject has changed. */
const lasting = new Set([
  'Conflict',
  'HistoryGone',
  'PreconditionFailed',
  'FactNotFound',
  'RuleNotFound',
  'ScopeNotFound',
]);

/** The last requested step of each history. */
const turns = new WeakMap<HistoryStore, Promise<HistoryStep | null>>();

/**
 * Takes a step, the next one by default, after those requested before; resolves with null if there is none. Never
 * rejects: failures go into the history.
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
    const said = step.kind === 'staged' ? `${way === 'undo' ? 'Undone' : 'Redone'}: ${step.label}` : '';
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

/** History and the actions on it. */
export interface HistoryActions extends History {
  /** The step to undo or redo; null if there is none, or the past is shown. */
  readonly next: Readonly<Record<HistoryDirection, HistoryStep | null>>;
  /** Takes a step; returns the refusal, or null on success. */
  readonly take: (way: HistoryDirection) => Promise<ApiFailure | null>;
  readonly dismissFailure: () => void;
}

/** Longer than the change stream's batching, so that deleted facts are known before they would be fetched. */
const refreshMs = 250;

/** Returns the history of the current space. */
export function useHistory(): HistoryActions {
  const { space, present, moment } = useSession();
  const client = useQueryClient();
  const useStore = historyOf(space);
  const history = useStore();

  async function take(way: HistoryDirection): Promise<ApiFailure | null> {
    if (moment !== null) return pastFailure;
    const step = await move(useStore, way);
    if (step?.kind === 'stored') {
      notifyDone(`${way === 'undo' ? 'Undone' : 'Redone'}: ${step.label}`);
      setTimeout(() => invalidate(client, present, topics), refreshMs);
    }
    return useStore.getState().failure;
  }

  return {
    ...history,
    next:
      moment === null
        ? { undo: nextStep(history, 'undo'), redo: nextStep(history, 'redo') }
        : { undo: null, redo: null },
    take,
    dismissFailure: () => useStore.setState({ failure: null }),
  };
}
