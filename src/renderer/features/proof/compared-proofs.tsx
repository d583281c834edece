/** Two ways to one step side by side, each in a proof that can be folded, with their differences marked. */
import { Button, NativeSelect } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Proof, ProofStep } from '../../../engine/contract/inference.ts';
import type { ChainedStep } from '../../../proof/chains.ts';
import { type ProofDifference, differencesInNumbers, proofDifferences } from '../../../proof/differences.ts';
import { treeOf } from '../../../proof/proof-tree.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { formatAmount } from '../../ui/format.ts';
import { Split } from '../../ui/pane.tsx';
import { ProofOutline } from './proof-outline.tsx';
import type { ProofLook } from './proof-search.ts';
import styles from './proof.module.css';
import { type Chosen, wayOf, waysTo, withChosen } from './shown-proof.ts';
import { useStepActions } from './step-actions.ts';
import { useProofDisplay } from './use-proof-display.ts';

/** The proof by a way to a step; its steps have no ways left to choose, since the two sides are chosen above. */
function byWay(proof: Proof, chosen: Chosen, step: ProofStep, way: number): Proof {
  const ways = new Map(chosen).set(step.id, way);
  const steps = withChosen(proof, ways).steps.map(({ alternatives: _ways, ...bare }): ProofStep => bare);
  return { ...proof, steps };
}

interface SideProps {
  label: string;
  about: string;
  proof: Proof;
  look: ProofLook;
  differences: ReadonlyMap<string, ProofDifference>;
}

function Side({ label, about, proof, look, differences }: SideProps) {
  const [own, setOwn] = useState<ProofLook>({ from: look.from, hide: look.hide });
  const display = useProofDisplay({ about, proof, look: own, onLook: setOwn });
  const actions = useStepActions({ display, onOpen: () => undefined, onFind: () => undefined });
  const { steps } = display.whole;
  function markOf(step: ChainedStep): ProofDifference | null {
    // A folded chain differs where any of its steps does.
    const atoms = step.chain?.members.map((id) => steps.get(id)?.atom ?? '') ?? [step.atom];
    const found = atoms.map((atom) => differences.get(atom)).filter((each) => each !== undefined);
    return found.find((each) => each === 'only') ?? found[0] ?? null;
  }
  return (
    <div className="full-height" role="group" aria-label={label}>
      <ProofOutline display={display} actions={actions} markOf={markOf} label={label} />
    </div>
  );
}

interface ComparedProofsProps {
  about: string;
  proof: Proof;
  chosen: Chosen;
  /** The step whose ways are compared. */
  step: ProofStep;
  look: ProofLook;
  onStop: () => void;
}

/** Shows two ways to a step beside each other. */
export function ComparedProofs({ about, proof, chosen, step, look, onStop }: ComparedProofsProps) {
  const ways = waysTo(step);
  const first = chosen.get(step.id) ?? 0;
  const [shown, setShown] = useState([first, (first + 1) % ways] as const);
  const [left, right] = useMemo(
    () => [byWay(proof, chosen, step, shown[0]), byWay(proof, chosen, step, shown[1])] as const,
    [proof, chosen, step, shown],
  );
  const differences = useMemo(() => {
    const root = proof.roots[0] ?? 0;
    return proofDifferences(treeOf(left, root), treeOf(right, root));
  }, [left, right, proof]);
  const { onlyLeft, onlyRight, otherwise } = differencesInNumbers(differences);
  const select = (index: 0 | 1, label: string) => (
    <NativeSelect
      size="xs"
      label={label}
      className={styles.waySelect}
      value={String(shown[index])}
      data={Array.from({ length: ways }, (_, way) => ({
        value: String(way),
        label: `Way ${wayOf(way, step)}`,
      }))}
      onChange={(event) => {
        const way = Number(event.currentTarget.value);
        setShown(index === 0 ? [way, shown[1]] : [shown[0], way]);
      }}
    />
  );
  const side = (index: 0 | 1, label: string, of: Proof) => (
    <Side
      key={`${index} ${shown[index]}`}
      label={label}
      about={`${about} way ${shown[index]} of ${step.atom}`}
      proof={of}
      look={look}
      differences={index === 0 ? differences.left : differences.right}
    />
  );
  return (
    <div className="flex-column full-height">
      <div className={styles.reductions}>
        <span>
          Ways to <CodeText isLine text={step.atom} />
        </span>
        {select(0, 'Left')}
        {select(1, 'Right')}
        <span className="dim number" role="status">
          {formatAmount(onlyLeft, 'step')} only left, {onlyRight} only right, {otherwise} derived otherwise
        </span>
        <Button size="compact-xs" variant="default" onClick={onStop}>
          Show one proof
        </Button>
      </div>
      <div className="rest-height">
        <Split
          id="proof-ways"
          orientation="horizontal"
          label="Resize"
          panes={[
            { id: 'left', least: '200px', content: side(0, 'Left proof', left) },
            { id: 'right', least: '200px', content: side(1, 'Right proof', right) },
          ]}
        />
      </div>
    </div>
  );
}
