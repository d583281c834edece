import { IconArrowsSplit2, IconCheck } from '@tabler/icons-react';
import { type KeyboardEvent, useMemo } from 'react';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { Tag, type Tone } from '../../ui/tags.tsx';
import { type Choices, type Take, takeOptions } from './choices.ts';
import type { RowResult } from './merge-result.ts';
import type { MergeRow } from './merge-rows.ts';
import { sideLabel } from './scopes-search.ts';
import type { ScopeComparison, Pair } from './use-comparison.ts';
import { versionAtomOf, notesOf, VersionText } from './version-text.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import styles from './scopes.module.css';

const kinds: Record<MergeRow['kind'], { readonly word: string; readonly tone: Tone }> = {
  added: { word: 'added', tone: 'good' },
  removed: { word: 'removed', tone: 'bad' },
  modified: { word: 'modified', tone: 'derived' },
};

/** Shows the kind of a row: a conflict until resolved, otherwise how the scopes differ. */
export function KindTag({ row, isChosen }: { row: MergeRow; isChosen: boolean }) {
  if (row.conflicts)
    return isChosen ? (
      <Tag tone="good">
        <IconCheck size={12} stroke={2.4} aria-hidden />
        resolved
      </Tag>
    ) : (
      <Tag tone="warn">
        <IconArrowsSplit2 size={12} stroke={2} aria-hidden />
        conflict
      </Tag>
    );
  const { word, tone } = kinds[row.kind];
  return <Tag tone={tone}>{word}</Tag>;
}

const changes: Record<RowResult['change'], { readonly word: string; readonly tone: Tone }> = {
  add: { word: 'adds', tone: 'good' },
  update: { word: 'changes', tone: 'derived' },
  delete: { word: 'deletes', tone: 'bad' },
  none: { word: 'stays', tone: 'plain' },
};

/** Shows the result of a row. */
export function ResultTag({ result }: { result: RowResult }) {
  if (result.take === 'refused') return <Tag tone="bad">refused</Tag>;
  const { word, tone } = changes[result.change];
  return <Tag tone={tone}>{word}</Tag>;
}

function ResultText({ row, result }: { row: MergeRow; result: RowResult }) {
  const { versions, take } = result;
  return (
    <span className={styles.result}>
      <ResultTag result={result} />
      {take !== 'refused' && versions.length === 0 && (
        <span className={`dim ${styles.absent}`}>not there</span>
      )}
      {take !== 'refused' &&
        versions.map((version) => (
          <span
            key={String(version.truthVal)}
            title={[versionAtomOf(row, version), ...notesOf(version, null)].join('  ')}
          >
            <CodeText isLine text={versionAtomOf(row, version)} />
            {notesOf(version, row.kind === 'modified' ? row.fields : null).map((note) => (
              <span key={note} className={`dim ${styles.note}`}>
                {note}
              </span>
            ))}
          </span>
        ))}
    </span>
  );
}

/** Returns the label of a choice: the scope whose version it takes. */
export function takeLabel(take: Take, { source, target }: Pair): string {
  if (take === 'both') return 'Both';
  return sideLabel(take === 'source' ? source : target);
}

interface TakeButtonsProps {
  row: MergeRow;
  pair: Pair;
  choice: Take | undefined;
  onTake: (take: Take | null) => void;
}

function TakeButtons({ row, pair, choice, onTake }: TakeButtonsProps) {
  return (
    <span className={styles.takes}>
      {takeOptions.map((take) => (
        <button
          key={take}
          type="button"
          tabIndex={-1}
          className={`truncate ${styles.toggle}`}
          aria-pressed={choice === take}
          aria-label={`Take ${takeLabel(take, pair)} for ${row.key}`}
          title={takeLabel(take, pair)}
          onClick={(event) => {
            event.stopPropagation();
            onTake(choice === take ? null : take);
          }}
        >
          {takeLabel(take, pair)}
        </button>
      ))}
    </span>
  );
}

interface ColumnsInput {
  readonly pair: Pair;
  readonly choices: Choices;
  readonly resultOf: ScopeComparison['resultOf'];
  readonly choose: ScopeComparison['choose'];
}

function columnsOf({ pair, choices, resultOf, choose }: ColumnsInput): Column<MergeRow>[] {
  return [
    {
      id: 'kind',
      title: 'Change',
      width: 104,
      cell: (row) => <KindTag row={row} isChosen={choices.has(row.place)} />,
    },
    {
      id: 'source',
      title: sideLabel(pair.source),
      width: 180,
      grow: 1,
      cell: (row) => <VersionText row={row} version={row.source} />,
    },
    {
      id: 'target',
      title: sideLabel(pair.target),
      width: 180,
      grow: 1,
      cell: (row) => <VersionText row={row} version={row.target ?? row.opposite} />,
    },
    {
      id: 'result',
      title: `${sideLabel(pair.target)} after the merge`,
      width: 200,
      grow: 1.1,
      cell: (row) => <ResultText row={row} result={resultOf(row)} />,
    },
    {
      id: 'take',
      title: 'Take',
      width: 216,
      holds: 'controls',
      cell: (row) => (
        <TakeButtons
          row={row}
          pair={pair}
          choice={choices.get(row.place)}
          onTake={(take) => choose([row.place], take)}
        />
      ),
    },
  ];
}

const takeOf = { source: 'source', target: 'target', both: 'both', none: null } as const;

interface FactRowsProps {
  comparison: ScopeComparison;
  /** The visible rows. */
  rows: readonly MergeRow[];
  /** Index of the row shown in full. */
  selected: number | null;
  onSelect: (index: number) => void;
  /** Moves to the next unresolved conflict after a row. */
  onNext: (from: number) => void;
}

/**
 * Shows differing facts side by side under the scopes' names, with the merge result. By keyboard S takes source, T
 * target, B both, X clears the choice, N moves to the next unresolved conflict.
 */
export function FactRows({ comparison, rows, selected, onSelect, onNext }: FactRowsProps) {
  const { pair, choices, resultOf, choose } = comparison;
  const columns = useMemo(
    () => columnsOf({ pair, choices, resultOf, choose }),
    [pair, choices, resultOf, choose],
  );

  function onKey(event: KeyboardEvent, index: number): void {
    const row = rows[index];
    const key = rowKeyOf(event, 'differences');
    if (row === undefined || key === null) return;
    event.preventDefault();
    if (key === 'next') onNext(index);
    else choose([row.place], takeOf[key]);
  }

  return (
    <DataGrid
      label="Differences"
      columns={columns}
      count={rows.length}
      rowAt={(index) => rows[index]}
      selected={selected}
      onSelect={onSelect}
      onKey={onKey}
      {...(selected === null ? {} : { reveal: selected })}
    />
  );
}
