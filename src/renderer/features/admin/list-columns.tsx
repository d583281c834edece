/** The columns that databases, tenants and scopes are listed in. */
import { IconEraser, IconLogin2, IconTrash } from '@tabler/icons-react';
import type { Column } from '../../ui/data-grid.tsx';
import { formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { RowAction } from '../../ui/row-action.tsx';
import { Tag } from '../../ui/tags.tsx';
import styles from './admin.module.css';

interface Named {
  readonly name: string;
}

/** The name, with a mark on the one that the workbench is in. */
export function nameColumn<Row extends Named>(title: string, isHere: (row: Row) => boolean): Column<Row> {
  return {
    id: 'name',
    title,
    width: 180,
    grow: 1,
    cell: (row) => (
      <span className={styles.name}>
        <span className="truncate" title={row.name}>
          {row.name}
        </span>
        {isHere(row) && <Tag tone="good">in use</Tag>}
      </span>
    ),
  };
}

export function countColumn<Row>(id: string, title: string, countOf: (row: Row) => number): Column<Row> {
  return {
    id,
    title,
    width: 90,
    align: 'end',
    cell: (row) => <span className="number">{formatCount(countOf(row))}</span>,
  };
}

export function createdColumn<Row extends { readonly createdAt: number }>(): Column<Row> {
  return {
    id: 'created',
    title: 'Created',
    width: 110,
    cell: ({ createdAt }) => (
      <span className="dim" title={formatTime(createdAt)}>
        {formatRelative(createdAt, Date.now())}
      </span>
    ),
  };
}

/** What can be done with a row; null where it cannot, and then there is no button. */
export interface RowActions<Row> {
  readonly enter: (row: Row) => (() => void) | null;
  readonly nuke: (row: Row) => (() => void) | null;
  readonly remove: (row: Row) => (() => void) | null;
}

/** The keyboard does the same on the row: Enter uses it, N empties it, Delete deletes it. */
export function actionsColumn<Row extends Named>({ enter, nuke, remove }: RowActions<Row>): Column<Row> {
  const size = { size: 15, 'aria-hidden': true } as const;
  return {
    id: 'actions',
    title: 'Actions',
    width: 108,
    holds: 'controls',
    cell: (row) => {
      const actions = [
        { act: enter(row), label: `Use ${row.name}`, icon: <IconLogin2 {...size} /> },
        { act: nuke(row), label: `Empty ${row.name}`, icon: <IconEraser {...size} /> },
        { act: remove(row), label: `Delete ${row.name}`, icon: <IconTrash {...size} /> },
      ];
      return actions.map(({ act, label, icon }) =>
        act === null ? (
          <span key={label} className={styles.noAction} />
        ) : (
          <RowAction key={label} label={label} icon={icon} onClick={act} />
        ),
      );
    },
  };
}
