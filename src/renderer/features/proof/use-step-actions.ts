import type { KeyboardEvent } from 'react';
import { afterKey, afterOpening } from '../../../proof/folds.ts';
import { isPointer, type OutlineRow } from '../../../proof/proof-tree.ts';
import { waysTo } from './shown-proof.ts';
import { hideable, type ProofDisplay } from './use-proof-display.ts';

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

/** Returns the actions of pointer and keys on steps, shared by outline and diagram. */
export function useStepActions({ display, onOpen, onFind }: StepActionOptions): StepActions {
  const { rows, state, setState, active, turn, reRoot, toggleKnown, found, goToMatch } = display;

  const toggle = (row: OutlineRow) => setState(afterOpening(row, state));
  const open = (row: OutlineRow) => (isPointer(row) ? toggle(row) : onOpen(row));

  /** Runs the key's action on the step; returns true if it has one. */
  function actOn(row: OutlineRow, event: KeyboardEvent): boolean {
    const name = hideable(display);
    switch (event.key.toLowerCase()) {
      case 'enter':
        open(row);
        return true;
      case 'a':
        if (waysTo(row.step) > 1) turn(row.step, event.shiftKey ? -1 : 1);
        return waysTo(row.step) > 1;
      case 'r':
        reRoot(row.step);
        return true;
      case 'backspace':
        reRoot(null);
        return true;
      case 'h':
        if (name !== null) toggleKnown(name);
        return name !== null;
      case '/':
        onFind();
        return true;
      case 'n':
        goToMatch(event.shiftKey ? -1 : 1);
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
