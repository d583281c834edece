/** The calls of one session as a time line: when each came, how long it took, and how it ended. */
import { Select } from '@mantine/core';
import { useMemo } from 'react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { CodeLine } from '../../editor/code-text.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatDuration, formatTime } from '../../ui/format.ts';
import { ListGrid } from '../../ui/list-grid.tsx';
import styles from './agents.module.css';
import type { AgentsSearch } from './agents-search.ts';
import { OutcomeTag } from './call-detail.tsx';
import { argumentsLine } from './call-log.ts';
import { type AgentSession, durationShare, sessionsOf, spanOf, startOf } from './sessions.ts';

function sessionLabel({ client, from, calls, errors, database, tenant }: AgentSession): string {
  const failed = errors === 0 ? '' : `, ${formatAmount(errors, 'error')}`;
  return `${client} in ${database} / ${tenant}, ${formatTime(from)}: ${formatAmount(calls.length, 'call')}${failed}`;
}

/** When a call came, drawn along the session. */
function Place({ call, session }: { call: ToolCallRecord; session: AgentSession }) {
  const { start, length } = spanOf(call, session);
  return (
    <span className={styles.track} aria-hidden>
      <span
        className={call.outcome === 'ok' ? styles.span : styles.failedSpan}
        style={{ left: `${start * 100}%`, width: `max(3px, ${length * 100}%)` }}
      />
    </span>
  );
}

function columnsOf(session: AgentSession): Column<ToolCallRecord>[] {
  const longest = Math.max(...session.calls.map(({ elapsedMs }) => elapsedMs));
  return [
    {
      id: 'after',
      title: 'After',
      width: 84,
      align: 'end',
      cell: (call) => (
        <span className="number" title={formatTime(startOf(call))}>
          {startOf(call) <= session.from ? 'start' : `+${formatDuration(startOf(call) - session.from)}`}
        </span>
      ),
    },
    { id: 'tool', title: 'Tool', width: 104, cell: ({ tool }) => tool },
    {
      id: 'place',
      title: 'Time',
      width: 300,
      cell: (call) => <Place call={call} session={session} />,
    },
    {
      id: 'duration',
      title: 'Duration, logarithmic',
      width: 190,
      cell: ({ elapsedMs, outcome }) => (
        <span className={styles.duration}>
          <span className={styles.durationTrack} aria-hidden>
            <span
              className={outcome === 'ok' ? styles.durationBar : styles.failedBar}
              style={{ width: `max(2px, ${durationShare(elapsedMs, longest) * 100}%)` }}
            />
          </span>
          <span className="number">{formatDuration(elapsedMs)}</span>
        </span>
      ),
    },
    { id: 'outcome', title: 'Outcome', width: 84, cell: (call) => <OutcomeTag {...call} /> },
    {
      id: 'arguments',
      title: 'Arguments',
      width: 160,
      grow: 2,
      cell: (call) => <CodeLine text={argumentsLine(call.arguments).slice(0, 400)} />,
    },
  ];
}

interface TimeLineProps {
  /** The calls that pass the filters, newest first. */
  calls: readonly ToolCallRecord[];
  search: AgentsSearch;
  onSearch: (part: Partial<AgentsSearch>) => void;
}

/** Shows one session of an agent, chosen from those in the log, the newest at first. */
export function TimeLine({ calls, search, onSearch }: TimeLineProps) {
  const sessions = useMemo(() => sessionsOf(calls), [calls]);
  const session = sessions.find(({ id }) => id === search.session) ?? sessions[0];
  const columns = useMemo(() => (session === undefined ? [] : columnsOf(session)), [session]);
  if (session === undefined) return null;
  return (
    <div className="flex-column full-height">
      <div className={`flex-row gap-12 padded-6 ${styles.session}`}>
        <Select
          aria-label="Session"
          className="rest-width"
          allowDeselect={false}
          searchable
          data={sessions.map((each) => ({ value: each.id, label: sessionLabel(each) }))}
          value={session.id}
          onChange={(id) => onSearch({ session: id ?? undefined, call: undefined })}
        />
        <span className="dim number" role="status">
          {formatDuration(session.until - session.from)}, of which {formatDuration(session.busyMs)} in calls
        </span>
      </div>
      <div className="rest-height">
        <ListGrid
          label="Calls of the session"
          columns={columns}
          rows={session.calls}
          isSelected={({ id }) => id === search.call}
          onSelect={({ id }) => onSearch({ call: id })}
          onOpen={({ id }) => onSearch({ call: id })}
        />
      </div>
    </div>
  );
}
