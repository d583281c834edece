/** A filterable list of named rows with a selection, in all its states: loading, failed, empty, no match. */
import { Loader, TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { apiFailureOf } from '../../api/problem.ts';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
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
  return (
    <ListGrid
      label={label}
      columns={columns}
      rows={rows}
      isSelected={(row) => row.name === selected}
      revealsSelected
      onSelect={onSelect}
      onOpen={onOpen}
      onKey={(event, row) => onKey?.(event, row)}
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
