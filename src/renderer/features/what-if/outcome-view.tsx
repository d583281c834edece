import { Anchor, Switch } from '@mantine/core';
import { IconEqual } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import type { WhatIfResult } from '../../../engine/contract/explanation.ts';
import { CodeLine, CodeText } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { ChangeTag } from '../../ui/tags.tsx';
import { VirtualList } from '../../ui/virtual-list.tsx';

/** The outcome of a goal. */
type GoalOutcome = WhatIfResult['goals'][number];

/** A line. */
interface OutcomeRow {
  readonly change: 'gained' | 'lost' | 'unchanged';
  readonly atom: string;
  readonly goal: string;
}

/** Returns how many conclusions the changes add and remove; one shown by several goals counts once. */
export function totalsOf(goals: readonly GoalOutcome[]): { gained: number; lost: number } {
  return {
    gained: new Set(goals.flatMap(({ gained }) => gained)).size,
    lost: new Set(goals.flatMap(({ lost }) => lost)).size,
  };
}

/** Returns the lines of the goals: lost, gained, then, if wanted, unchanged, each in order. */
export function outcomeRowsOf(goals: readonly GoalOutcome[], withUnchanged: boolean): OutcomeRow[] {
  const rows: OutcomeRow[] = [];
  for (const { goal, before, after, gained, lost } of goals) {
    for (const atom of lost) rows.push({ change: 'lost', atom, goal });
    for (const atom of gained) rows.push({ change: 'gained', atom, goal });
    if (!withUnchanged) continue;
    const stays = new Set(after);
    for (const atom of before) if (stays.has(atom)) rows.push({ change: 'unchanged', atom, goal });
  }
  return rows;
}

/** Links a line to its explanation in the current knowledge. */
function NowLink({ row }: { row: OutcomeRow }) {
  const holdsNow = row.change !== 'gained';
  return (
    <Anchor
      size="xs"
      tabIndex={-1}
      aria-label={`${holdsNow ? 'Why' : 'Why not'} ${row.atom}`}
      renderRoot={(props) => (
        <Link to={holdsNow ? '/proof' : '/why-not'} search={{ question: row.atom }} {...props} />
      )}
    >
      {holdsNow ? 'Why' : 'Why not'}
    </Anchor>
  );
}

const changeColumn: Column<OutcomeRow> = {
  id: 'change',
  title: 'Change',
  width: 96,
  cell: ({ change }) => <ChangeTag change={change} />,
};

const atomColumn: Column<OutcomeRow> = {
  id: 'atom',
  title: 'Conclusion',
  width: 220,
  most: 720,
  cell: ({ atom }) => <CodeLine text={atom} />,
};

const nowColumn: Column<OutcomeRow> = {
  id: 'now',
  title: 'Now',
  width: 74,
  cell: (row) => <NowLink row={row} />,
};

function Changed({ rows }: { rows: readonly OutcomeRow[] }) {
  return <ListGrid label="What would change" columns={[changeColumn, atomColumn, nowColumn]} rows={rows} />;
}

function countsInWords({ before, after, gained, lost }: GoalOutcome): string {
  const isSame = gained.length + lost.length === 0 && before.length === after.length;
  const change = isSame ? 'no change' : '';
  const parts = [
    lost.length > 0 ? `−${formatCount(lost.length)}` : '',
    gained.length > 0 ? `+${formatCount(gained.length)}` : '',
    change,
    `${formatCount(before.length)} → ${formatCount(after.length)}`,
  ];
  return parts.filter((part) => part !== '').join(' · ');
}

interface GoalsProps {
  goals: readonly GoalOutcome[];
  /** Index of the selected goal; null for all. */
  chosen: number | null;
  onChoose: (index: number | null) => void;
}

