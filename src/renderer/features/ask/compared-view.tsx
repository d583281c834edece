/** Two runs compared: the answers added and removed, and on demand those that stay. */
import { Button, Switch } from '@mantine/core';
import { IconArrowsDiff, IconEqual, IconMinus, IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { CodeLine } from '../../editor/code-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { PaneFrame } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import type { ShownAnswer } from './answer.ts';
import styles from './ask.module.css';
import {
  type AnswerChange,
  type ComparedAnswer,
  compareRuns,
  type RunComparison,
  runDifferencesOf,
} from './compare-runs.ts';
import { runWords } from './run-actions.tsx';

const looks = {
  added: { tone: 'good', icon: <IconPlus size={12} stroke={2.4} aria-hidden /> },
  removed: { tone: 'bad', icon: <IconMinus size={12} stroke={2.4} aria-hidden /> },
  stays: { tone: 'plain', icon: <IconEqual size={12} aria-hidden /> },
} as const;

function ChangeOfRow({ change }: { change: AnswerChange }) {
  const { tone, icon } = looks[change];
  return (
    <Tag tone={tone}>
      {icon}
      {change}
    </Tag>
  );
}

interface Ways {
  onWhy: (result: string) => void;
  onWhyNot: (question: string) => void;
}

function columnsOf(variables: readonly string[], { onWhy, onWhyNot }: Ways): Column<ComparedAnswer>[] {
  const values: Column<ComparedAnswer>[] =
    variables.length === 0
      ? [
          {
            id: 'answer',
            title: 'Answer',
            width: 240,
            most: 720,
            cell: (row) => <CodeLine text={row.result} />,
          },
        ]
      : variables.map((name) => ({
          id: name,
          title: `?${name}`,
          width: 130,
          most: 320,
          cell: (row) => (
            <span className="mono" title={row.bindings[name]}>
              {row.bindings[name]}
            </span>
          ),
        }));
  return [
    { id: 'change', title: 'Change', width: 104, cell: ({ change }) => <ChangeOfRow change={change} /> },
    ...values,
    {
      id: 'why',
      title: 'Proof',
      width: 84,
      holds: 'controls',
      cell: ({ change, result }) => {
        const isGone = change === 'removed';
        return (
          <Button
            size="compact-xs"
            variant="subtle"
            tabIndex={-1}
            aria-label={`${isGone ? 'Why not' : 'Why'} ${result}`}
            onClick={() => (isGone ? onWhyNot : onWhy)(result)}
          >
            {isGone ? 'Why not' : 'Why'}
          </Button>
        );
      },
    },
  ];
}

/** The variables of both; none if they differ: then whole answers are shown. */
function sharedVariables(before: ShownAnswer, after: ShownAnswer): readonly string[] {
  const { variables } = after.question;
  return before.question.variables.join(' ') === variables.join(' ') ? variables : [];
}

function signOf(change: AnswerChange): string {
  return change === 'added' ? '+' : change === 'removed' ? '-' : ' ';
}

interface Two {
  before: ShownAnswer;
  after: ShownAnswer;
}

function Summary({
  compared,
  before,
  after,
  isNarrow,
}: Two & { compared: RunComparison; isNarrow: boolean }) {
  const isOfOther = before.generation !== after.generation && !isNarrow;
  return (
    <span className={`flex-row gap-4 ${styles.summary}`} role="status">
      <IconArrowsDiff size={15} aria-hidden />
      <strong>
        {formatCount(compared.added)} added, {formatCount(compared.removed)} removed
      </strong>
      <span className="dim number"> · {formatAmount(compared.stays, 'stays', 'stay')}</span>
      {isOfOther && before.generation !== null && after.generation !== null && (
        <span className="dim number">
          {' '}
          · generation {formatCount(before.generation)} to {formatCount(after.generation)}
        </span>
      )}
    </span>
  );
}

/** What the user needs to know about the two runs to interpret their difference. */
function AboutRuns({ before, after }: Two) {
  const differences = runDifferencesOf(before, after);
  const maxLength = Math.max(before.results.length, after.results.length);
  return (
    <p className={`dim no-margin padded-6 line-below ${styles.about}`}>
      Compared with: {runWords(before, Date.now())}
      {differences.length > 0 && `; ${differences.join(', ')}`}.
      {(before.truncated || after.truncated) &&
        ` Only the first ${formatAmount(maxLength, 'answer')} are compared.`}
    </p>
  );
}

function ComparedGrid({ rows, before, after, ways }: Two & { rows: readonly ComparedAnswer[]; ways: Ways }) {
  if (rows.length === 0)
    return (
      <EmptyState icon={<IconEqual size={30} stroke={1.3} aria-hidden />} title="The same answers">
        Nothing was added or removed between the two runs.
      </EmptyState>
    );
  return (
    <ListGrid
      label="Compared answers"
      columns={columnsOf(sharedVariables(before, after), ways)}
      rows={rows}
      onOpen={({ change, result }) => (change === 'removed' ? ways.onWhyNot : ways.onWhy)(result)}
    />
  );
}

interface ComparedViewProps extends Two, Ways {
  /** True if a pane is open beside the answers. */
  isNarrow: boolean;
  onStop: () => void;
}

/** Shows the difference of two runs as a grid. */
export function ComparedView({ before, after, isNarrow, onStop, onWhy, onWhyNot }: ComparedViewProps) {
  const [showsAll, setShowsAll] = useState(false);
  const compared = useMemo(() => compareRuns(before, after), [before, after]);
  const rows = useMemo(
    () => (showsAll ? compared.rows : compared.rows.filter(({ change }) => change !== 'stays')),
    [compared, showsAll],
  );
  return (
    <PaneFrame
      scroll="own"
      label="Compared answers"
      title={<Summary compared={compared} before={before} after={after} isNarrow={isNarrow} />}
      actions={
        <>
          <Switch
            label={isNarrow ? 'All' : 'Show what stays'}
            aria-label="Show what stays"
            checked={showsAll}
            onChange={(event) => setShowsAll(event.currentTarget.checked)}
          />
          <CopyButton
            label="Copy the difference"
            text={() => rows.map(({ change, result }) => `${signOf(change)} ${result}`).join('\n')}
          />
          <Button variant="default" aria-label="Stop comparing" onClick={onStop}>
            {isNarrow ? 'Stop' : 'Stop comparing'}
          </Button>
        </>
      }
    >
      <div className="flex-column full-height">
        <AboutRuns before={before} after={after} />
        <div className="rest-height">
          <ComparedGrid rows={rows} before={before} after={after} ways={{ onWhy, onWhyNot }} />
        </div>
      </div>
    </PaneFrame>
  );
}
