/** How the window of a session would change now. */
import { Button } from '@mantine/core';
import { IconEqual, IconGitCompare, IconMinus, IconPlus } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import type { WindowDiff } from '../../../engine/contract/context.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatCount } from '../../ui/format.ts';
import { Banner, EmptyState, PaneProblem } from '../../ui/notices.tsx';
import { Running } from '../../ui/running.tsx';
import { Meter, Tag } from '../../ui/tags.tsx';
import styles from './context.module.css';
import type { SessionWork } from './use-session-work.ts';
import { atomOfEntry } from './window-rows.ts';
import { categoryWords } from './words.ts';

type Row =
  | { readonly change: 'added'; readonly atom: string; readonly entry: WindowDiff['added'][number] }
  | { readonly change: 'removed'; readonly atom: string; readonly scope: string | null };

/** Enough of a window's id to distinguish it. */
function shortId(id: string): string {
  return id.length > 10 ? `${id.slice(0, 8)}…` : id;
}

function rowsOf({ added, removed }: WindowDiff): Row[] {
  return [
    ...added.map((entry): Row => ({ change: 'added', atom: atomOfEntry(entry), entry })),
    ...removed.map((fact): Row => ({ change: 'removed', atom: atomOfEntry(fact), scope: fact.scope })),
  ];
}

const columns: Column<Row>[] = [
  {
    id: 'change',
    title: 'Change',
    width: 112,
    cell: ({ change }) => (
      <Tag tone={change === 'added' ? 'good' : 'bad'}>
        {change === 'added' ? (
          <IconPlus size={12} stroke={2.4} aria-hidden />
        ) : (
          <IconMinus size={12} stroke={2.4} aria-hidden />
        )}
        {change}
      </Tag>
    ),
  },
  {
    id: 'fact',
    title: 'Fact',
    width: 220,
    grow: 3,
    cell: ({ atom }) => <CodeLine text={atom} />,
  },
  {
    id: 'category',
    title: 'Category',
    width: 116,
    cell: (row) =>
      row.change === 'added' ? (
        <Tag tone={categoryWords[row.entry.category].tone}>{categoryWords[row.entry.category].word}</Tag>
      ) : row.scope === null ? null : (
        <span className="dim">scope {row.scope}</span>
      ),
  },
  {
    id: 'salience',
    title: 'Salience',
    width: 108,
    cell: (row) => (row.change === 'added' ? <Meter value={row.entry.salience} /> : null),
  },
];

function Found({ session, diff }: { session: string; diff: WindowDiff }) {
  const rows = useMemo(() => rowsOf(diff), [diff]);
  const [selected, setSelected] = useState<number | null>(null);
  return (
    <div className="flex-column full-height">
      {diff.fullRefreshRecommended && (
        <Banner>A full refresh is recommended{diff.reason === null ? '.' : `: ${diff.reason}`}</Banner>
      )}
      <div className={styles.filters}>
        <span role="status">
          <strong>
            {formatCount(diff.added.length)} added, {formatCount(diff.removed.length)} removed
          </strong>
          <span className="dim"> · {formatCount(diff.unchanged)} unchanged · session </span>
          <code className="mono">{session}</code>
        </span>
        <span className="rest-width" />
        <span className="dim mono truncate" title={`${diff.previousWindowId} → ${diff.currentWindowId}`}>
          {shortId(diff.previousWindowId)} → {shortId(diff.currentWindowId)}
        </span>
      </div>
      <div className="rest-height">
        {rows.length === 0 ? (
          <EmptyState icon={<IconEqual size={30} stroke={1.3} aria-hidden />} title="Nothing changed">
            The session already has the facts it would get now.
          </EmptyState>
        ) : (
          <DataGrid
            label="Changes in the session"
            columns={columns}
            count={rows.length}
            rowAt={(index) => rows[index]}
            selected={selected}
            onSelect={setSelected}
          />
        )}
      </div>
    </div>
  );
}

/** Shows the last diff of the session named in the form. */
export function SessionDiffView({ work, session }: { work: SessionWork; session: string | undefined }) {
  const { result, failure, runningSince, cancelledAfter } = work.diff;
  if (runningSince !== null)
    return <Running what="Comparing" since={runningSince} onCancel={work.cancelCompare} />;
  if (failure !== null) return <PaneProblem failure={failure} onRetry={work.compare} />;
  // A diff of another session is not shown.
  if (result === null || result.session !== session)
    return (
      <EmptyState
        icon={<IconGitCompare size={30} stroke={1.3} aria-hidden />}
        title={cancelledAfter === null ? 'Compare a session' : 'Cancelled'}
        actions={
          session === undefined ? undefined : (
            <Button variant="default" onClick={work.compare}>
              Diff
            </Button>
          )
        }
      >
        {session === undefined
          ? 'Name a session in the form: the last window of its agent is compared with the current one.'
          : `What changed since session ‘${session}’ was last given its window.`}
      </EmptyState>
    );
  return <Found session={result.session} diff={result.diff} />;
}
