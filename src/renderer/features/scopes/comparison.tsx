import { Button, CloseButton, Loader, Select, Tabs } from '@mantine/core';
import { IconArrowBackUp, IconGitMerge } from '@tabler/icons-react';
import { useEffect, useEffectEvent } from 'react';
import { mergeStrategies, type MergeStrategy } from '../../../engine/contract/scopes.ts';
import { Permitted } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { RefusalShown, TestsFirst } from '../../editor/tests-first.tsx';
import { consequencesInWords } from '../../ui/consequences.ts';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { isTextField, matchesKeys } from '../../ui/keys.ts';
import { Banner, ProblemNotice } from '../../ui/notices.tsx';
import { isMac, KeyCaps } from '../../ui/tags.tsx';
import { baseInWords } from './fact-rows.tsx';
import { MergeConclusions } from './conclusions.tsx';
import { FactComparison } from './fact-comparison.tsx';
import { RulesCompared } from './rules-compared.tsx';
import { comparedParts, type ScopesSearch, sideLabel } from './scopes-search.ts';
import styles from './scopes.module.css';
import { maxCompared, type Pair, type ScopeComparison, useComparison } from './use-comparison.ts';
import { isRefused, type MadeMerge, type Merge, type MergeState, useDryRun, useMerge } from './use-merge.ts';

function wordsOf({ source, target, merged }: MadeMerge): string {
  const { added, updated, deleted } = merged;
  const what =
    added + updated + deleted === 0
      ? 'nothing had to change'
      : `${formatAmount(added, 'fact')} added, ${formatCount(updated)} updated, ${formatCount(deleted)} deleted`;
  return `Merged ${sideLabel(source)} into ${sideLabel(target)}: ${what}.`;
}

const whyNoUndo = {
  tooMany: ' It changed too many facts to be undone from here.',
  othersWrote: ' Others wrote at the same moment, so it cannot be undone from here.',
} as const;

/** Undoing many facts takes a while. */
function Undoing({ state }: { state: Extract<MergeState, { kind: 'undoing' }> }) {
  return (
    <>
      <span className="number">
        Undoing: {formatCount(state.made)} of {formatCount(state.count)}
      </span>
      <Button size="compact-xs" variant="default" onClick={state.cancel}>
        Cancel
      </Button>
    </>
  );
}

function LastMerge({ made, merge }: { made: MadeMerge; merge: Merge }) {
  const { undo } = made;
  const { state } = merge;
  const canUndo = typeof undo !== 'string' && undo.length > 0;
  return (
    <Banner
      action={
        <>
          {state.kind === 'undoing' && state.count > 100 && <Undoing state={state} />}
          {canUndo && (
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<IconArrowBackUp size={13} aria-hidden />}
              rightSection={<KeyCaps keys="Mod+Z" look="plain" />}
              loading={state.kind === 'undoing'}
              disabled={merge.isBusy}
              onClick={merge.undo}
            >
              Undo
            </Button>
          )}
          <CloseButton
            size="sm"
            aria-label="Close the note on the merge"
            disabled={merge.isBusy}
            onClick={merge.forget}
          />
        </>
      }
    >
      {wordsOf(made)}
      {typeof undo === 'string' && whyNoUndo[undo]}
    </Banner>
  );
}

function Failed({ merge }: { merge: Merge }) {
  const { state, dismiss } = merge;
  if (state.kind !== 'failed') return null;
  return (
    <div className={styles.failed}>
      <RefusalShown failure={state.failure} />
      <p>
        {state.what === 'merge' ? 'Nothing was merged.' : 'Nothing was undone.'}{' '}
        <Button size="compact-xs" variant="default" onClick={dismiss}>
          Close
        </Button>
      </p>
    </div>
  );
}

/** Shows notices above the comparison: a merge with its undo, a refusal, changes made elsewhere. */
function MergeNotices({ comparison, merge }: { comparison: ScopeComparison; merge: Merge }) {
  const { state, last, isBusy } = merge;
  const { isChanged, isTruncated, acknowledge, differences } = comparison;
  const ok = (onClick: () => void) => (
    <Button size="compact-xs" variant="default" onClick={onClick}>
      Seen
    </Button>
  );
  return (
    <>
      {last !== null && <LastMerge made={last} merge={merge} />}
      <Failed merge={merge} />
      {state.kind === 'moved on' && (
        <Banner
          action={ok(() => {
            acknowledge(differences.data);
            merge.dismiss();
          })}
        >
          Nothing was merged: the scopes were changed meanwhile. Look at what differs now, then merge again.
        </Banner>
      )}
      {isChanged && !isBusy && state.kind !== 'moved on' && (
        <Banner action={ok(() => acknowledge(differences.data))}>
          The scopes were changed elsewhere. What is shown is how they differ now.
        </Banner>
      )}
      {isTruncated && (
        <Banner>
          More than {formatCount(maxCompared)} facts of a kind differ; only these are shown. A merge is made
          of all.
        </Banner>
      )}
    </>
  );
}

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

/** Shows the effect of the merge on target and its conclusions, as far as known. */
function Outcome({ comparison }: { comparison: ScopeComparison }) {
  const dryRun = useDryRun(comparison);
  const { counts } = comparison;
  if (isRefused(comparison))
    return (
      <span className="wraps text-bad">
        Refused while {formatAmount(counts.unresolved, 'conflict is', 'conflicts are')} unresolved
      </span>
    );
  const { data, error } = dryRun;
  if (error !== null) {
    const failure = apiFailureOf(error);
    return (
      <span className="wraps text-bad" title={failure.detail}>
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

/** Shows conflict strategy, effect and button of the merge below the comparison. */
function MergeBar({ comparison, merge, onStrategy }: MergeBarProps) {
  const { strategy, pair, differences } = comparison;
  return (
    <section className={`controls-bar gap-6-12 padded-6 on-panel ${styles.mergeBar}`} aria-label="Merge">
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
      <span role="status" className="flex-row rest-width gap-2-12 flex-wrap">
        {differences.isSuccess && <Outcome comparison={comparison} />}
      </span>
      <TestsFirst />
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

/** Merges on Mod+Enter, except in a text field or dialog. */
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
      <div className="padded">
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
      className="flex-column tall"
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
        <Tabs.Panel key={one} value={one} className="rest-height">
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

/** Compares two scopes in facts, rules and conclusions, and merges them. */
export function ComparisonView({ pair, search, onSearch }: ComparisonViewProps) {
  const comparison = useComparison(pair, search.strategy ?? 'REJECT');
  const merge = useMerge(comparison);
  useMergeKeys(merge);
  const { state } = merge;
  const isRefusedByConflicts = state.kind === 'failed' && state.failure.code === 'Conflict';
  return (
    <div className="flex-column full-height">
      <MergeNotices comparison={comparison} merge={merge} />
      <p className="fixed-size dim no-margin padded-6 line-below" role="status">
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
      <div className="rest-height">
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
