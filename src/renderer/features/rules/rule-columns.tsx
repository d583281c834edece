import { ActionIcon, Menu, Switch } from '@mantine/core';
import {
  IconDots,
  IconFlask,
  IconHelpCircle,
  IconPencil,
  IconTimeline,
  IconTrash,
} from '@tabler/icons-react';
import type { StoredRule } from '../../../engine/contract/rules.ts';
import { Guarded } from '../../api/permitted.tsx';
import { CodeText } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import styles from './rules.module.css';
import { Tooltip } from '../../ui/tooltip.tsx';

/** Columns that can be sorted by. */
const ruleSortKeys = ['rule', 'name', 'scope', 'fired', 'created'] as const;
/** A column to sort by. */
type RuleSortKey = (typeof ruleSortKeys)[number];

/** Column and direction. */
export interface RuleSort {
  readonly key: RuleSortKey;
  readonly direction: 'asc' | 'desc';
}

/** Reads an order from the address: the column, with a leading minus for descending; null if invalid. */
export function ruleSortOf(text: string | undefined): RuleSort | null {
  const direction = text?.startsWith('-') === true ? 'desc' : 'asc';
  const key = ruleSortKeys.find((each) => each === text?.replace(/^-/, ''));
  return key === undefined ? null : { key, direction };
}

/**
 * Returns the address parameter after a click on a column header: first direction, second direction, then unsorted.
 * Counts and times start descending.
 */
export function nextRuleSort(current: RuleSort | null, key: RuleSortKey): string | undefined {
  const first = key === 'fired' || key === 'created' ? 'desc' : 'asc';
  if (current?.key !== key) return first === 'desc' ? `-${key}` : key;
  if (current.direction !== first) return undefined;
  return first === 'desc' ? key : `-${key}`;
}

const collator = new Intl.Collator('en', { numeric: true });

/** Missing text is last in either direction. */
function compareTexts(left: string | null, right: string | null, sign: number): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null);
  return sign * collator.compare(left, right);
}

function compareBy(key: RuleSortKey, sign: number): (left: StoredRule, right: StoredRule) => number {
  switch (key) {
    case 'rule':
      return (left, right) => compareTexts(left.text, right.text, sign);
    case 'name':
      return (left, right) => compareTexts(left.name, right.name, sign);
    case 'scope':
      return (left, right) => compareTexts(left.scope, right.scope, sign);
    case 'fired':
      return (left, right) => sign * (left.fired - right.fired);
    case 'created':
      return (left, right) => sign * (left.createdAt - right.createdAt);
  }
}

/** Returns the rules in that order; the sort is stable. */
export function rulesInOrder(rules: readonly StoredRule[], sort: RuleSort | null): readonly StoredRule[] {
  if (sort === null) return rules;
  return [...rules].sort(compareBy(sort.key, sort.direction === 'asc' ? 1 : -1));
}

/** The columns of the rule list that can be hidden, with their titles. */
export const choosableRuleColumns = {
  name: 'Name',
  scope: 'Scope',
  fired: 'Fired',
  created: 'Taught',
} as const;

type ChoosableRuleColumn = keyof typeof choosableRuleColumns;

/** Their ids, in order. */
export const choosableRuleIds = Object.keys(choosableRuleColumns) as ChoosableRuleColumn[];

/** The columns in which a rule is not as almost all are: without a name, without a scope. */
export function differingRuleColumns(rules: readonly StoredRule[]): Set<ChoosableRuleColumn> {
  const found = new Set<ChoosableRuleColumn>(['fired', 'created']);
  for (const { name, scope } of rules) {
    if (name !== null) found.add('name');
    if (scope !== null) found.add('scope');
  }
  return found;
}

/** The column that can be hidden and that the rules are sorted by; null: none. */
export function sortedRuleColumn(sort: RuleSort | null): ChoosableRuleColumn | null {
  return choosableRuleIds.find((id) => id === sort?.key) ?? null;
}

