/** The constraints: text, mode, violations; by keyboard Enter opens one, M switches its mode, Delete deletes it. */
import { Button } from '@mantine/core';
import { IconAlertTriangle, IconPencil, IconPlus, IconShieldCheck, IconTrash } from '@tabler/icons-react';
import type { KeyboardEvent } from 'react';
import { useMemo } from 'react';
import type { StoredConstraint } from '../../../engine/contract/constraints.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { Permitted } from '../../api/permitted.tsx';
import { useReason } from '../../api/rights.ts';
import { CodeText } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatRelative, formatTime } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { notifyHint } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import { Tag } from '../../ui/tags.tsx';
import { TextFilter } from '../../ui/text-filter.tsx';
import type { SchemaSearch } from './schema-search.ts';
import { useConstraints, useViolationCounts, type ViolationCounts } from './use-schema.ts';
import { ViolationCount } from './violation-count.tsx';

const icon = { size: 15, stroke: 1.6, 'aria-hidden': true } as const;

function columnsOf(counts: ViolationCounts | undefined): Column<StoredConstraint>[] {
  return [
    {
      id: 'name',
      title: 'Name',
      width: 140,
      grow: 2,
      cell: ({ name, description }) => <span title={description ?? undefined}>{name}</span>,
    },
    {
      id: 'text',
      title: 'Constraint',
      width: 200,
      grow: 3,
      cell: ({ text }) => (
        <span title={text}>
          <CodeText isLine text={text} />
        </span>
      ),
    },
    {
      id: 'scope',
      title: 'View',
      width: 90,
      cell: ({ scope }) => (scope === null ? <span className="dim">each</span> : scope),
    },
    {
      id: 'mode',
      title: 'Mode',
      width: 76,
      cell: ({ mode }) => (mode === 'reject' ? <Tag tone="computed">reject</Tag> : <Tag>warn</Tag>),
    },
    {
      id: 'violations',
      title: 'Violations',
      width: 104,
      align: 'end',
      cell: ({ id }) => (
        <ViolationCount count={counts?.byConstraint.get(id) ?? 0} isLeast={counts?.isWhole === false} />
      ),
    },
    {
      id: 'created',
      title: 'Added',
      width: 100,
      cell: ({ createdAt }) => (
        <span className="dim" title={formatTime(createdAt)}>
          {formatRelative(createdAt, Date.now())}
        </span>
      ),
    },
  ];
}

/** What can be done with a row. */
export interface ConstraintActions {
  readonly onMode: (constraint: StoredConstraint) => void;
  readonly onDelete: (constraint: StoredConstraint) => void;
}

interface ConstraintListProps {
  search: SchemaSearch;
  onSearch: (part: Partial<SchemaSearch>) => void;
  actions: ConstraintActions;
}

function useRows({ search, onSearch, actions }: ConstraintListProps) {
  const reason = useReason('updateConstraint');
  const { onMode, onDelete } = actions;
  const open = ({ id }: StoredConstraint) => onSearch({ constraint: id });
  const menu = (constraint: StoredConstraint): RowMenuGroups => [
    [
      { label: 'Edit', icon: <IconPencil {...icon} />, keys: 'Enter', onClick: () => open(constraint) },
      {
        label: constraint.mode === 'warn' ? 'Refuse violations' : 'Only list violations',
        icon: <IconShieldCheck {...icon} />,
        keys: 'M',
        reason,
        onClick: () => onMode(constraint),
      },
      {
        label: 'Its violations',
        icon: <IconAlertTriangle {...icon} />,
        onClick: () =>
          onSearch({ part: 'violations', constraint: constraint.id, predicate: undefined, kind: undefined }),
      },
    ],
    [
      {
        label: 'Delete',
        icon: <IconTrash {...icon} />,
        keys: 'Delete',
        isDangerous: true,
        reason,
        onClick: () => onDelete(constraint),
      },
    ],
  ];
  function onKey(event: KeyboardEvent, constraint: StoredConstraint): void {
    const key = rowKeyOf(event, 'constraints');
    if (key === null) return;
    if (reason !== null) notifyHint(reason);
    else if (key === 'mode') onMode(constraint);
    else onDelete(constraint);
  }
  const wanted = (search.q ?? '').trim().toLowerCase();
  const matches = ({ name, text }: StoredConstraint) => `${name} ${text}`.toLowerCase().includes(wanted);
  return { open, menu, onKey, matches };
}

/** The list of constraints. */
export function ConstraintList(props: ConstraintListProps) {
  const { search, onSearch } = props;
  const asked = useConstraints();
  const counts = useViolationCounts();
  const columns = useMemo(() => columnsOf(counts), [counts]);
  const { open, menu, onKey, matches } = useRows(props);
  const add = (
    <Permitted operation="addConstraint">
      <Button leftSection={<IconPlus size={14} aria-hidden />} onClick={() => onSearch({ constraint: '-' })}>
        New constraint
      </Button>
    </Permitted>
  );
  return (
    <PaneFrame
      scroll="own"
      label="Constraints"
      title="Constraints"
      actions={
        <>
          <TextFilter
            label="Filter constraints"
            width={200}
            value={search.q ?? ''}
            onValue={(q) => onSearch({ q: q === '' ? undefined : q })}
          />
          {add}
        </>
      }
    >
      <AnswerOrFailure asked={asked}>
        {(constraints) => {
          const listed = constraints.filter(matches);
          if (listed.length > 0)
            return (
              <ListGrid
                label="Constraints"
                columns={columns}
                rows={listed}
                isSelected={({ id }) => id === search.constraint}
                onSelect={open}
                onOpen={open}
                onKey={onKey}
                menu={menu}
              />
            );
          return constraints.length === 0 ? (
            <EmptyState
              icon={<IconShieldCheck size={30} stroke={1.3} aria-hidden />}
              title="No constraints yet"
            >
              A constraint says what must not be true: !- and a body that must have no answer. It is listed
              where it is violated, or refuses the write that would violate it.
            </EmptyState>
          ) : (
            <EmptyState
              title="No constraint matches"
              actions={
                <Button variant="default" onClick={() => onSearch({ q: undefined })}>
                  Clear the filter
                </Button>
              }
            />
          );
        }}
      </AnswerOrFailure>
    </PaneFrame>
  );
}
