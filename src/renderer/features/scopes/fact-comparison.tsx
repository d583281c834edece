import { Button, CloseButton, Menu, Radio, SegmentedControl, Stack } from '@mantine/core';
import { IconChecks, IconEqual } from '@tabler/icons-react';
import { useMemo } from 'react';
import { LinkedAtom } from '../../editor/linked-atom.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import { baseName, FactRows, fieldsInFull, KindTag, ResultTag, takeLabel } from './fact-rows.tsx';
import {
  type DifferingFactField,
  filterRows,
  type MergeRow,
  nextUnresolved,
  type RowCounts,
  type RowResult,
  type Take,
  takeOptions,
  type Version,
} from './merge.ts';
import { type MergeRowFilter, mergeRowFilters, type ScopesSearch, sideLabel } from './scopes-search.ts';
import styles from './scopes.module.css';
import type { ScopeComparison } from './use-comparison.ts';

const fieldNames: readonly (readonly [DifferingFactField, string])[] = [
  ['truthVal', 'Truth'],
  ['validFrom', 'Valid from'],
  ['validUntil', 'Valid until'],
  ['metadata', 'Metadata'],
];

interface VersionFieldsProps {
  heading: string;
  version: Version | null;
  /** The marked fields. */
  differing: readonly DifferingFactField[];
}

function VersionFields({ heading, version, differing }: VersionFieldsProps) {
  const fields = fieldsInFull(version);
  return (
    <section className={styles.version}>
      <h3>{heading}</h3>
      {version === null ? (
        <p className="dim">not there</p>
      ) : (
        <dl>
          {fieldNames.map(([field, name]) => (
            <div key={field} className={differing.includes(field) ? styles.differing : undefined}>
              <dt>
                {name}
                {differing.includes(field) && <span className="visually-hidden"> (differs)</span>}
              </dt>
              <dd className={field === 'metadata' ? 'mono' : undefined}>{fields[field]}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}

function reasonOf(result: RowResult, row: MergeRow, comparison: ScopeComparison): string {
  const { pair, strategy, differences } = comparison;
  if (result.by === 'choice')
    return `chosen: ${takeLabel(result.take === 'refused' ? 'both' : result.take, pair)}`;
  if (result.by === 'strategy') return `by the strategy, ${strategy}`;
  const base = differences.data === undefined ? null : baseName(differences.data);
  if (base === null) return row.kind === 'added' ? 'a merge adds it' : 'a merge takes nothing away';
  return `only one side changed it since the base, ${base}`;
}

interface FactVersionsProps {
  row: MergeRow;
  comparison: ScopeComparison;
  onClose: () => void;
}

/** Shows one differing fact: every field in both scopes and after the merge, and the choice in words. */
function FactVersions({ row, comparison, onClose }: FactVersionsProps) {
  const { pair, choices, resultOf, choose } = comparison;
  const result = resultOf(row);
  const choice = choices.get(row.place);
  return (
    <PaneFrame
      tone="panel"
      label="Versions"
      title="Versions"
      actions={<CloseButton size="sm" aria-label="Close the versions" onClick={onClose} />}
    >
      <div className={`flex-column gap-12 ${styles.versions}`}>
        <div className="flex-row flex-wrap gap-8 no-margin">
          <KindTag row={row} isChosen={choice !== undefined} />
          <LinkedAtom text={row.key} />
        </div>
        <Radio.Group
          label="Take"
          value={choice ?? ''}
          onChange={(value) => choose([row.place], takeOptions.find((take) => take === value) ?? null)}
        >
          <Stack gap={10} mt={6}>
            {takeOptions.map((take: Take) => (
              <Radio key={take} value={take} size="xs" label={takeLabel(take, pair)} />
            ))}
            <Radio value="" size="xs" label="No choice" />
          </Stack>
        </Radio.Group>
        <VersionFields heading={sideLabel(pair.source)} version={row.source} differing={row.fields} />
        <VersionFields
          heading={sideLabel(pair.target)}
          version={row.target ?? row.opposite}
          differing={row.opposite === null ? row.fields : ['truthVal']}
        />
        <section className={styles.version}>
          <h3>{sideLabel(pair.target)} after the merge</h3>
          <p className="flex-row flex-wrap gap-8 no-margin">
            <ResultTag result={result} /> <span className="dim">{reasonOf(result, row, comparison)}</span>
          </p>
          {result.take !== 'refused' &&
            result.versions.map((version) => (
              <VersionFields key={String(version.truthVal)} heading="" version={version} differing={[]} />
            ))}
        </section>
      </div>
    </PaneFrame>
  );
}

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

/** Sets or clears the choices of all visible rows. */
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
      <span role="status" className="number no-wrap">
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

/** Shows the facts that differ between two scopes: filter, choices, one fact in full. */
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
      // It exists but is filtered out.
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
    <div className="flex-column full-height">
      <div className="controls-bar gap-6-8 padded-6 line-below">
        <KindFilter counts={counts} kind={kind} onKind={(next) => onSearch({ kind: next })} />
        <TextFilter
          label="Filter differences by text"
          width={190}
          value={q}
          onValue={(next) => onSearch({ q: next === '' ? undefined : next })}
        />
        <span className="inline-row gap-8 to-right">
          <Resolved counts={counts} onNext={() => goToNext(selected ?? -1)} />
          <ChooseForAll comparison={comparison} rows={shown} />
        </span>
      </div>
      <div className="rest-height">
        <Split id="scopes-facts" orientation="horizontal" label="Resize" panes={panes} />
      </div>
    </div>
  );
}
