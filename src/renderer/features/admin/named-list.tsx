/** A filterable list of named rows with a selection, in all its states: loading, failed, empty, no match. */
import { Loader, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { apiFailureOf } from '../../api/problem.ts';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { withPart } from './admin-search.ts';
import styles from './admin.module.css';

interface Named {
  readonly name: string;
}

/** The part of a query's state that the list shows. */
interface Asked<Row> {
  readonly data: readonly Row[] | undefined;
  readonly error: Error | null;
  readonly refetch: () => unknown;
}

interface Filter {
  readonly part: string | undefined;
  readonly onPart: (part: string | undefined) => void;
}

interface NamedListProps<Row extends Named> {
  /** `Databases`, for example; also names the grid. */
  label: string;
  title: ReactNode;
  /** What one row is called. */
  one: string;
  asked: Asked<Row>;
  columns: readonly Column<Row>[];
  /** The name of the selected row. */
  selected?: string | undefined;
  onSelect: (row: Row) => void;
  onOpen: (row: Row) => void;
  onKey?: (event: KeyboardEvent, row: Row) => void;
  /** Absent: the list cannot be filtered. */
  filter?: Filter;
  actions?: ReactNode;
  /** Shown if the unfiltered list is empty. */
  empty: ReactNode;
}

function FilterField({ label, filter }: { label: string; filter: Filter }) {
  return (
    <TextInput
      className={styles.filter}
      aria-label={`Filter ${label.toLowerCase()}`}
      placeholder="Filter"
      leftSection={<IconSearch size={14} aria-hidden />}
      value={filter.part ?? ''}
      onChange={({ currentTarget: { value } }) => filter.onPart(value === '' ? undefined : value)}
    />
  );
}

function Rows<Row extends Named>({ list, rows }: { list: NamedListProps<Row>; rows: readonly Row[] }) {
  const { label, columns, selected, onSelect, onOpen, onKey } = list;
  const position = rows.findIndex((row) => row.name === selected);
  const withRow = (index: number, act: (row: Row) => void) => {
    const row = rows[index];
    if (row !== undefined) act(row);
  };
  return (
    <DataGrid
      label={label}
      columns={columns}
      count={rows.length}
      rowAt={(index) => rows[index]}
      selected={position < 0 ? null : position}
      onSelect={(index) => withRow(index, onSelect)}
      onOpen={(index) => withRow(index, onOpen)}
      onKey={(event, index) => withRow(index, (row) => onKey?.(event, row))}
      {...(position < 0 ? {} : { reveal: position })}
    />
  );
}

function Content<Row extends Named>({
  list,
  rows,
}: {
  list: NamedListProps<Row>;
  rows: readonly Row[] | undefined;
}) {
  const { asked, one, empty } = list;
  if (asked.error !== null)
    return (
      <div className="padded-8">
        <ProblemNotice failure={apiFailureOf(asked.error)} onRetry={() => void asked.refetch()} />
      </div>
    );
  if (rows === undefined)
    return (
      <div className="flex-row gap-8 dim padded" role="status">
        <Loader size={16} aria-hidden /> Loading
      </div>
    );
  if (rows.length > 0) return <Rows list={list} rows={rows} />;
  return asked.data?.length === 0 ? empty : <EmptyState title={`No ${one} matches`} />;
}

/** A pane with a filterable grid of named rows. */
export function NamedList<Row extends Named>(list: NamedListProps<Row>) {
  const { label, title, one, asked, filter, actions } = list;
  const rows = asked.data === undefined ? undefined : withPart(asked.data, filter?.part);
  const total = asked.data?.length ?? 0;
  return (
    <PaneFrame
      scroll="own"
      label={label}
      title={title}
      actions={
        <>
          <span className="dim number" role="status">
            {rows === undefined || asked.error !== null
              ? ''
              : rows.length === total
                ? formatAmount(total, one)
                : `${formatCount(rows.length)} of ${formatAmount(total, one)}`}
          </span>
          {filter !== undefined && <FilterField label={label} filter={filter} />}
          {actions}
        </>
      }
    >
      <Content list={list} rows={rows} />
    </PaneFrame>
  );
}
