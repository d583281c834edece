/** The rules that an agent is given with the window. */
import { Anchor } from '@mantine/core';
import { IconRoute2 } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useRules } from '../../api/queries.ts';
import { CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import styles from './context.module.css';
import type { ChosenWindow } from './use-window.ts';

export function RuleList({ chosen: { window } }: { chosen: ChosenWindow }) {
  const known = useRules().data ?? [];
  if (window.relevantRules.length === 0)
    return (
      <EmptyState icon={<IconRoute2 size={30} stroke={1.3} aria-hidden />} title="No rules">
        {window.goalDriven
          ? 'No proof in this window uses a rule.'
          : 'No rule is about the predicates in this window.'}
      </EmptyState>
    );
  return (
    <ol className={styles.rules} tabIndex={0} aria-label="Rules of the window">
      {window.relevantRules.map((text) => {
        const rule = known.find((candidate) => candidate.text === text);
        return (
          <li key={text}>
            <span className={styles.grow}>
              <CodeText text={text} />
            </span>
            {rule !== undefined && (
              <Anchor
                size="xs"
                renderRoot={(props) => <Link to="/rules" search={{ rule: rule.id }} {...props} />}
              >
                Open the rule
              </Anchor>
            )}
            <CopyButton text={text} label="Copy the rule" />
          </li>
        );
      })}
    </ol>
  );
}
