/** Two scopes beside each other, in facts, rules and what would follow, with the merge under them. */
import { Button, Loader, Tabs } from '@mantine/core';
import { useEffect, useEffectEvent } from 'react';
import { apiFailureOf } from '../../api/problem.ts';
import { isTextField, matchesKeys } from '../../ui/keys.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { isMac } from '../../ui/tags.tsx';
import { MergeConclusions } from './conclusions.tsx';
import { FactComparison } from './fact-comparison.tsx';
import { MergeBar } from './merge-bar.tsx';
import { MergeNotices } from './merge-notices.tsx';
import { RulesCompared } from './rules-compared.tsx';
import { comparedParts, type ScopesSearch, sideLabel } from './scopes-search.ts';
import { type ScopeComparison, type Pair, useComparison } from './use-comparison.ts';
import { baseInWords } from './base-in-words.ts';
import { type Merge, useMerge } from './use-merge.ts';
import styles from './scopes.module.css';
import stack from '../../ui/stack.module.css';

/** Mod+Enter merges; not while something is typed or asked. */
function useMergeKeys(merge: Merge): void {
  const onKeyDown = useEffectEvent((event: KeyboardEvent) => {
    if (event.defaultPrevented || isTextField(event.target)) return;
    if (document.querySelector('[role="dialog"]') !== null) return;
    if (matchesKeys(event, 'Mod+Enter', isMac)) merge.apply();
    else return;
    event.preventDefault();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => onKeyDown(event);
    window.addEventListener('keydown', listener);
    return () => window.removeEventListener('keydown', listener);
  }, []);
}

interface PartsProps {
  comparison: ScopeComparison;
  search: ScopesSearch;
  onSearch: (part: Partial<ScopesSearch>) => void;
}

function FactsOrWhyNot(props: PartsProps) {
  const { data, error, refetch } = props.comparison.differences;
  if (error !== null)
    return (
      <div className={styles.padded}>
        <ProblemNotice failure={apiFailureOf(error)} onRetry={() => void refetch()} />
      </div>
    );
  if (data === undefined)
    return <Loader size={16} className={styles.loading} role="status" aria-label="Comparing the scopes" />;
  return props.search.part === 'conclusions' ? (
    <MergeConclusions comparison={props.comparison} />
  ) : (
    <FactComparison {...props} />
  );
}

function Parts(props: PartsProps) {
  const { comparison, search, onSearch } = props;
  const part = search.part ?? 'facts';
  return (
    <Tabs
      className={styles.parts}
      value={part}
      onChange={(value) => {
        const next = comparedParts.find((known) => known === value);
        onSearch({ part: next === 'facts' ? undefined : next });
      }}
    >
      <Tabs.List>
        <Tabs.Tab value="facts">Facts</Tabs.Tab>
        <Tabs.Tab value="rules">Rules</Tabs.Tab>
        <Tabs.Tab value="conclusions">Conclusions</Tabs.Tab>
      </Tabs.List>
      {comparedParts.map((one) => (
        <Tabs.Panel key={one} value={one} className={styles.part ?? ''}>
          {one === 'rules' ? <RulesCompared pair={comparison.pair} /> : <FactsOrWhyNot {...props} />}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

interface ComparisonViewProps {
  pair: Pair;
  search: ScopesSearch;
  onSearch: (part: Partial<ScopesSearch>) => void;
}

export function ComparisonView({ pair, search, onSearch }: ComparisonViewProps) {
  const comparison = useComparison(pair, search.strategy ?? 'REJECT');
  const merge = useMerge(comparison);
  useMergeKeys(merge);
  const { state } = merge;
  const isRefusedByConflicts = state.kind === 'failed' && state.failure.code === 'Conflict';
  return (
    <div className={stack.stack}>
      <MergeNotices comparison={comparison} merge={merge} />
      <p className={styles.baseNote} role="status">
        {comparison.differences.data !== undefined && baseInWords(comparison.differences.data)}
      </p>
      {isRefusedByConflicts && state.what === 'merge' && (
        <div className={styles.afterRefusal}>
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => onSearch({ part: undefined, kind: 'unresolved', q: undefined })}
          >
            Show the unresolved conflicts of {sideLabel(pair.target)}
          </Button>
        </div>
      )}
      <div className={stack.fill}>
        <Parts comparison={comparison} search={search} onSearch={onSearch} />
      </div>
      <MergeBar
        comparison={comparison}
        merge={merge}
        onStrategy={(strategy) => onSearch({ strategy: strategy === 'REJECT' ? undefined : strategy })}
      />
    </div>
  );
}
