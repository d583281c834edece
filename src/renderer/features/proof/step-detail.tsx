import { ActionIcon, Anchor, Button, Tooltip } from '@mantine/core';
import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { CodeText } from '../../editor/code-text.tsx';
import { Bindings } from '../../ui/blocks.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { RuleLink, WhatIfLink } from '../../ui/knowledge-links.tsx';
import { Tag } from '../../ui/tags.tsx';
import { parseAtom } from '../../../engine/language/parse.ts';
import type { ProofStep } from '../../../engine/contract/inference.ts';
import { waysTo, wayInWords } from './alternatives.ts';
import { computedName } from './condense.ts';
import styles from './proof.module.css';
import type { OutlineRow } from './proof-tree.ts';
import { wordOf } from './step-words.ts';
import { hideable, type ProofDisplay } from './use-proof-display.ts';

function explain(step: OutlineRow['step']): string {
  // A question of several literals is proved by its parts, without a rule.
  if (step.kind === 'rule') return 'All its parts are true, each by a step below it.';
  return explanations[step.kind];
}

const explanations = {
  fact: 'It was asserted.',
  absence: 'Nothing matches it, so its negation is true.',
  builtin: 'It is true by comparison or arithmetic.',
  aggregate: 'It was computed over the steps below it.',
} as const;

/** Selects among the alternatives of a step. */
function Ways({ step, display }: { step: ProofStep; display: ProofDisplay }) {
  const { chosen, turn } = display;
  const button = (label: string, by: number) => (
    <Tooltip label={label}>
      <ActionIcon size={24} aria-label={label} onClick={() => turn(step, by)}>
        {by < 0 ? <IconChevronLeft size={15} aria-hidden /> : <IconChevronRight size={15} aria-hidden />}
      </ActionIcon>
    </Tooltip>
  );
  return (
    <span className={styles.ways} role="group" aria-label="Ways to this step">
      {button('The way before', -1)}
      <span className="number" role="status">
        Way {wayInWords(chosen, step)}
      </span>
      {button('The next way', 1)}
    </span>
  );
}

/** Links to what would change the step: retract its fact, drop its rule, assert what is absent. */
function StepWhatIf({ step }: { step: ProofStep }) {
  const search: { retract?: string; without?: string; add?: string } | null =
    step.kind === 'fact'
      ? { retract: `${step.atom}.` }
      : step.ruleId !== null
        ? { without: step.ruleId }
        : step.kind === 'absence' && !step.atom.includes('?')
          ? { add: `${step.atom.replace(/^not /, '')}.` }
          : null;
  if (search === null) return null;
  const words =
    step.kind === 'fact'
      ? 'What if it were retracted'
      : step.ruleId !== null
        ? 'What if the rule were left out'
        : 'What if it were there';
  return <WhatIfLink changes={search}>{words}</WhatIfLink>;
}

/** Actions that change how the proof is shown from this step. */
function Looks({ step, display }: { step: ProofStep; display: ProofDisplay }) {
  const { tree, reRoot, toggleKnown } = display;
  const name = hideable(display);
  return (
    <>
      {step.id !== tree.root && step.premises.length > 0 && (
        <Button size="compact-xs" variant="default" onClick={() => reRoot(step)}>
          Show from here
        </Button>
      )}
      {name !== null && (
        <Button size="compact-xs" variant="default" onClick={() => toggleKnown(name)}>
          Hide {name === computedName ? 'what is computed' : name}
        </Button>
      )}
    </>
  );
}

/** Shows the step under the cursor: rule, substitution, alternatives and links to fact and rule. */
export function StepDetail({ row, display }: { row: OutlineRow; display: ProofDisplay }) {
  const { step } = row;
  const { word, tone } = wordOf(step);
  const substitution = display.bindingsOf(step);
  return (
    <section className={styles.step} aria-label="Step">
      <div className={styles.stepHead}>
        <CodeText text={step.atom} />
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
          {explain(step)}
          {step.scope !== null && ` Scope ${step.scope}.`}
        </p>
      ) : (
        <p>
          <CodeText text={step.rule} />
        </p>
      )}
      <Bindings lead="with" bindings={substitution} />
      {step.metadata !== undefined && Object.keys(step.metadata).length > 0 && (
        <p className="dim">
          {Object.entries(step.metadata)
            .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
            .join(' · ')}
        </p>
      )}
    </section>
  );
}
