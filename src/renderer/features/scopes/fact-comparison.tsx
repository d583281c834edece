/** The facts in which the two scopes differ: filtered, chosen for, one of them in full. */
import { Button, Menu, SegmentedControl } from '@mantine/core';
import { IconChecks, IconEqual } from '@tabler/icons-react';
import { useMemo } from 'react';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { type Pane, Split } from '../../ui/split.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { takeOptions } from './choices.ts';
import { FactRows, takeLabel } from './fact-rows.tsx';
import { FactVersions } from './fact-versions.tsx';
import { filterRows, type MergeRow, nextUnresolved, type RowCounts } from './merge-rows.ts';
import { type MergeRowFilter, mergeRowFilters, type ScopesSearch, sideLabel } from './scopes-search.ts';
import type { ScopeComparison } from './use-comparison.ts';
import styles from './scopes.module.css';
import stack from '../../ui/stack.module.css';

const filterWords: Record<MergeRowFilter, string> = {
  added: 'Added',
  removed: 'Removed',
  modified: 'Modified',
  conflicting: 'Conflicting',
  unresolved: 'Unresolved',
};

function KindFilter({
  counts,
  kind,
  onKind,
}: { counts: RowCounts } & {
  kind: MergeRowFilter | undefined;
  onKind: (kind: MergeRowFilter | undefined) => void;
}) {
  const all = counts.added + counts.removed + counts.modified;
  return (
    <SegmentedControl
      aria-label="Kind of difference"
      value={kind ?? 'all'}
      onChange={(value) => onKind(mergeRowFilters.find((known) => known === value))}
      data={[
        { value: 'all', label: `All ${formatCount(all)}` },
        ...mergeRowFilters.map((value) => ({
          value,
          label: `${filterWords[value]} ${formatCount(counts[value])}`,
        })),
      ]}
    />
  );
}

/** Chooses for all rows that are shown, or takes choices back. */
function ChooseForAll({ comparison, rows }: { comparison: ScopeComparison; rows: readonly MergeRow[] }) {
  const { pair, choose, clearChoices, choices, resolutions } = comparison;
  const places = () => rows.map(({ place }) => place);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconChecks size={14} aria-hidden />}>
          Choose…
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>For the {formatAmount(rows.length, 'fact')} shown</Menu.Label>
        {takeOptions.map((take) => (
          <Menu.Item key={take} disabled={rows.length === 0} onClick={() => choose(places(), take)}>
            Take {takeLabel(take, pair)}
          </Menu.Item>
        ))}
        <Menu.Item disabled={rows.length === 0} onClick={() => choose(places(), null)}>
          No choice
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item disabled={choices.size === 0} onClick={clearChoices}>
          Drop all {formatAmount(resolutions.length, 'choice')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function Resolved({ counts, onNext }: { counts: RowCounts; onNext: () => void }) {
  if (counts.conflicting === 0) return null;
  return (
    <>
      <span role="status" className={`number ${styles.nowrap}`}>
        <strong>{formatCount(counts.resolved)}</strong> of {formatCount(counts.conflicting)} resolved
      </span>
      <Button variant="default" disabled={counts.unresolved === 0} onClick={onNext}>
        Next conflict
      </Button>
    </>
  );
}

interface FactComparisonProps {
  comparison: ScopeComparison;
  search: ScopesSearch;
  onSearch: (part: Partial<ScopesSearch>) => void;
}

function NoRows({ comparison, search, onSearch }: FactComparisonProps) {
  const { rows, pair, differences } = comparison;
  const icon = <IconEqual size={30} stroke={1.3} aria-hidden />;
  if (rows.length === 0)
    return (
      <EmptyState icon={icon} title="The same facts">
        {sideLabel(pair.source)} and {sideLabel(pair.target)} do not differ in any fact;{' '}
        {formatAmount(differences.data?.unchanged ?? 0, 'fact')} in both.
      </EmptyState>
    );
  return (
    <EmptyState
      icon={icon}
      title="No difference matches"
      actions={
        <Button variant="default" onClick={() => onSearch({ kind: undefined, q: undefined })}>
          Show all {formatCount(rows.length)}
        </Button>
      }
    >
      {search.kind === 'unresolved' && (search.q ?? '') === ''
        ? 'No conflict is unresolved.'
        : 'No difference is of this kind and has this text.'}
    </EmptyState>
  );
}

export function FactComparison(props: FactComparisonProps) {
  const { comparison, search, onSearch } = props;
  const { rows, isChosen, counts } = comparison;
  const { kind, q = '', fact } = search;
  const shown = useMemo(() => filterRows(rows, { kind, q }, isChosen), [rows, kind, q, isChosen]);
  const selected = useMemo(() => {
    const index = fact === undefined ? -1 : shown.findIndex(({ key }) => key === fact);
    return index < 0 ? null : index;
  }, [shown, fact]);
  const open = useMemo(() => rows.find(({ key }) => key === fact), [rows, fact]);

  function goToNext(from: number): void {
    const next = nextUnresolved(shown, from, isChosen);
    if (next !== null) onSearch({ fact: shown[next]?.key });
    else if (kind !== undefined || q !== '') {
      // It is there, only not among what is shown.
      const index = nextUnresolved(rows, -1, isChosen);
      if (index !== null) onSearch({ kind: undefined, q: undefined, fact: rows[index]?.key });
    }
  }

  const grid =
    shown.length === 0 ? (
      <NoRows {...props} />
    ) : (
      <FactRows
        comparison={comparison}
        rows={shown}
        selected={selected}
        onSelect={(index) => onSearch({ fact: shown[index]?.key })}
        onNext={goToNext}
      />
    );
  const panes: Pane[] = [{ id: 'differences', least: '360px', content: grid }];
  if (open !== undefined)
    panes.push({
      id: 'versions',
      size: '320px',
      least: '220px',
      content: (
        <FactVersions row={open} comparison={comparison} onClose={() => onSearch({ fact: undefined })} />
      ),
    });
  return (
    <div className={stack.stack}>
      <div className={styles.filters}>
        <KindFilter counts={counts} kind={kind} onKind={(next) => onSearch({ kind: next })} />
        <TextFilter
          label="Filter differences by text"
          width={190}
          value={q}
          onValue={(next) => onSearch({ q: next === '' ? undefined : next })}
        />
        <span className={styles.choosing}>
          <Resolved counts={counts} onNext={() => goToNext(selected ?? -1)} />
          <ChooseForAll comparison={comparison} rows={shown} />
        </span>
      </div>
      <div className={stack.fill}>
        <Split id="scopes-facts" orientation="horizontal" label="Resize" panes={panes} />
      </div>
    </div>
  );
}
