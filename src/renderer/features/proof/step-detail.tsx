/** The step under the cursor: its rule with what the variables stand for, and the ways to the fact and the rule. */
import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Tag } from '../../ui/tags.tsx';
import { parseAtom } from '../../../engine/logic/parse.ts';
import styles from './proof.module.css';
import type { OutlineRow, ProofTree } from './proof-tree.ts';
import { type Binding, substitutionOf, wordOf } from './step-words.ts';

function useSubstitution(row: OutlineRow, tree: ProofTree): Binding[] {
  return useMemo(() => {
    const { rule, atom, premises } = row.step;
    if (rule === null) return [];
    return substitutionOf(
      rule,
      atom,
      premises.map((id) => tree.steps.get(id)?.atom ?? ''),
    );
  }, [row.step, tree]);
}

function explain(step: OutlineRow['step']): string {
  // A question of several literals is proved by its parts, without a rule.
  if (step.kind === 'rule') return 'All its parts hold, each by a step below.';
  return explanations[step.kind];
}

const explanations = {
  fact: 'It was asserted.',
  absence: 'Nothing matches it, so its negation holds.',
  builtin: 'It holds by comparison or arithmetic.',
  aggregate: 'It was computed over the steps below it.',
} as const;

export function StepDetail({ row, tree }: { row: OutlineRow; tree: ProofTree }) {
  const { step } = row;
  const { word, tone } = wordOf(step);
  const substitution = useSubstitution(row, tree);
  return (
    <section className={styles.step} aria-label="Step">
      <div className={styles.stepHead}>
        <CodeText text={step.atom} />
        <Tag tone={tone}>{word}</Tag>
        <CopyButton text={step.atom} label="Copy the statement" />
        <span style={{ flex: 1 }} />
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
        {step.ruleId !== null && (
          <Anchor
            size="xs"
            renderRoot={(props) => <Link to="/rules" search={{ rule: step.ruleId ?? '' }} {...props} />}
          >
            Open the rule
          </Anchor>
        )}
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
      {substitution.length > 0 && (
        <p className={styles.substitution}>
          <span className="dim">with</span>
          {substitution.map(([variable, constant]) => (
            <code key={variable} className="mono">
              <span className={styles.variable}>{variable}</span> = {constant}
            </code>
          ))}
        </p>
      )}
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
