/**
 * What can be done with staged edits: stage others, step back and forth, apply. Each changes the store of the space.
 *
 * One thing at a time: while the service is asked, nothing else is staged, applied or undone. What is refused changes
 * nothing and says why; a step that can never be undone any more does not stand before those that can.
 */
import { noteGeneration, noteGone } from '../../api/live.ts';
import { ApiError, type Failure, failureOf } from '../../api/problem.ts';
import type { Session } from '../../api/session.tsx';
import { notifyDone, notifyFailure } from '../../ui/notify.tsx';
import {
  type AppliedStep,
  stepBack,
  stepForth,
  withApplied,
  withoutStep,
  withStaged,
} from './edit-history.ts';
import type { EditStore } from './edit-store.ts';
import type { EditConflict } from './staged-conflicts.ts';
import {
  clashesOf,
  countsOfChanges,
  countsText,
  identityOf,
  inverseOf,
  mostStaged,
  type StagedEdits,
} from './staged-edits.ts';
import { applyEdits, findConflicts, makeChanges } from './staging-runs.ts';

interface Context {
  readonly session: Session;
  readonly store: EditStore;
  /** Why something was refused; null when something else is begun. */
  readonly onFailure: (failure: Failure | null) => void;
  /** What was done, in words. */
  readonly onSaid: (text: string) => void;
  readonly onConflicts: (conflicts: readonly EditConflict[]) => void;
  /** Facts were stored: what is shown is to be fetched again. */
  readonly onStored: () => void;
}

export interface StagingActions {
  /** Makes other edits of those there are, as one step that can be undone. */
  readonly stage: (label: string, change: (edits: StagedEdits) => StagedEdits) => void;
  readonly undo: () => Promise<void>;
  readonly redo: () => Promise<void>;
  /** Resolves with the ids of the facts that are no more, empty where nothing was applied. */
  readonly apply: () => Promise<readonly string[]>;
}

type Way = 'undo' | 'redo';

export function stagingActions(context: Context): StagingActions {
  return {
    stage: (label, change) => stage(context, label, change),
    undo: () => move(context, 'undo'),
    redo: () => move(context, 'redo'),
    apply: () => apply(context),
  };
}

function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'Conflict';
}

function stage(
  { store, onFailure, onSaid }: Context,
  label: string,
  change: (edits: StagedEdits) => StagedEdits,
): void {
  const { history, running } = store.getState();
  if (running !== null) return;
  const next = change(history.edits);
  if (next === history.edits) return;
  if (next.length > mostStaged && next.length > history.edits.length) {
    const detail = `At most ${mostStaged.toLocaleString('en')} rows are staged at a time. Apply or revert those there are first.`;
    notifyFailure({ title: 'Too many staged rows', detail, requestId: '', errors: [] });
    return;
  }
  onFailure(null);
  onSaid(label);
  store.setState({ history: withStaged(history, label, next) });
}

/** Runs alone: nothing is staged, applied or undone meanwhile. null: it was refused, or something else runs. */
async function alone<Result>(
  { store, onFailure }: Context,
  what: 'apply' | Way,
  work: () => Promise<Result>,
): Promise<Result | null> {
  if (store.getState().running !== null) return null;
  store.setState({ running: what });
  onFailure(null);
  try {
    return await work();
  } catch (error) {
    onFailure(failureOf(error));
    return null;
  } finally {
    store.setState({ running: null });
  }
}

/** Ids of the facts that an Apply of these edits makes go: those removed, and those that became others. */
function goneBy(edits: StagedEdits): string[] {
  return edits.flatMap((edit) => {
    if (edit.kind === 'added') return [];
    const isKept = edit.kind === 'changed' && identityOf(edit.base) === identityOf(edit.fact);
    return isKept ? [] : [edit.base.id];
  });
}

async function apply(context: Context): Promise<readonly string[]> {
  const wanted = context.store.getState().history.edits;
  if (wanted.length === 0 || clashesOf(wanted).size > 0) return [];
  return (await alone(context, 'apply', () => applyAlone(context, wanted))) ?? [];
}

async function applyAlone(context: Context, wanted: StagedEdits): Promise<readonly string[]> {
  const { session, store, onSaid, onConflicts, onStored } = context;
  const outcome = await applyEdits(session, wanted).catch(async (error: unknown) => {
    // Somebody came between reading and writing: by now it can be read who stands against what.
    if (isConflict(error)) onConflicts(await findConflicts(session, wanted));
    throw error;
  });
  if (outcome.kind === 'conflicts') {
    onConflicts(outcome.conflicts);
    onSaid('Nothing was applied: somebody else changed what you edited.');
    return [];
  }
  const { changes, generation } = outcome;
  const what = countsText(countsOfChanges(changes));
  const gone = goneBy(wanted);
  noteGone(gone);
  noteGeneration(generation);
  store.setState(({ history }) => ({
    history: withApplied(history, `applied ${what}`, changes, generation),
  }));
  notifyDone(what === '' ? 'There was nothing left to do: all was so already.' : `Applied: ${what}`);
  onStored();
  return gone;
}

async function move(context: Context, way: Way): Promise<void> {
  const { store, onFailure, onSaid } = context;
  const { history, running } = store.getState();
  const step = (way === 'undo' ? history.done : history.undone).at(-1);
  if (step === undefined || running !== null) return;
  if (step.kind === 'applied') {
    await alone(context, way, () => moveApplied(context, way, step));
    return;
  }
  onFailure(null);
  onSaid(`${wordOf(way)}: ${step.label}`);
  store.setState({ history: way === 'undo' ? stepBack(history) : stepForth(history) });
}

async function moveApplied(
  { session, store, onStored }: Context,
  way: Way,
  step: AppliedStep,
): Promise<void> {
  const changes = way === 'undo' ? inverseOf(step.changes) : step.changes;
  const generation = await makeChanges(session, changes, step.generation).catch((error: unknown) => {
    // What changed since stays changed: this step will never go.
    if (isConflict(error)) store.setState(({ history }) => ({ history: withoutStep(history, step) }));
    throw error;
  });
  const go = way === 'undo' ? stepBack : stepForth;
  noteGeneration(generation);
  store.setState(({ history }) => ({ history: go(history, generation) }));
  notifyDone(`${wordOf(way)}: ${step.label}`);
  onStored();
}

function wordOf(way: Way): string {
  return way === 'undo' ? 'Undone' : 'Done again';
}
