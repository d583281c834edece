/** The columns of the list of rules. */
import { ActionIcon, Switch, Tooltip } from '@mantine/core';
import { IconPencil, IconTrash } from '@tabler/icons-react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { CodeText } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import styles from './rules.module.css';

export interface RuleActions {
  readonly onToggle: (rule: StoredRule) => void;
  readonly onEdit: (rule: StoredRule) => void;
  readonly onDelete: (rule: StoredRule) => void;
}

const ruleColumn: Column<StoredRule> = {
  id: 'rule',
  title: 'Rule',
  width: 320,
  grow: 3,
  cell: (rule) => (
    <span title={rule.text} className={rule.enabled ? '' : styles.disabled}>
      <CodeText isLine text={rule.text} />
    </span>
  ),
};

const describingColumns: readonly Column<StoredRule>[] = [
  {
    id: 'name',
    title: 'Name',
    width: 140,
    grow: 1,
    cell: (rule) => <span title={rule.description ?? undefined}>{rule.name}</span>,
  },
  {
    id: 'scope',
    title: 'Scope',
    width: 90,
    cell: (rule) => (rule.scope === null ? <span className="dim">none</span> : rule.scope),
  },
  {
    id: 'fired',
    title: 'Fired',
    width: 80,
    align: 'end',
    cell: (rule) => (
      <span
        className="number"
        title={`Drew ${formatAmount(rule.fired, 'conclusion')} since the service started`}
      >
        {formatCount(rule.fired)}
      </span>
    ),
  },
  {
    id: 'created',
    title: 'Taught',
    width: 110,
    cell: (rule) => (
      <span className="dim" title={formatTime(rule.createdAt)}>
        {formatRelative(rule.createdAt, Date.now())}
      </span>
    ),
  },
];

/** The keyboard does the same on the row: E switches on and off, Enter edits, Delete deletes. */
export function ruleColumns({ onToggle, onEdit, onDelete }: RuleActions): Column<StoredRule>[] {
  return [
    {
      id: 'enabled',
      title: 'On',
      width: 60,
      cell: (rule) => (
        <Switch
          tabIndex={-1}
          aria-label={`Enabled: ${rule.text}`}
          checked={rule.enabled}
          onChange={() => onToggle(rule)}
        />
      ),
    },
    ruleColumn,
    ...describingColumns,
    {
      id: 'actions',
      title: 'Actions',
      width: 84,
      cell: (rule) => (
        <>
          <Tooltip label="Edit">
            <ActionIcon size={24} tabIndex={-1} aria-label={`Edit ${rule.text}`} onClick={() => onEdit(rule)}>
              <IconPencil size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Delete">
            <ActionIcon
              size={24}
              tabIndex={-1}
              aria-label={`Delete ${rule.text}`}
              onClick={() => onDelete(rule)}
            >
              <IconTrash size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
        </>
      ),
    },
  ];
}