function Goals({ goals, chosen, onChoose }: GoalsProps) {
  return (
    <PaneFrame title="Looked at" tone="panel" scroll="own" label="Looked at">
      <VirtualList
        label="What was looked at"
        count={goals.length + 1}
        selected={chosen === null ? 0 : chosen + 1}
        onSelect={(index) => onChoose(index === 0 ? null : index - 1)}
        render={(index) => {
          const goal = goals[index - 1];
          if (goal === undefined) return <span>Everything</span>;
          return (
            <>
              <span className="truncate rest-width" title={goal.goal}>
                <CodeText isLine text={goal.goal} />
              </span>
              <span className="dim number fixed-size no-wrap">{countsInWords(goal)}</span>
            </>
          );
        }}
      />
    </PaneFrame>
  );
}

function asText(rows: readonly OutcomeRow[]): string {
  const signs = { gained: '+', lost: '-', unchanged: '=' } as const;
  return rows.map(({ change, atom }) => `${signs[change]} ${atom}`).join('\n');
}

/** Shown if nothing changes besides the changes themselves, which are not conclusions. */
function NothingChanges({ goals }: { goals: readonly GoalOutcome[] }) {
  const hasGoals = goals.length > 0;
  if (goals.some(({ before, after }) => before.join('\n') !== after.join('\n')))
    return (
      <EmptyState icon={<IconEqual size={30} stroke={1.3} aria-hidden />} title="Nothing else would change">
        Beside the facts of the changes themselves, the same holds as without them.
      </EmptyState>
    );
  return (
    <EmptyState icon={<IconEqual size={30} stroke={1.3} aria-hidden />} title="Nothing would change">
      {hasGoals
        ? 'With these changes the same conclusions hold as without them.'
        : 'The changes reach no conclusion and no stored fact.'}
    </EmptyState>
  );
}

interface OutcomeBarProps {
  goals: readonly GoalOutcome[];
  withUnchanged: boolean;
  onUnchanged: (withUnchanged: boolean) => void;
  text: () => string;
  children: ReactNode;
}

function OutcomeFrame({ goals, withUnchanged, onUnchanged, text, children }: OutcomeBarProps) {
  const { gained, lost } = useMemo(() => totalsOf(goals), [goals]);
  const [only] = goals;
  return (
    <PaneFrame
      scroll="own"
      label="Outcome"
      title={
        <span role="status" className="no-wrap">
          <strong>
            {formatAmount(gained, 'conclusion')} gained, {formatCount(lost)} lost
          </strong>
          {only !== undefined && goals.length === 1 && (
            <span className="dim number">
              {' '}
              · {formatCount(only.before.length)} → {formatCount(only.after.length)}
            </span>
          )}
        </span>
      }
      actions={
        <>
          <Switch
            label="Show what stays"
            checked={withUnchanged}
            onChange={(event) => onUnchanged(event.currentTarget.checked)}
          />
          <CopyButton label="Copy as text" text={text} />
        </>
      }
    >
      {children}
    </PaneFrame>
  );
}

/** Shows how many conclusions each goal gains and loses, and which. */
export function OutcomeView({ result }: { result: WhatIfResult }) {
  const { goals } = result;
  const [chosen, setChosen] = useState<number | null>(null);
  const [withUnchanged, setWithUnchanged] = useState(false);
  const shown = useMemo(() => {
    const goal = chosen === null ? undefined : goals[chosen];
    return outcomeRowsOf(goal === undefined ? goals : [goal], withUnchanged);
  }, [goals, chosen, withUnchanged]);
  const outcome = (
    <OutcomeFrame
      goals={goals}
      withUnchanged={withUnchanged}
      onUnchanged={setWithUnchanged}
      text={() => asText(shown)}
    >
      {shown.length === 0 ? (
        <NothingChanges goals={goals} />
      ) : (
        <Changed key={`${chosen ?? 'all'} ${withUnchanged}`} rows={shown} />
      )}
    </OutcomeFrame>
  );
  if (goals.length < 2) return outcome;
  const list = <Goals goals={goals} chosen={chosen} onChoose={setChosen} />;
  const panes: Pane[] = [
    { id: 'goals', size: '30%', least: '92px', content: list },
    { id: 'rows', least: '160px', content: outcome },
  ];
  return <Split id="what-if-outcome" orientation="vertical" label="Resize" panes={panes} />;
}
