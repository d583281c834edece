/** Actions on a displayed proof, by pointer and keys, shared by outline and diagram. */
import type { KeyboardEvent } from 'react';
import type { ProofStep } from '../../../engine/contract/inference.ts';
import type { ChainedStep } from '../../../proof/chains.ts';
import { afterKey, afterOpening, revealing } from '../../../proof/folds.ts';
import {
  isClosedChain,
  isPointer,
  keyOfStep,
  type OutlineRow,
  type ProofTree,
} from '../../../proof/proof-tree.ts';
import { hiddenNames, hideOf } from './proof-search.ts';
import { knownNameOf, turned, waysTo } from './shown-proof.ts';
import type { FoundSteps, ProofDisplay } from './use-proof-display.ts';

/** Turns to another alternative of a step, and unfolds what it newly shows. */
export function turn({ folds, chosen, apart, keep }: ProofDisplay, step: ProofStep, by: number): void {
  const active = keyOfStep(step.id);
  keep({
    state: { active, unfolded: new Set([...folds.unfolded, active]) },
    chosen: turned(chosen, step, by),
    apart,
  });
}

/** Shows a step as the root; null shows the whole proof. */
export function reRoot(display: ProofDisplay, step: ProofStep | null): void {
  const { tree, shown, folds, chosen, apart, keep, setLook } = display;
  const active = keyOfStep((step ?? tree.root).id);
  keep({ state: { active, unfolded: new Set([...folds.unfolded, active]) }, chosen, apart });
  const isWhole = step === null || step.id === shown.roots[0];
  setLook({ from: isWhole ? undefined : step.atom, find: undefined });
}

/** Unfolds the chain at a step, or folds the chain around it again. */
export function toggleChain(display: ProofDisplay, { id, chain }: ChainedStep): void {
  const { apart, setApart } = display;
  if (chain !== undefined) {
    setApart(new Set([...apart, ...chain.members]), id);
    return;
  }
  const around = display.chainOf(id);
  const [top] = around ?? [];
  if (around === null || top === undefined) return;
  const folded = new Set(around);
  setApart(new Set([...apart].filter((each) => !folded.has(each))), top);
}

/** Gives one step of a folded chain its own line, which splits the chain there. */
export function unfoldAt({ apart, setApart }: ProofDisplay, id: number): void {
  setApart(new Set([...apart, id]), id);
}

/** Hides or shows the steps about a known predicate. */
export function toggleKnown({ look, setLook }: ProofDisplay, name: string): void {
  const names = new Set(hiddenNames(look.hide));
  if (!names.delete(name)) names.add(name);
  setLook({ hide: hideOf(names) });
}

/** Searches for steps; an empty text ends the search, with the match under the cursor still visible. */
export function setFind(display: ProofDisplay, text: string): void {
  const { look, setLook, tree, active, found, folds, chosen, apart, keep } = display;
  const find = text.trim() === '' ? undefined : text;
  if (find === undefined && active !== undefined && found !== null) {
    const { id } = active.step;
    const unfolded = revealing(tree, folds.unfolded, id);
    keep({ state: { active: keyOfStep(id), unfolded }, chosen, apart });
  }
  if (find !== look.find) setLook({ find });
}

/** Moves to the match after, or with -1 before, the line under the cursor. */
export function goToMatch({ tree, found, active, state, setState }: ProofDisplay, by: 1 | -1): void {
  const next = found === null ? null : nextMatch(tree, found, (active?.step ?? tree.root).id, by);
  if (next !== null) setState({ active: keyOfStep(next), unfolded: revealing(tree, state.unfolded, next) });
}

/** Returns the match after (with -1 before) a step in outline order, wrapping around; null without matches. */
export function nextMatch(tree: ProofTree, found: FoundSteps, from: number, by: 1 | -1): number | null {
  const { inOrder } = found;
  const place = tree.positionOf.get(from) ?? -1;
  const placeOf = (id: number) => tree.positionOf.get(id) ?? 0;
  const next =
    by === 1
      ? (inOrder.find((id) => placeOf(id) > place) ?? inOrder[0])
      : (inOrder.findLast((id) => placeOf(id) < place) ?? inOrder.at(-1));
  return next ?? null;
}

/** Returns the name by which the step under the cursor can be hidden; null if it cannot, as for the root. */
export function hideable({ tree, active }: ProofDisplay): string | null {
  return active === undefined || active.step.id === tree.root.id ? null : knownNameOf(active.step);
}

/** Actions on the steps. */
export interface StepActions {
  readonly toggle: (row: OutlineRow) => void;
  /** Opens the fact or the rule; on a reference, moves to the step shown in full. */
  readonly open: (row: OutlineRow) => void;
  readonly select: (row: OutlineRow) => void;
  /** `page`: number of lines in the view. */
  readonly onKeyDown: (event: KeyboardEvent, page: number) => void;
}

interface StepActionOptions {
  display: ProofDisplay;
  onOpen: (row: OutlineRow) => void;
  /** Focuses the search field. */
  onFind: () => void;
}

/** Returns the actions of pointer and keys on steps. */
export function useStepActions({ display, onOpen, onFind }: StepActionOptions): StepActions {
  const { rows, state, setState, active, found } = display;

  const toggle = (row: OutlineRow) =>
    isClosedChain(row) ? toggleChain(display, row.step) : setState(afterOpening(row, state));
  const open = (row: OutlineRow) => (isPointer(row) ? toggle(row) : onOpen(row));

  /** Runs the key's action on the step; returns true if it has one. */
  function actOn(row: OutlineRow, event: KeyboardEvent): boolean {
    const name = hideable(display);
    switch (event.key.toLowerCase()) {
      case 'enter':
        open(row);
        return true;
      case 'a':
        if (waysTo(row.step) > 1) turn(display, row.step, event.shiftKey ? -1 : 1);
        return waysTo(row.step) > 1;
      case 'r':
        reRoot(display, row.step);
        return true;
      case 'backspace':
        reRoot(display, null);
        return true;
      case 'c':
        toggleChain(display, row.step);
        return true;
      case 'arrowright':
      case '+':
      case '*':
        if (isClosedChain(row)) toggleChain(display, row.step);
        return isClosedChain(row);
      case 'h':
        if (name !== null) toggleKnown(display, name);
        return name !== null;
      case '/':
        onFind();
        return true;
      case 'n':
        goToMatch(display, event.shiftKey ? -1 : 1);
        return found !== null;
      default:
        return false;
    }
  }

  function onKeyDown(event: KeyboardEvent, page: number): void {
    if (event.ctrlKey || event.metaKey || event.altKey || active === undefined) return;
    if (actOn(active, event)) {
      event.preventDefault();
      return;
    }
    const next = afterKey(event.key, rows, state, page);
    if (next === null) return;
    event.preventDefault();
    setState(next);
  }

  return { toggle, open, select: (row) => setState({ ...state, active: row.key }), onKeyDown };
}
