/**
 * What was staged and applied, step by step, back and forth.
 *
 * A step of staging is undone by putting the edits before it back. An applied step is undone by a transaction of its own,
 * which its owner makes; here it only changes sides, with the generation of that transaction, which guards the way back.
 * To apply empties the edits and leaves one step in place of those that led there. Pure values.
 */
import type { FactChange, StagedEdits } from './staged-edits.ts';

export interface StagingStep {
  readonly kind: 'staged';
  readonly label: string;
  readonly before: StagedEdits;
  readonly after: StagedEdits;
}

export interface AppliedStep {
  readonly kind: 'applied';
  readonly label: string;
  readonly changes: readonly FactChange[];
  /** Of the transaction that made them, or took them back: no fact of theirs is to have changed since. */
  readonly generation: number;
}

export type EditStep = StagingStep | AppliedStep;

export interface EditHistory {
  readonly edits: StagedEdits;
  /** Oldest first. */
  readonly done: readonly EditStep[];
  /** The next to be done again last. */
  readonly undone: readonly EditStep[];
}

export const emptyHistory: EditHistory = { edits: [], done: [], undone: [] };

const mostSteps = 100;

/** Takes up other edits as a new step. The same edits are no step. */
export function withStaged(history: EditHistory, label: string, edits: StagedEdits): EditHistory {
  if (edits === history.edits) return history;
  const step: EditStep = { kind: 'staged', label, before: history.edits, after: edits };
  return { edits, done: [...history.done, step].slice(-mostSteps), undone: [] };
}

/** All edits have been made, in a transaction of that generation. No changes: there was nothing left to do. */
export function withApplied(
  history: EditHistory,
  label: string,
  changes: readonly FactChange[],
  generation: number,
): EditHistory {
  const earlier = history.done.filter(({ kind }) => kind === 'applied');
  const step: EditStep = { kind: 'applied', label, changes, generation };
  return { edits: [], done: changes.length === 0 ? earlier : [...earlier, step], undone: [] };
}

/** One step back, of staging; an applied one needs the generation of the transaction that took it back. */
export function stepBack(history: EditHistory, generation: number | null = null): EditHistory {
  const step = history.done.at(-1);
  if (step === undefined) return history;
  const done = history.done.slice(0, -1);
  if (step.kind === 'staged') return { edits: step.before, done, undone: [...history.undone, step] };
  if (generation === null) return history;
  return { ...history, done, undone: [...history.undone, { ...step, generation }] };
}

/** The step that was undone last, done again: the inverse of `stepBack`. */
export function stepForth(history: EditHistory, generation: number | null = null): EditHistory {
  const step = history.undone.at(-1);
  if (step === undefined) return history;
  const undone = history.undone.slice(0, -1);
  if (step.kind === 'staged') return { edits: step.after, done: [...history.done, step], undone };
  if (generation === null) return history;
  return { ...history, done: [...history.done, { ...step, generation }], undone };
}

/** Without a step that can no longer be undone, or done again: what it is about has changed since. */
export function withoutStep(history: EditHistory, step: EditStep): EditHistory {
  return {
    ...history,
    done: history.done.filter((each) => each !== step),
    undone: history.undone.filter((each) => each !== step),
  };
}
