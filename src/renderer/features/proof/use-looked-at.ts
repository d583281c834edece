/**
 * A proof as it is looked at: the ways that were chosen, what is hidden, from where, what is searched for, what is
 * unfolded and where the cursor stands. Outline and diagram are two drawings of this one state.
 */
import { useMemo, useState } from 'react';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { type Chosen, turned, withChosen } from './alternatives.ts';
import { condensed, knownNameOf } from './condense.ts';
import { type Folds, recallFolds, rememberFolds } from './fold-memory.ts';
import type { OutlineState } from './outline-keys.ts';
import { hiddenNames, hideOf, type ProofLook } from './proof-search.ts';
import {
  buildTree,
  initiallyUnfolded,
  keyOfStep,
  type Narrowing,
  type OutlineRow,
  type ProofTree,
  stepsAbove,
  visibleRows,
} from './proof-tree.ts';
import { substitutionOf, type VariableBinding } from './step-words.ts';

/** HEAD: Searching in a proof: the steps whose statements contain a text, with those that they stand under. */

interface FoundSteps extends Narrowing {
  /** What must be unfolded for all matches to be seen. */
  readonly above: ReadonlySet<number>;
  /** The matches in the order of the outline. */
  readonly inOrder: readonly number[];
}

/** The steps whose statements contain the text, whatever the case. */
export function findSteps(tree: ProofTree, text: string): FoundSteps {
  const wanted = text.trim().toLowerCase();
  const inOrder: number[] = [];
  const above = new Set<number>();
  for (const id of tree.placeOf.keys()) {
    const step = tree.steps.get(id);
    if (step?.atom.toLowerCase().includes(wanted) !== true) continue;
    inOrder.push(id);
    // Where one step above was noted, those above it were too.
    for (let at = tree.parentOf.get(id); at !== undefined && !above.has(at); at = tree.parentOf.get(at))
      above.add(at);
  }
  const matches = new Set(inOrder);
  return { inOrder, above, matches, shown: new Set([...above, ...matches, tree.root]) };
}

/** The match after (or with -1 before) a step in the order of the outline, round and round; null where there is none. */
export function nextMatch(tree: ProofTree, found: FoundSteps, from: number, by: 1 | -1): number | null {
  const { inOrder } = found;
  const place = tree.placeOf.get(from) ?? -1;
  const placeOf = (id: number) => tree.placeOf.get(id) ?? 0;
  const next =
    by === 1
      ? (inOrder.find((id) => placeOf(id) > place) ?? inOrder[0])
      : (inOrder.findLast((id) => placeOf(id) < place) ?? inOrder.at(-1));
  return next ?? null;
}

/** What stays unfolded when the search ends at a step: what was, and what hides the step. */
export function unfoldedAfter(tree: ProofTree, unfolded: ReadonlySet<number>, at: number): Set<number> {
  return new Set([...unfolded, ...stepsAbove(tree, at)]);
}

export interface LookedAt {
  readonly look: ProofLook;
  readonly setLook: (change: ProofLook) => void;
  /** The proof along the chosen ways, with all its steps. */
  readonly shown: Proof;
  readonly chosen: Chosen;
  readonly hiddenUnder: ReadonlyMap<number, number>;
  readonly tree: ProofTree;
  /** True where the step that is to stand at the root is no part of the proof. */
  readonly isFromMissing: boolean;
  /** Null while nothing is searched for. */
  readonly found: FoundSteps | null;
  readonly rows: readonly OutlineRow[];
  readonly state: OutlineState;
  readonly setState: (state: OutlineState) => void;
  /** The line under the cursor. */
  readonly active: OutlineRow | undefined;
  readonly bindingsOf: (step: ProofStep) => readonly VariableBinding[];
  readonly turn: (step: ProofStep, by: number) => void;
  readonly reRoot: (step: ProofStep | null) => void;
  /** Hides or shows what is known by a name. */
  readonly toggleKnown: (name: string) => void;
  readonly setFind: (text: string) => void;
  readonly goToMatch: (by: 1 | -1) => void;
}

interface LookedAtOptions {
  /** Names the question and where it was asked. */
  about: string;
  proof: Proof;
  look: ProofLook;
  onLook: (look: ProofLook) => void;
}

/** What the variables stand for, worked out when a step is first drawn. */
function bindingsIn(shown: Proof): LookedAt['bindingsOf'] {
  const source = new Map(shown.steps.map((step) => [step.id, step]));
  const known = new Map<number, readonly VariableBinding[]>();
  const read = (step: ProofStep | undefined): readonly VariableBinding[] => {
    if (step === undefined || step.rule === null) return [];
    // With the hidden premises: each is read by its place in the body.
    const premises = step.premises.map((premise) => source.get(premise)?.atom ?? '');
    return substitutionOf(step.rule, step.atom, premises);
  };
  return ({ id }) => {
    const bindings = known.get(id) ?? read(source.get(id));
    known.set(id, bindings);
    return bindings;
  };
}

function useTree(proof: Proof, chosen: Chosen, { hide, from }: ProofLook) {
  const shown = useMemo(() => withChosen(proof, chosen), [proof, chosen]);
  const left = useMemo(() => condensed(shown, hiddenNames(hide)), [shown, hide]);
  const root = shown.roots[0] ?? 0;
  const whole = useMemo(() => buildTree(left.proof, root), [left, root]);
  const part = useMemo(() => {
    if (from === undefined) return null;
    const step = shown.steps.find((candidate) => candidate.atom === from);
    return step === undefined ? null : buildTree(left.proof, step.id);
  }, [shown, left, from]);
  return {
    shown,
    hiddenUnder: left.hiddenUnder,
    tree: part ?? whole,
    isFromMissing: from !== undefined && part === null,
  };
}

