/** Where inference spent its time: rules and subgoals. */
import { IconListDetails } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Trace } from '../../../engine/contract/explanation.ts';
import { CodeLine, CodeText } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatCount, formatDuration } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { RowAction } from '../../ui/row-menu.tsx';
import { rowKeyOf } from '../../ui/row-keys.ts';
import {
  type Order,
  eventPredicateOf,
  type RuleColumn,
  type RuleRow,
  sorted,
  type SubgoalKey,
  type SubgoalRow,
  toggled,
} from './trace-rows.ts';
import styles from './trace.module.css';

/** Sorting of one column for the grid. */
function sortBy<Key extends string>(
  order: Order<Key>,
  onOrder: (order: Order<Key>) => void,
  key: Key,
  isText = false,
) {
  return {
    direction: order.key === key ? order.direction : null,
    toggle: () => onOrder(toggled(order, key, isText)),
  };
}

function Count({ count, title }: { count: number; title?: string }) {
  return (
    <span className="number" title={title}>
      {formatCount(count)}
    </span>
  );
}

/** Shows a share as a bar; the number beside it says the same. */
function Share({ of, whole }: { of: number; whole: number }) {
  const width = whole === 0 ? 0 : Math.round((100 * of) / whole);
  return (
    <span className={styles.share} aria-hidden>
      <span className={styles.shareFill} style={{ width: `${width}%` }} />
    </span>
  );
}

function ruleColumns(
  order: Order<RuleColumn>,
  onOrder: (order: Order<RuleColumn>) => void,
  maxMs: number,
  onEvents: (rule: string) => void,
): Column<RuleRow>[] {
  return [
    {
      id: 'elapsedMs',
      title: 'Time',
      width: 130,
      sort: sortBy(order, onOrder, 'elapsedMs'),
      cell: (row) => (
        <span className={styles.time}>
          <Share of={row.elapsedMs} whole={maxMs} />
          <span className="number">{formatDuration(row.elapsedMs)}</span>
        </span>
      ),
    },
    {
      id: 'derived',
      title: 'New',
      width: 80,
      align: 'end',
      sort: sortBy(order, onOrder, 'derived'),
      cell: (row) => <Count count={row.derived} title="Conclusions that were new" />,
    },
    {
      id: 'fired',
      title: 'Fired',
      width: 80,
      align: 'end',
      sort: sortBy(order, onOrder, 'fired'),
      cell: (row) => <Count count={row.fired} title="How often its body was satisfied" />,
    },
    {
      id: 'rule',
      title: 'Rule',
      width: 220,
      most: 720,
      sort: sortBy(order, onOrder, 'rule', true),
      cell: (row) => <CodeLine text={row.rule} />,
    },
    {
      id: 'events',
      title: 'Events',
      width: 80,
      holds: 'controls',
      cell: (row) => (
        <RowAction
          label="Show its events (E)"
          icon={<IconListDetails size={15} aria-hidden />}
          onClick={() => onEvents(row.ruleId)}
        />
      ),
    },
  ];
}

interface RulesOfTraceProps {
  trace: Trace;
  /** Shows the events of a rule id. */
  onEvents: (rule: string) => void;
}

/** Lists the rules of a trace by time. */
export function RulesOfTrace({ trace, onEvents }: RulesOfTraceProps) {
  const navigate = useNavigate();
  const [order, setOrder] = useState<Order<RuleColumn>>({ key: 'elapsedMs', direction: 'desc' });
  const rows = useMemo(() => sorted(trace.rules, order), [trace, order]);
  if (rows.length === 0)
    return <EmptyState title="No rule took part">The question was answered from stored facts.</EmptyState>;
  const maxMs = rows.reduce((greatest, { elapsedMs }) => Math.max(greatest, elapsedMs), 0);
  return (
    <ListGrid
      label="Rules by time"
      columns={ruleColumns(order, setOrder, maxMs, onEvents)}
      rows={rows}
      onOpen={({ ruleId }) => void navigate({ to: '/rules', search: { rule: ruleId } })}
      onKey={(event, { ruleId }) => {
        if (rowKeyOf(event, 'calls') === 'events') onEvents(ruleId);
      }}
    />
  );
}

function subgoalColumns(
  order: Order<SubgoalKey>,
  onOrder: (order: Order<SubgoalKey>) => void,
  onEvents: (predicate: string) => void,
): Column<SubgoalRow>[] {
  return [
    {
      id: 'calls',
      title: 'Calls',
      width: 80,
      align: 'end',
      sort: sortBy(order, onOrder, 'calls'),
      cell: (row) => <Count count={row.calls} />,
    },
    {
      id: 'answers',
      title: 'Answers',
      width: 90,
      align: 'end',
      sort: sortBy(order, onOrder, 'answers'),
      cell: (row) => <Count count={row.answers} />,
    },
    {
      id: 'goal',
      title: 'Subgoal',
      width: 220,
      most: 720,
      sort: sortBy(order, onOrder, 'goal', true),
      cell: (row) => (
        <span title={row.goal}>
          <CodeText isLine text={row.goal} />
          {row.scope !== null && <span className="dim"> in {row.scope}</span>}
        </span>
      ),
    },
    {
      id: 'events',
      title: 'Events',
      width: 80,
      holds: 'controls',
      cell: ({ goal }) => {
        const predicate = eventPredicateOf(goal);
        return (
          predicate !== null && (
            <RowAction
              label="Show the events of its predicate (E)"
              icon={<IconListDetails size={15} aria-hidden />}
              onClick={() => onEvents(predicate)}
            />
          )
        );
      },
    },
  ];
}

interface SubgoalsOfTraceProps {
  trace: Trace;
  /** Shows the events of a predicate. */
  onEvents: (predicate: string) => void;
}

/** Lists the subgoals of a trace. */
export function SubgoalsOfTrace({ trace, onEvents }: SubgoalsOfTraceProps) {
  const navigate = useNavigate();
  const [order, setOrder] = useState<Order<SubgoalKey>>({ key: 'calls', direction: 'desc' });
  const rows = useMemo(() => sorted(trace.subgoals, order), [trace, order]);
  if (rows.length === 0)
    return <EmptyState title="No subgoals">The question needed nothing to be derived.</EmptyState>;
  return (
    <ListGrid
      label="Subgoals"
      columns={subgoalColumns(order, setOrder, onEvents)}
      rows={rows}
      onOpen={({ goal }) => void navigate({ to: '/ask', search: { question: goal } })}
      onKey={(event, { goal }) => {
        const predicate = eventPredicateOf(goal);
        if (predicate !== null && rowKeyOf(event, 'calls') === 'events') onEvents(predicate);
      }}
    />
  );
}
