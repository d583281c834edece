/**
 * The state of a displayed proof: chosen alternatives, hidden predicates, root, search, unfolded steps and cursor.
 * Outline and diagram draw this one state.
 */
import { useMemo, useState } from 'react';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import { chainAround, type ChainedStep, withFactsOnly, withFoldedChains } from '../../../proof/chains.ts';
import { activeRow, type FoldState, initiallyUnfolded, revealing } from '../../../proof/folds.ts';
import {
  keyOfStep,
  type Narrowing,
  type OutlineRow,
  type ProofTree,
  treeOf,
  visibleRows,
} from '../../../proof/proof-tree.ts';
import { substitutionOf, type VariableBinding } from '../../../proof/substitution.ts';
import { type Folds, recallFolds, rememberFolds } from './fold-memory.ts';
import { hiddenNames, type ProofLook } from './proof-search.ts';
import { type Chosen, condensed, withChosen } from './shown-proof.ts';

/** The steps that a search finds. */
export interface FoundSteps extends Narrowing {
  /** Lines to unfold so that all matches are visible. */
  readonly above: ReadonlySet<string>;
  /** The matches in outline order. */
  readonly inOrder: readonly number[];
}

/** Returns the steps whose statements contain the text, ignoring case, with their ancestors. */
export function findSteps(tree: ProofTree, text: string): FoundSteps {
  const wanted = text.trim().toLowerCase();
  const inOrder: number[] = [];
  const above = new Set<number>();
  for (const id of tree.positionOf.keys()) {
    const step = tree.steps.get(id);
    if (step?.atom.toLowerCase().includes(wanted) !== true) continue;
    inOrder.push(id);
    // If one ancestor was recorded, its ancestors were too.
    for (let at = tree.parentOf.get(id); at !== undefined && !above.has(at); at = tree.parentOf.get(at))
      above.add(at);
  }
  const matches = new Set(inOrder);
  return {
    inOrder,
    above: new Set([...above].map((id) => keyOfStep(id))),
    matches,
    shown: new Set([...above, ...matches, tree.root.id]),
  };
}

/** The state of a displayed proof, with its setters. */
export interface ProofDisplay {
  readonly look: ProofLook;
  readonly setLook: (change: ProofLook) => void;
  /** The proof by the chosen alternatives, with all its steps. */
  readonly shown: Proof;
  /** The tree of all steps that are not hidden: `tree` before chains are folded. */
  readonly whole: ProofTree;
  /** Number of steps inside folded chains. */
  readonly inChains: number;
  /** The steps of chains that have their own lines by the user's choice. */
  readonly apart: ReadonlySet<number>;
  /** Gives steps their own lines, or folds them into their chain again; unfolds the lines of the first. */
  readonly setApart: (apart: ReadonlySet<number>, active?: number) => void;
  /** The steps of the chain around a step as long as it can be; null if it is in none. */
  readonly chainOf: (id: number) => readonly number[] | null;
  readonly chosen: Chosen;
  readonly hiddenUnder: ReadonlyMap<number, number>;
  readonly tree: ProofTree;
  /** True if the requested root is not in the proof. */
  readonly isFromMissing: boolean;
  /** null without a search. */
  readonly found: FoundSteps | null;
  readonly rows: readonly OutlineRow[];
  readonly state: FoldState;
  readonly setState: (state: FoldState) => void;
  /** The line under the cursor. */
  readonly active: OutlineRow | undefined;
  readonly bindingsOf: (step: ProofStep) => readonly VariableBinding[];
  /** What is unfolded without a search. */
  readonly folds: FoldState;
  /** Sets and remembers `folds` and the chosen alternatives. */
  readonly keep: (folds: Folds) => void;
}

interface ProofDisplayOptions {
  /** Identifies the question and where it was asked. */
  about: string;
  proof: Proof;
  look: ProofLook;
  onLook: (look: ProofLook) => void;
}

/** Substitutions, computed when a step is first drawn. */
function bindingsIn(shown: Proof): ProofDisplay['bindingsOf'] {
  const source = new Map(shown.steps.map((step) => [step.id, step]));
  const known = new Map<number, readonly VariableBinding[]>();
  const read = (step: ProofStep | undefined): readonly VariableBinding[] => {
    if (step === undefined || step.rule === null) return [];
    // Including hidden premises: each is found by its position in the body.
    const premises = step.premises.map((premise) => source.get(premise)?.atom ?? '');
    return substitutionOf(step.rule, step.atom, premises);
  };
  return ({ id }) => {
    const bindings = known.get(id) ?? read(source.get(id));
    known.set(id, bindings);
    return bindings;
  };
}

