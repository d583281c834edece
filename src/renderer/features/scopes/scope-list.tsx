import { ActionIcon, Button, Loader } from '@mantine/core';
import { IconGitFork, IconStack2, IconTrash } from '@tabler/icons-react';
import { type KeyboardEvent, useMemo } from 'react';
import { Permitted } from '../../api/permitted.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useRules } from '../../api/queries.ts';
import { useReason } from '../../api/rights.ts';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { notifyHint } from '../../ui/notify.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import type { RowMenuGroups } from '../../ui/row-menu.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import { Tag } from '../../ui/tags.tsx';
import type { ScopeRow } from './scope-dialogs.tsx';
import { type ScopesSearch, type Side, sideLabel, sideOf } from './scopes-search.ts';
import { useScopeList, useUnscopedFacts } from './use-comparison.ts';
import styles from './scopes.module.css';

/** A scope, or the unscoped facts, which always exist and can be compared and forked too. */
interface Row {
  readonly side: Side;
  /** null while unknown. */
  readonly facts: number | null;
  readonly rules: number | null;
  readonly stored: ScopeRow | null;
}

/** Role of a side in a comparison. */
type MergeRole = 'source' | 'target' | 'base';

interface ListActions {
  readonly onRole: (side: Side, role: MergeRole) => void;
  readonly onFork: (side: Side) => void;
  readonly onDelete: (scope: ScopeRow) => void;
}

function Amount({ amount }: { amount: number | null }) {
  return amount === null ? (
    <span className="dim">–</span>
  ) : (
    <span className="number">{formatCount(amount)}</span>
  );
}

const plainColumns: readonly Column<Row>[] = [
  {
    id: 'name',
    title: 'Scope',
    width: 180,
    most: 480,
    cell: ({ side }) =>
      side === null ? <span className="dim">{sideLabel(side)}</span> : <span title={side}>{side}</span>,
  },
  { id: 'facts', title: 'Facts', width: 90, align: 'end', cell: ({ facts }) => <Amount amount={facts} /> },
  { id: 'rules', title: 'Rules', width: 80, align: 'end', cell: ({ rules }) => <Amount amount={rules} /> },
  {
    id: 'created',
    title: 'Created',
    width: 120,
    cell: ({ stored }) =>
      stored === null ? null : (
        <span className="dim" title={formatTime(stored.createdAt)}>
          {formatRelative(stored.createdAt, Date.now())}
        </span>
      ),
  },
  {
    id: 'forkedFrom',
    title: 'Forked from',
    width: 130,
    most: 320,
    cell: ({ stored }) =>
      stored === null || stored.forkedFrom === null ? null : (
        <span className="dim" title={stored.forkedFrom}>
          {stored.forkedFrom}
        </span>
      ),
  },
];

function roleOf(side: Side, { source, target, base }: ScopesSearch): MergeRole | null {
  if (source !== undefined && sideOf(source) === side) return 'source';
  if (target !== undefined && sideOf(target) === side) return 'target';
  return side !== null && base === side ? 'base' : null;
}

/** The labels of the pickers. */
const roleNames = { source: 'From', target: 'Into' } as const;

function RoleButtons({
  row,
  search,
  onRole,
}: { row: Row; search: ScopesSearch } & Pick<ListActions, 'onRole'>) {
  const role = roleOf(row.side, search);
  const name = sideLabel(row.side);
  return (
    <span className={styles.roles}>
      {(['source', 'target'] as const).map((one) => (
        <button
          key={one}
          type="button"
          tabIndex={-1}
          className={`truncate ${styles.toggle}`}
          aria-pressed={role === one}
          aria-label={`${roleNames[one]}: ${name}`}
          onClick={(event) => {
            event.stopPropagation();
            onRole(row.side, one);
          }}
        >
          {roleNames[one]}
        </button>
      ))}
      {role === 'base' && <Tag>base</Tag>}
    </span>
  );
}

/** The columns. By keyboard S, T and B select, F forks, Delete deletes. */
function columnsOf(search: ScopesSearch, actions: ListActions): Column<Row>[] {
  const { onRole, onFork, onDelete } = actions;
  return [
    ...plainColumns,
    {
      id: 'role',
      title: 'Compare',
      width: 178,
      holds: 'controls',
      cell: (row) => <RoleButtons row={row} search={search} onRole={onRole} />,
    },
    {
      id: 'actions',
      title: 'Actions',
      width: 84,
      holds: 'controls',
      cell: ({ side, stored }) => (
        <>
          <Permitted operation="forkScope">
            <ActionIcon
              size={24}
              tabIndex={-1}
              aria-label={`Fork ${sideLabel(side)}`}
              title="Fork"
              onClick={() => onFork(side)}
            >
              <IconGitFork size={15} aria-hidden />
            </ActionIcon>
          </Permitted>
          {stored !== null && (
            <Permitted operation="deleteScope">
              <ActionIcon
                size={24}
                tabIndex={-1}
                aria-label={`Delete ${stored.name}`}
                title="Delete"
                onClick={() => onDelete(stored)}
              >
                <IconTrash size={15} aria-hidden />
              </ActionIcon>
            </Permitted>
          )}
        </>
      ),
    },
  ];
}

