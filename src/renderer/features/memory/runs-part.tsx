import { IconHistory } from '@tabler/icons-react';
import { useState } from 'react';
import { useSession } from '../../api/session.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import { EmptyState } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, Split } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import { AtomList } from './measured.tsx';
import { Histogram, SalienceAxis } from './histogram.tsx';
import { type MemoryMoment, type MemoryRun, useMemoryRuns } from './memory-runs.ts';
import styles from './memory.module.css';

const kindWords = { decay: 'eviction', consolidate: 'consolidation', restore: 'restoring' } as const;

function columnsOf(): Column<MemoryRun>[] {
  const now = Date.now();
  return [
    {
      id: 'when',
      title: 'When',
      width: 96,
      cell: ({ at }) => <span title={formatTime(at)}>{formatRelative(at, now)}</span>,
    },
    { id: 'kind', title: 'Run', width: 112, cell: ({ kind }) => <Tag>{kindWords[kind]}</Tag> },
    {
      id: 'facts',
      title: 'Facts',
      width: 130,
      cell: ({ before, after }) => (
        <span className="number">
          {formatCount(before.facts)} → {after === null ? 'unknown' : formatCount(after.facts)}
        </span>
      ),
    },
    {
      id: 'outcome',
      title: 'Outcome',
      width: 200,
      most: 720,
      cell: ({ outcome }) => <span title={outcome}>{outcome}</span>,
    },
    { id: 'where', title: 'Scope', width: 100, cell: ({ where }) => where },
  ];
}

function Moment({ title, moment }: { title: string; moment: MemoryMoment }) {
  return (
    <div className={styles.moment}>
      <h3>
        {title} <span className="dim number">{formatAmount(moment.facts, 'fact')}</span>
      </h3>
      <Histogram
        look="small"
        histogram={moment.histogram}
        threshold={null}
        label={`${title}: salience of ${formatAmount(moment.facts, 'fact')}`}
      />
      <SalienceAxis />
    </div>
  );
}

function RunDetail({ run }: { run: MemoryRun }) {
  const { before, after, list, atoms, atomCount } = run;
  return (
    <PaneFrame scroll="own" tone="panel" label="Run" title={`Run ${run.number}`}>
      <div className="flex-column full-height">
        <div className="flex-column gap-12 fixed-size padded-8 line-below">
          <Moment title="Before" moment={before} />
          {after === null ? (
            <p className="dim">The figures afterwards could not be read.</p>
          ) : (
            <Moment title="After" moment={after} />
          )}
        </div>
        <div className={styles.toolbar}>
          <span className="dim">
            {list}: {formatAmount(atomCount, 'fact')}
            {atomCount > atoms.length && `, of which the first ${formatCount(atoms.length)} are kept here`}
          </span>
        </div>
        <div className="rest-height">
          <AtomList key={run.number} label={`${list} facts`} atoms={atoms} />
        </div>
      </div>
    </PaneFrame>
  );
}

/** Shows the runs of this window with the memory before and after each. */
export function RunsPart() {
  const { database, tenant } = useSession().space;
  const all = useMemoryRuns(({ runs }) => runs);
  const runs = all.filter((run) => run.database === database && run.tenant === tenant);
  const [chosen, setChosen] = useState<number | null>(null);
  if (runs.length === 0)
    return (
      <EmptyState icon={<IconHistory size={30} stroke={1.3} aria-hidden />} title="No runs yet">
        What you evict, consolidate and restore is listed here with the memory before and after it, until this
        window is closed.
      </EmptyState>
    );
  const shown = runs.find(({ number }) => number === chosen) ?? runs[0];
  const list = (
    <ListGrid
      label="Runs"
      columns={columnsOf()}
      rows={runs}
      isSelected={(run) => run === shown}
      onSelect={({ number }) => setChosen(number)}
    />
  );
  const panes: Pane[] = [
    { id: 'runs', least: '280px', content: list },
    {
      id: 'run',
      size: '40%',
      least: '200px',
      content: shown === undefined ? null : <RunDetail run={shown} />,
    },
  ];
  return <Split id="memory-runs" orientation="horizontal" label="Resize" panes={panes} />;
}
