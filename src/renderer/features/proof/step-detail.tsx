import { ActionIcon, Anchor, Button, Slider } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { CodeText } from '../../editor/code-text.tsx';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { Bindings } from '../../ui/blocks.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { RuleLink, WhatIfLink } from '../../ui/knowledge-links.tsx';
import { Tag } from '../../ui/tags.tsx';
import { parseAtom } from '../../../engine/language/parse.ts';
import type { ProofStep } from '../../../engine/contract/inference.ts';
import { type ChainedStep, chainInWords } from '../../../proof/chains.ts';
import type { OutlineRow } from '../../../proof/proof-tree.ts';
import { metadataInWords, stepWords } from '../../../proof/step-words.ts';
import styles from './proof.module.css';
import { computedName, waysTo, wayInWords } from './shown-proof.ts';
import { hideable, reRoot, toggleChain, toggleKnown, turn, unfoldAt } from './step-actions.ts';
import type { ProofDisplay } from './use-proof-display.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/** Selects among the alternatives of a step. */
function Ways({ step, display }: { step: ProofStep; display: ProofDisplay }) {
  const { chosen } = display;
  const button = (label: string, by: number) => (
    <Tooltip label={label}>
      <ActionIcon size={24} aria-label={label} onClick={() => turn(display, step, by)}>
        {by < 0 ? <IconChevronLeft size={15} aria-hidden /> : <IconChevronRight size={15} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <span className={styles.ways} role="group" aria-label="Ways to this step">
      {button('Previous way', -1)}
      <span className="number" role="status">
        Way {wayInWords(chosen, step)}
      </span>
      {button('Next way', 1)}
      <Button
        size="compact-xs"
        variant="default"
        onClick={() => display.setLook({ versus: step.atom, ways: 'true' })}
      >
        Compare the ways
      </Button>
    </span>
  );
}

/** Links to what would change the step: retract its fact, drop its rule, assert what is absent. */
function StepWhatIf({ step: { atom, kind, ruleId } }: { step: ProofStep }) {
  if (kind === 'fact')
    return <WhatIfLink changes={{ retract: `${atom}.` }}>What if it were retracted</WhatIfLink>;
  if (ruleId !== null)
    return <WhatIfLink changes={{ without: ruleId }}>What if the rule were left out</WhatIfLink>;
  if (kind !== 'absence' || atom.includes('?')) return null;
  return <WhatIfLink changes={{ add: `${atom.replace(/^not /, '')}.` }}>What if it were there</WhatIfLink>;
}

/** Actions that change how the proof is shown from this step. */
function Looks({ step, display }: { step: ProofStep; display: ProofDisplay }) {
  const { tree } = display;
  const name = hideable(display);
  return (
    <>
      {step.id !== tree.root.id && step.premises.length > 0 && (
        <Button size="compact-xs" variant="default" onClick={() => reRoot(display, step)}>
          Show from here
        </Button>
      )}
      {name !== null && (
        <Button size="compact-xs" variant="default" onClick={() => toggleKnown(display, name)}>
          Hide {name === computedName ? 'what is computed' : name}
        </Button>
      )}
    </>
  );
}

/** Says what a folded chain holds, and unfolds it at the step that the slider points at, or whole. */
function ChainDetail({ display, step }: { display: ProofDisplay; step: ChainedStep }) {
  const [position, setPosition] = useState(0);
  const { chain } = step;
  if (chain === undefined) return null;
  const { members } = chain;
  const last = members.length - 1;
  const at = members[Math.min(position, last)];
  const atom = display.whole.steps.get(at ?? -1)?.atom ?? '';
  return (
    <div className={styles.chainDetail} role="group" aria-label="Folded chain">
      <span>{chainInWords(chain)}</span>
      <Slider
        className={styles.chainSlider}
        size="sm"
        thumbSize={24}
        min={0}
        max={last}
        value={Math.min(position, last)}
        onChange={setPosition}
        label={null}
        thumbLabel="Step of the chain"
        thumbProps={{ 'aria-valuetext': atom }}
      />
      <CodeText isLine text={atom} />
      <Button
        size="compact-xs"
        variant="default"
        disabled={position === 0}
        onClick={() => at !== undefined && unfoldAt(display, at)}
      >
        Unfold here
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => toggleChain(display, step)}>
        Unfold the chain
      </Button>
    </div>
  );
}

/** Shows the step under the cursor: rule, substitution, alternatives and links to fact and rule. */
export function StepDetail({ row, display }: { row: OutlineRow; display: ProofDisplay }) {
  const { step } = row;
  const { word, tone, reason } = stepWords[step.kind];
  const metadata = metadataInWords(step);
  return (
    <section className={styles.step} aria-label="Step">
      <div className={styles.stepHead}>
        <LinkedAtom text={step.atom} />
        <Tag tone={tone}>{word}</Tag>
        <CopyButton text={step.atom} label="Copy the statement" />
        {waysTo(step) > 1 && <Ways step={step} display={display} />}
        <Looks step={step} display={display} />
        <span style={{ flex: 1 }} />
        <StepWhatIf step={step} />
        {step.factId !== undefined && (
          <Anchor
            size="xs"
            renderRoot={(props) => (
              <Link
                to="/facts"
                search={{ predicate: parseAtom(step.atom).predicate, fact: step.factId }}
                {...props}
              />
            )}
          >
            Open the fact
          </Anchor>
        )}
        {step.ruleId !== null && <RuleLink rule={step.ruleId} />}
      </div>
      {step.rule === null ? (
        <p className="dim">
          {reason}
          {step.scope !== null && ` Scope ${step.scope}.`}
        </p>
      ) : (
        <p>
          <CodeText text={step.rule} />
        </p>
      )}
      <ChainDetail key={step.id} display={display} step={step} />
      <Bindings lead="with" bindings={display.bindingsOf(step)} />
      {metadata.length > 0 && <p className="dim">{metadata.join(' · ')}</p>}
    </section>
  );
}
