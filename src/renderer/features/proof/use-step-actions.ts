/** What the pointer and the keys do to a step, in the outline and in the diagram alike. */
import type { KeyboardEvent } from 'react';
import { waysTo } from './alternatives.ts';
import { outlineAfterKey } from './outline-keys.ts';
import { keyOfStep, type OutlineRow, stepsAbove } from './proof-tree.ts';
import { hideable, type LookedAt } from './use-looked-at.ts';

export interface StepActions {
  readonly toggle: (row: OutlineRow) => void;
  /** Goes to the fact or the rule; from a reference to where the step is shown whole. */
  readonly open: (row: OutlineRow) => void;
  readonly select: (row: OutlineRow) => void;
  /** `page`: lines that fit into the view. */
  readonly onKeyDown: (event: KeyboardEvent, page: number) => void;
}

interface StepActionOptions {
  lookedAt: LookedAt;
  onOpen: (row: OutlineRow) => void;
  /** Leads to the field that searches. */
  onFind: () => void;
}

export function useStepActions({ lookedAt, onOpen, onFind }: StepActionOptions): StepActions {
  const { tree, rows, state, setState, active, turn, reRoot, toggleKnown, found, goToMatch } = lookedAt;

  function toggle(row: OutlineRow): void {
    const unfolded = new Set(state.unfolded);
    if (!unfolded.delete(row.step.id)) unfolded.add(row.step.id);
    setState({ active: row.key, unfolded });
  }

  function open(row: OutlineRow): void {
    if (!row.isReference || row.step.premises.length === 0) onOpen(row);
    else
      setState({
        active: keyOfStep(row.step.id),
        unfolded: new Set([...state.unfolded, ...stepsAbove(tree, row.step.id)]),
      });
  }

  /** True where the key stands for something done to the step as such. */
  function actOn(row: OutlineRow, event: KeyboardEvent): boolean {
    const name = hideable(lookedAt);
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
    const next = outlineAfterKey(event.key, tree, rows, state, page);
    if (next === null) return;
    event.preventDefault();
    setState(next);
  }

  return { toggle, open, select: (row) => setState({ ...state, active: row.key }), onKeyDown };
}
