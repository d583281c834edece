/** Under the comparison: how conflicts are settled, what the merge would do, and the button that makes it. */
import { Button, Loader, Select } from '@mantine/core';
import { IconGitMerge } from '@tabler/icons-react';
import { type MergeStrategy, mergeStrategies } from '../../../engine/contract/scopes.ts';
import { Permitted } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { consequencesInWords } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { KeyCaps } from '../../ui/tags.tsx';
import { sideLabel } from './scopes-search.ts';
import type { ScopeComparison } from './use-comparison.ts';
import { isRefused, type Merge, useDryRun } from './use-merge.ts';
import styles from './scopes.module.css';

function strategyOptions({ pair }: ScopeComparison) {
  const [source, target] = [sideLabel(pair.source), sideLabel(pair.target)];
  const words: Record<MergeStrategy, string> = {
    SOURCE_WINS: `Take ${source} where they differ`,
    TARGET_WINS: `Keep ${target} where they differ`,
    KEEP_BOTH: 'Keep both',
    REJECT: 'Reject while any is unresolved',
  };
  return mergeStrategies.map((value) => ({ value, label: words[value] }));
}

/** What the merge would do to target, and to what is concluded, as far as that is known. */
function Outcome({ comparison }: { comparison: ScopeComparison }) {
  const dryRun = useDryRun(comparison);
  const { counts } = comparison;
  if (isRefused(comparison))
    return (
      <span className={styles.refused}>
        Refused while {formatAmount(counts.unresolved, 'conflict is', 'conflicts are')} unresolved
      </span>
    );
  const { data, error } = dryRun;
  if (error !== null) {
    const failure = apiFailureOf(error);
    return (
      <span className={styles.refused} title={failure.detail}>
        {failure.title}: {failure.detail}
      </span>
    );
  }
  if (data === undefined)
    return (
      <span className="dim">
        <Loader size={11} mr={8} aria-hidden />
        Trying the merge
      </span>
    );
  return (
    <>
      <span className="number">
        <strong>{formatAmount(data.added, 'fact')}</strong> added, {formatCount(data.updated)} updated,{' '}
        {formatCount(data.deleted)} deleted
      </span>
      <span className="number dim">{consequencesInWords(data)}</span>
    </>
  );
}

interface MergeBarProps {
  comparison: ScopeComparison;
  merge: Merge;
  onStrategy: (strategy: MergeStrategy) => void;
}

export function MergeBar({ comparison, merge, onStrategy }: MergeBarProps) {
  const { strategy, pair, differences } = comparison;
  return (
    <section className={styles.mergeBar} aria-label="Merge">
      <Select
        className={styles.strategy}
        aria-label="Strategy for conflicts"
        data={strategyOptions(comparison)}
        value={strategy}
        allowDeselect={false}
        onChange={(value) => {
          const chosen = mergeStrategies.find((known) => known === value);
          if (chosen !== undefined) onStrategy(chosen);
        }}
      />
      <span role="status" className={styles.outcome}>
        {differences.isSuccess && <Outcome comparison={comparison} />}
      </span>
      <Permitted operation="commitTransaction">
        <Button
          className={styles.mergeButton ?? ''}
          leftSection={<IconGitMerge size={14} aria-hidden />}
          rightSection={<KeyCaps keys="Mod+Enter" look="plain" />}
          disabled={!differences.isSuccess || merge.isBusy}
          loading={merge.state.kind === 'merging'}
          onClick={merge.apply}
        >
          <span className="truncate">Merge into {sideLabel(pair.target)}</span>
        </Button>
      </Permitted>
    </section>
  );
}