/** The steps of chains that lead to a match: they keep their own lines, so that it can be seen. */
function leadingTo(find: string, whole: ProofTree, steps: readonly ChainedStep[]): Set<number> {
  const chainOf = new Map<number, number>();
  for (const { id, chain } of steps) for (const member of chain?.members ?? []) chainOf.set(member, id);
  const leading = new Set<number>();
  if (chainOf.size === 0) return leading;
  const met = new Set<number>();
  for (const match of findSteps(whole, find).inOrder) {
    let below: number | undefined;
    for (let at: number | undefined = match; at !== undefined; at = whole.parentOf.get(at)) {
      const chain = chainOf.get(at);
      if (chain !== undefined && (below === undefined || chainOf.get(below) !== chain)) leading.add(at);
      if (met.has(at)) break;
      met.add(at);
      below = at;
    }
  }
  return leading;
}

function useTree(proof: Proof, chosen: Chosen, look: ProofLook, apart: ReadonlySet<number>) {
  const { hide, from, find, facts, chains } = look;
  const shown = useMemo(() => withChosen(proof, chosen), [proof, chosen]);
  const left = useMemo(() => condensed(shown, hiddenNames(hide)), [shown, hide]);
  const whole = useMemo(() => {
    const step = shown.steps.find(({ atom }) => atom === from);
    return treeOf(left.proof, step?.id ?? shown.roots[0] ?? 0);
  }, [shown, left, from]);
  const reduced = useMemo(() => {
    const { id } = whole.root;
    const rooted = { ...left.proof, roots: [id] };
    if (facts === 'true') return { tree: treeOf(withFactsOnly(rooted, id), id), inChains: 0 };
    if (chains === 'open') return { tree: whole, inChains: 0 };
    const first = withFoldedChains(rooted, apart);
    const leading = find === undefined ? null : leadingTo(find, whole, first.steps);
    const folded =
      leading === null || leading.size === 0
        ? first
        : withFoldedChains(rooted, new Set([...apart, ...leading]));
    if (folded.hidden.length === 0) return { tree: whole, inChains: 0 };
    return { tree: treeOf(folded, id), inChains: folded.hidden.length };
  }, [left, whole, facts, chains, apart, find]);
  return {
    shown,
    hiddenUnder: left.hiddenUnder,
    whole,
    ...reduced,
    isFromMissing: from !== undefined && from !== whole.root.atom,
    chainOf: (id: number) => chainAround({ ...left.proof, roots: [whole.root.id] }, id),
  };
}

/** What is unfolded during a search: initially whatever hides a match, then as the user folds. */
function useFinding(tree: ProofTree, find: string | undefined) {
  const found = useMemo(() => (find === undefined ? null : findSteps(tree, find)), [tree, find]);
  const [byHand, setByHand] = useState<{ found: FoundSteps; state: FoldState } | null>(null);
  const state = useMemo((): FoldState | null => {
    if (found === null) return null;
    if (byHand?.found === found) return byHand.state;
    return { active: keyOfStep(found.inOrder[0] ?? tree.root.id), unfolded: found.above };
  }, [found, byHand, tree]);
  return { found, state, setByHand };
}

/** Returns the state of a displayed proof; `look` is what the address says of it. */
export function useProofDisplay({ about, proof, look, onLook }: ProofDisplayOptions): ProofDisplay {
  const [recalled] = useState(() => recallFolds(about, proof));
  const [chosen, setChosen] = useState<Chosen>(recalled?.chosen ?? new Map());
  const [apart, setApart] = useState<ReadonlySet<number>>(recalled?.apart ?? new Set());
  const { shown, hiddenUnder, whole, tree, inChains, isFromMissing, chainOf } = useTree(
    proof,
    chosen,
    look,
    apart,
  );
  const [folds, setFolds] = useState<FoldState>(
    () => recalled?.state ?? { active: keyOfStep(tree.root.id), unfolded: initiallyUnfolded(tree) },
  );
  const finding = useFinding(tree, look.find);
  const { found } = finding;
  const state = finding.state ?? folds;
  const rows = useMemo(() => visibleRows([tree], state.unfolded, found), [tree, state.unfolded, found]);
  const active = useMemo(() => activeRow(rows, state.active), [rows, state.active]);
  const bindingsOf = useMemo(() => bindingsIn(shown), [shown]);

  function keep(next: Folds): void {
    rememberFolds(about, proof, next);
    setFolds(next.state);
    setChosen(next.chosen);
    setApart(next.apart);
  }
  function setState(next: FoldState, apartThen = apart): void {
    if (found === null) keep({ state: next, chosen, apart: apartThen });
    else {
      setApart(apartThen);
      finding.setByHand({ found, state: next });
    }
  }
  return {
    look,
    setLook: (change) => onLook({ ...look, ...change }),
    shown,
    whole,
    inChains,
    apart,
    setApart: (next, at) => {
      const keys = [...next].filter((id) => !apart.has(id)).map((id) => keyOfStep(id));
      const unfolded = new Set([...state.unfolded, ...keys]);
      // What is left of a chain above the step may be too short to be folded: its lines must not hide the step.
      if (at === undefined) setState({ active: state.active, unfolded }, next);
      else setState({ active: keyOfStep(at), unfolded: revealing(whole, unfolded, at) }, next);
    },
    chainOf,
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
    folds,
    keep,
  };
}