function Rows({ rows, search, ...actions }: { rows: readonly Row[]; search: ScopesSearch } & ListActions) {
  const reason = useReason('forkScope');

  function withReason(act: () => void): void {
    if (reason === null) act();
    else notifyHint(reason);
  }

  function onKey(event: KeyboardEvent, { side, stored }: Row): void {
    const key = rowKeyOf(event, 'scopes');
    if (key === null) return;
    event.preventDefault();
    if (key === 'fork') withReason(() => actions.onFork(side));
    else if (key !== 'remove') actions.onRole(side, key);
    else if (stored !== null) withReason(() => actions.onDelete(stored));
  }

  return (
    <ListGrid
      label="Scopes"
      columns={columnsOf(search, actions)}
      rows={rows}
      onKey={onKey}
      menu={(row) => scopeMenu(row, actions, reason)}
    />
  );
}

/** Returns the row menu of a scope. */
function scopeMenu({ side, stored }: Row, actions: ListActions, reason: string | null): RowMenuGroups {
  const icon = { size: 15, 'aria-hidden': true } as const;
  const { onRole, onFork, onDelete } = actions;
  return [
    [
      { label: 'Merge from it', keys: 'S', onClick: () => onRole(side, 'source') },
      { label: 'Merge into it', keys: 'T', onClick: () => onRole(side, 'target') },
      { label: 'Take it as the base of both', keys: 'B', onClick: () => onRole(side, 'base') },
    ],
    [{ label: 'Fork…', icon: <IconGitFork {...icon} />, keys: 'F', reason, onClick: () => onFork(side) }],
    stored === null
      ? []
      : [
          {
            label: 'Delete…',
            icon: <IconTrash {...icon} />,
            keys: 'Delete',
            isDangerous: true,
            reason,
            onClick: () => onDelete(stored),
          },
        ],
  ];
}

function useRows(): { rows: Row[] | null; error: Error | null; refetch: () => void } {
  const { data, error, refetch } = useScopeList();
  const unscopedFacts = useUnscopedFacts().data ?? null;
  const unscopedRules = useRules().data?.filter(({ scope }) => scope === null).length ?? null;
  const rows = useMemo(() => {
    if (data === undefined) return null;
    return [
      { side: null, facts: unscopedFacts, rules: unscopedRules, stored: null },
      ...data.map((stored) => ({ side: stored.name, facts: stored.facts, rules: stored.rules, stored })),
    ];
  }, [data, unscopedFacts, unscopedRules]);
  return { rows, error: data === undefined ? error : null, refetch: () => void refetch() };
}

/** Lists all scopes with counts and actions. */
export function ScopeListPane({ search, ...actions }: { search: ScopesSearch } & ListActions) {
  const { rows, error, refetch } = useRows();
  return (
    <PaneFrame
      scroll="own"
      label="Scopes"
      title={<h1 className="pane-title">Scopes</h1>}
      actions={
        <>
          <span className="dim number" role="status">
            {rows === null ? '' : formatAmount(rows.length - 1, 'scope')}
          </span>
          <Permitted operation="forkScope">
            <Button
              leftSection={<IconGitFork size={14} aria-hidden />}
              onClick={() => actions.onFork(sideOf(search.source) ?? null)}
            >
              Fork…
            </Button>
          </Permitted>
        </>
      }
    >
      {error !== null ? (
        <div className="padded">
          <ProblemNotice failure={apiFailureOf(error)} onRetry={refetch} />
        </div>
      ) : rows === null ? (
        <Loader size={16} className={styles.loading} role="status" aria-label="Loading scopes" />
      ) : rows.length === 1 && rows[0]?.facts === 0 ? (
        <EmptyState icon={<IconStack2 size={30} stroke={1.3} aria-hidden />} title="No scopes yet">
          A scope is a variant of the knowledge with facts and rules of its own. Assert a fact in one, or fork
          what is there.
        </EmptyState>
      ) : (
        <Rows rows={rows} search={search} {...actions} />
      )}
    </PaneFrame>
  );
}
