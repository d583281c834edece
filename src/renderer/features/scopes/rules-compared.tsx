import { Loader } from '@mantine/core';
import { IconRoute2 } from '@tabler/icons-react';
import { useMemo } from 'react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useRules } from '../../api/queries.ts';
import { LazyCodeDiff } from '../../editor/lazy-editors.tsx';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { type Side, sideLabel } from './scopes-search.ts';
import styles from './scopes.module.css';
import type { Pair } from './use-comparison.ts';

/**
 * Returns the rules of a side, one per line, ordered by text so that equal rules align. A comment before a rule gives
 * its name and marks it if disabled.
 */
export function rulesText(rules: readonly StoredRule[], side: Side): string {
  return rules
    .filter(({ scope }) => scope === side)
    .map(({ text, name, enabled }) => ({ text, name, enabled }))
    .sort((left, right) => (left.text < right.text ? -1 : left.text > right.text ? 1 : 0))
    .map(({ text, name, enabled }) => {
      const notes = [name, enabled ? null : 'switched off'].filter((note) => note !== null);
      return notes.length === 0 ? `${text}.` : `% ${notes.join(', ').replaceAll(/\s+/g, ' ')}\n${text}.`;
    })
    .join('\n');
}

/** Shows the rules of two scopes side by side; a merge does not change them. */
export function RulesCompared({ pair }: { pair: Pair }) {
  const { source, target } = pair;
  const { data, error, refetch } = useRules();
  const left = useMemo(() => rulesText(data ?? [], source), [data, source]);
  const right = useMemo(() => rulesText(data ?? [], target), [data, target]);
  if (data === undefined)
    return error === null ? (
      <Loader size={16} className={styles.loading} role="status" aria-label="Loading rules" />
    ) : (
      <div className="padded">
        <ProblemNotice failure={apiFailureOf(error)} onRetry={() => void refetch()} />
      </div>
    );
  if (left === '' && right === '')
    return (
      <EmptyState icon={<IconRoute2 size={30} stroke={1.3} aria-hidden />} title="No rules of their own">
        Neither has rules of its own. Rules without a scope hold in every scope.
      </EmptyState>
    );
  return (
    <div className="flex-column full-height">
      <p className="dim fixed-size no-margin padded-6">
        {left === right ? 'Both have the same rules.' : 'What is marked is a rule of that scope alone.'} A
        merge brings facts over and leaves the rules as they are.
      </p>
      <div className={styles.ruleHeadings}>
        <h3>{sideLabel(source)}</h3>
        <h3>{sideLabel(target)}</h3>
      </div>
      <div className="rest-height">
        <LazyCodeDiff
          left={{ text: left, label: `Rules of ${sideLabel(source)}` }}
          right={{ text: right, label: `Rules of ${sideLabel(target)}` }}
        />
      </div>
    </div>
  );
}