/** Actions of a rule's row. */
export interface RuleActions {
  /** Why rules cannot be changed; null if they can. */
  readonly reason: string | null;
  readonly onToggle: (rule: StoredRule) => void;
  readonly onEdit: (rule: StoredRule) => void;
  readonly onDelete: (rule: StoredRule) => void;
  /** Opens What-if without the rule or, if it is disabled, with it. */
  readonly onWhatIf: (rule: StoredRule) => void;
  /** Opens Why-not for a conclusion of the rule. */
  readonly onWhyNot: (rule: StoredRule) => void;
  /** Opens the trace of the rule's conclusions. */
  readonly onTrace: (rule: StoredRule) => void;
}

const describingColumns: readonly Column<StoredRule>[] = [
  {
    id: 'rule',
    title: 'Rule',
    width: 320,
    most: 960,
    cell: (rule) => (
      <span title={rule.text} className={rule.enabled ? '' : styles.disabled}>
        <CodeText isLine text={rule.text} />
      </span>
    ),
  },
  {
    id: 'name',
    title: 'Name',
    width: 140,
    most: 320,
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

/** Makes a column sortable. */
function sortable(
  column: Column<StoredRule>,
  sort: RuleSort | null,
  onSort: (sort: string | undefined) => void,
): Column<StoredRule> {
  const key = ruleSortKeys.find((each) => each === column.id);
  if (key === undefined) return column;
  const direction = sort?.key === key ? sort.direction : null;
  return { ...column, sort: { direction, toggle: () => onSort(nextRuleSort(sort, key)) } };
}

function MoreMenu({ rule, actions }: { rule: StoredRule; actions: RuleActions }) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Tooltip label="More">
          <ActionIcon size={24} tabIndex={-1} aria-label={`More for ${rule.text}`}>
            <IconDots size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconFlask size={15} aria-hidden />} onClick={() => actions.onWhatIf(rule)}>
          {rule.enabled ? 'What if it were left out' : 'What if it were on'}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconHelpCircle size={15} aria-hidden />}
          onClick={() => actions.onWhyNot(rule)}
        >
          Why does it not conclude…
        </Menu.Item>
        <Menu.Item leftSection={<IconTimeline size={15} aria-hidden />} onClick={() => actions.onTrace(rule)}>
          Trace what it concludes
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** Returns the columns of the rule list; `shown`: those of the columns that can be hidden. By keyboard E toggles, W opens What-if, Enter edits, Delete deletes. */
export function ruleColumns(
  actions: RuleActions,
  sort: RuleSort | null,
  onSort: (sort: string | undefined) => void,
  shown: readonly string[],
): Column<StoredRule>[] {
  const { reason, onToggle, onEdit, onDelete } = actions;
  return [
    {
      id: 'enabled',
      title: 'On',
      width: 60,
      holds: 'controls',
      cell: (rule) => (
        <Switch
          tabIndex={-1}
          aria-label={`Enabled: ${rule.text}`}
          checked={rule.enabled}
          disabled={reason !== null}
          {...(reason === null ? {} : { title: reason })}
          onChange={() => onToggle(rule)}
        />
      ),
    },
    ...describingColumns
      .filter(({ id }) => !Object.hasOwn(choosableRuleColumns, id) || shown.includes(id))
      .map((column) => sortable(column, sort, onSort)),
    {
      id: 'actions',
      title: 'Actions',
      width: 108,
      holds: 'controls',
      cell: (rule) => (
        <>
          <Tooltip label="Edit">
            <ActionIcon size={24} tabIndex={-1} aria-label={`Edit ${rule.text}`} onClick={() => onEdit(rule)}>
              <IconPencil size={15} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Guarded reason={reason}>
            <ActionIcon
              size={24}
              tabIndex={-1}
              aria-label={`Delete ${rule.text}`}
              title="Delete"
              onClick={() => onDelete(rule)}
            >
              <IconTrash size={15} aria-hidden />
            </ActionIcon>
          </Guarded>
          <MoreMenu rule={rule} actions={actions} />
        </>
      ),
    },
  ];
}
