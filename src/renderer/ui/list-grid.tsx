import { type KeyboardEvent, useState } from 'react';
import { type Column, DataGrid } from './data-grid.tsx';
import type { RowMenuGroups } from './row-menu.tsx';

interface ListGridProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Absent: the grid itself keeps the selected position. */
  isSelected?: (row: Row) => boolean;
  /** Moves the cursor to the selected row whenever that changes. */
  revealsSelected?: boolean;
  onSelect?: (row: Row, index: number) => void;
  /** Enter or double click. */
  onOpen?: (row: Row) => void;
  /** Other keys. */
  onKey?: (event: KeyboardEvent, row: Row) => void;
  menu?: (row: Row) => RowMenuGroups;
}

/** Shows a grid of rows that are all loaded; its actions get the row. */
export function ListGrid<Row>(props: ListGridProps<Row>) {
  const { label, columns, rows, isSelected, revealsSelected = false, onSelect, onOpen, onKey, menu } = props;
  const [kept, setKept] = useState<number | null>(null);
  const found = isSelected === undefined ? -1 : rows.findIndex(isSelected);
  const position = found < 0 ? null : found;

  function withRow(index: number, act: ((row: Row) => void) | undefined): void {
    const row = rows[index];
    if (row !== undefined) act?.(row);
  }

  return (
    <DataGrid
      label={label}
      columns={columns}
      count={rows.length}
      rowAt={(index) => rows[index]}
      selected={isSelected === undefined ? kept : position}
      onSelect={(index) => {
        if (isSelected === undefined) setKept(index);
        withRow(index, (row) => onSelect?.(row, index));
      }}
      {...(revealsSelected && position !== null ? { reveal: position } : {})}
      {...(onOpen === undefined ? {} : { onOpen: (index) => withRow(index, onOpen) })}
      {...(onKey === undefined
        ? {}
        : { onKey: (event, index) => withRow(index, (row) => onKey(event, row)) })}
      {...(menu === undefined
        ? {}
        : { menu: (index) => (rows[index] === undefined ? [] : menu(rows[index])) })}
    />
  );
}