/** What is unfolded while one searches: all that hides a match, then what one folds and unfolds by hand. */
function useFinding(tree: ProofTree, find: string | undefined) {
  const found = useMemo(() => (find === undefined ? null : findSteps(tree, find)), [tree, find]);
  const [byHand, setByHand] = useState<{ found: FoundSteps; state: OutlineState } | null>(null);
  const state = useMemo((): OutlineState | null => {
    if (found === null) return null;
    if (byHand?.found === found) return byHand.state;
    return { active: keyOfStep(found.inOrder[0] ?? tree.root), unfolded: found.above };
  }, [found, byHand, tree]);
  return { found, state, setByHand };
}

export function useLookedAt({ about, proof, look, onLook }: LookedAtOptions): LookedAt {
  const [recalled] = useState(() => recallFolds(about, proof));
  const [chosen, setChosen] = useState<Chosen>(recalled?.chosen ?? new Map());
  const { shown, hiddenUnder, tree, isFromMissing } = useTree(proof, chosen, look);
  const [folds, setFolds] = useState<OutlineState>(
    () => recalled?.state ?? { active: keyOfStep(tree.root), unfolded: initiallyUnfolded(tree) },
  );
  const finding = useFinding(tree, look.find);
  const { found } = finding;
  const state = finding.state ?? folds;
  const rows = useMemo(() => visibleRows(tree, state.unfolded, found), [tree, state.unfolded, found]);
  const active = useMemo(() => rows.find((row) => row.key === state.active) ?? rows[0], [rows, state.active]);
  const bindingsOf = useMemo(() => bindingsIn(shown), [shown]);

  function keep(next: Folds): void {
    rememberFolds(about, proof, next);
    setFolds(next.state);
    setChosen(next.chosen);
  }
  function setState(next: OutlineState): void {
    if (found === null) keep({ state: next, chosen });
    else finding.setByHand({ found, state: next });
  }
  const changes = changesOf({
    look,
    onLook,
    shown,
    tree,
    found,
    active,
    state,
    folds,
    chosen,
    keep,
    setState,
  });

  return {
    look,
    shown,
    chosen,
    hiddenUnder,
    tree,
    isFromMissing,
    found,
    rows,
    state: { ...state, active: active?.key ?? state.active },
    setState,
    active,
    bindingsOf,
    ...changes,
  };
}

interface Changing
  extends Pick<LookedAt, 'look' | 'shown' | 'tree' | 'found' | 'active' | 'state' | 'chosen' | 'setState'> {
  onLook: (look: ProofLook) => void;
  /** What is unfolded while one does not search. */
  folds: OutlineState;
  keep: (folds: Folds) => void;
}

type Changes = Pick<LookedAt, 'setLook' | 'turn' | 'reRoot' | 'toggleKnown' | 'setFind' | 'goToMatch'>;

/** All that changes how the proof is looked at, beside the cursor and what is unfolded. */
function changesOf(changing: Changing): Changes {
  const { look, onLook, shown, tree, found, active, state, folds, chosen, keep, setState } = changing;
  const setLook = (change: ProofLook) => onLook({ ...look, ...change });

  /** What a way newly shows is unfolded with it. */
  function turn(step: ProofStep, by: number): void {
    const unfolded = new Set([...folds.unfolded, step.id]);
    keep({ state: { active: keyOfStep(step.id), unfolded }, chosen: turned(chosen, step, by) });
  }

  function reRoot(step: ProofStep | null): void {
    const at = step?.id ?? tree.root;
    keep({ state: { active: keyOfStep(at), unfolded: new Set([...folds.unfolded, at]) }, chosen });
    const isWhole = step === null || step.id === shown.roots[0];
    setLook({ from: isWhole ? undefined : step.atom, find: undefined });
  }

  function toggleKnown(name: string): void {
    const names = new Set(hiddenNames(look.hide));
    if (!names.delete(name)) names.add(name);
    setLook({ hide: hideOf(names) });
  }

  function setFind(text: string): void {
    const find = text.trim() === '' ? undefined : text;
    // What was found stays in sight when the search ends.
    if (find === undefined && active !== undefined && found !== null)
      keep({
        state: {
          active: keyOfStep(active.step.id),
          unfolded: unfoldedAfter(tree, folds.unfolded, active.step.id),
        },
        chosen,
      });
    if (find !== look.find) setLook({ find });
  }

  function goToMatch(by: 1 | -1): void {
    const next = found === null ? null : nextMatch(tree, found, active?.step.id ?? tree.root, by);
    if (next !== null)
      setState({ active: keyOfStep(next), unfolded: unfoldedAfter(tree, state.unfolded, next) });
  }

  return { setLook, turn, reRoot, toggleKnown, setFind, goToMatch };
}

/** What the step under the cursor is known by, where that can be hidden: not what is shown as the root. */
export function hideable({ tree, active }: LookedAt): string | null {
  return active === undefined || active.step.id === tree.root ? null : knownNameOf(active.step);
}
