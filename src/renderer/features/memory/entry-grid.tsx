import { ActionIcon } from '@mantine/core';
import { IconArrowUp, IconInfinity, IconPin, IconPinnedOff, IconTrash } from '@tabler/icons-react';
import type { KeyboardEvent, ReactNode } from 'react';
import { CodeLine } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatRelative, formatTime } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { Meter, Tag } from '../../ui/tags.tsx';
import { rememberedAtomOf, isPinnedFact, type Remembered } from './remembered.ts';
import type { MemoryChanges } from './use-fact-changes.ts';
import { Tooltip } from '../../ui/tooltip.tsx';

/** Explains Boost. */
export const boostHint =
  'Asserts it again as it is: one more use, now. It fades again unless it is used; importance and a pin last.';
/** Explains Pin. */
export const pinHint = 'A pinned fact is never evicted for low salience, nor replaced by a summary.';
/** Explains Keep. */
export const keepHint = 'Removes the end of its validity.';

interface RowButtonProps {
  label: string;
  hint: string;
  icon: ReactNode;
  isBusy: boolean;
  onClick: () => void;
}

function RowButton({ label, hint, icon, isBusy, onClick }: RowButtonProps) {
  return (
    <Tooltip label={hint} maxWidth={280}>
      <ActionIcon
        size={24}
        tabIndex={-1}
        aria-label={label}
        disabled={isBusy}
        onClick={(event) => {
          // Prevents opening the row.
          event.stopPropagation();
          onClick();
        }}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

const small = { size: 15, 'aria-hidden': true } as const;

/** Row actions; by keyboard B boosts, K keeps, P pins, Delete forgets. */
function RowActions({ row, changes }: { row: Remembered; changes: MemoryChanges }) {
  const { id } = row;
  if (id === null) return null;
  const atom = rememberedAtomOf(row);
  const pinned = isPinnedFact(row);
  const button = { isBusy: changes.busy === id };
  return (
    <>
      <RowButton
        {...button}
        label={`Boost ${atom}`}
        hint={`${boostHint} (B)`}
        icon={<IconArrowUp {...small} />}
        onClick={() => changes.change(id, { kind: 'boost' })}
      />
      {row.validUntil !== null && (
        <RowButton
          {...button}
          label={`Keep ${atom} for good`}
          hint={`${keepHint} (K)`}
          icon={<IconInfinity {...small} />}
          onClick={() => changes.change(id, { kind: 'keep' })}
        />
      )}
      <RowButton
        {...button}
        label={pinned ? `Unpin ${atom}` : `Pin ${atom}`}
        hint={`${pinned ? 'It may be evicted again.' : pinHint} (P)`}
        icon={pinned ? <IconPinnedOff {...small} /> : <IconPin {...small} />}
        onClick={() => changes.change(id, { kind: 'pin', isPinned: !pinned })}
      />
      <RowButton
        {...button}
        label={`Forget ${atom}`}
        hint="Retracts it, after showing what would no longer hold. (Delete)"
        icon={<IconTrash {...small} />}
        onClick={() => changes.forget(id)}
      />
    </>
  );
}

function End({ at, now }: { at: number | null; now: number }) {
  if (at === null) return <span className="dim">never</span>;
  return <span title={formatTime(at)}>{formatRelative(at, now)}</span>;
}

const factColumn: Column<Remembered> = {
  id: 'fact',
  title: 'Fact',
  width: 220,
  most: 720,
  cell: (row) => {
    const atom = rememberedAtomOf(row);
    return <CodeLine text={atom} />;
  },
};

/** The columns that are shown once a row has something in them. */
const exceptions: readonly (Column<Remembered> & { readonly has: (row: Remembered) => boolean })[] = [
  {
    id: 'pinned',
    title: 'Pinned',
    width: 76,
    has: isPinnedFact,
    cell: (row) => (isPinnedFact(row) ? <Tag tone="computed">pinned</Tag> : null),
  },
  {
    id: 'scope',
    title: 'Scope',
    width: 100,
    has: ({ scope }) => scope !== null,
    cell: ({ scope }) => scope ?? <span className="dim">none</span>,
  },
  {
    id: 'ends',
    title: 'Ends',
    width: 100,
    has: ({ validUntil }) => validUntil !== null,
    cell: ({ validUntil }) => <End at={validUntil} now={Date.now()} />,
  },
];

function columnsOf(changes: MemoryChanges, rows: readonly Remembered[]): Column<Remembered>[] {
  const now = Date.now();
  return [
    factColumn,
    ...exceptions.filter(({ has }) => rows.some(has)),
    { id: 'salience', title: 'Salience', width: 112, cell: ({ salience }) => <Meter value={salience} /> },
    {
      id: 'created',
      title: 'Asserted',
      width: 110,
      cell: ({ createdAt }) => (
        <span className="dim" title={formatTime(createdAt)}>
          {formatRelative(createdAt, now)}
        </span>
      ),
    },
    {
      id: 'actions',
      title: 'Actions',
      width: 124,
      holds: 'controls',
      cell: (row) => <RowActions row={row} changes={changes} />,
    },
  ];
}

function actByKey(event: KeyboardEvent, row: Remembered, changes: MemoryChanges): void {
  const { id } = row;
  const key = rowKeyOf(event, 'memory');
  if (id === null || key === null || changes.busy !== null) return;
  event.preventDefault();
  if (key === 'boost') changes.change(id, { kind: 'boost' });
  else if (key === 'pin') changes.change(id, { kind: 'pin', isPinned: !isPinnedFact(row) });
  else if (key === 'forget') changes.forget(id);
  else if (row.validUntil !== null) changes.change(id, { kind: 'keep' });
}

interface EntryGridProps {
  label: string;
  rows: readonly Remembered[];
  changes: MemoryChanges;
  /** Id of the open fact. */
  open: string | undefined;
  onOpen: (id: string) => void;
}

/** Lists facts with actions by button and key. */
export function EntryGrid({ label, rows, changes, open, onOpen }: EntryGridProps) {
  const openRow = ({ id }: Remembered) => {
    if (id !== null && id !== open) onOpen(id);
  };
  return (
    <ListGrid
      label={label}
      columns={columnsOf(changes, rows)}
      rows={rows}
      isSelected={({ id }) => id === open}
      onSelect={openRow}
      onOpen={openRow}
      onKey={(event, row) => actByKey(event, row, changes)}
    />
  );
}
