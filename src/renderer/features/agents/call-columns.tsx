/** The columns of the log of calls. */
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { Tag } from '../../ui/tags.tsx';
import { argumentsLine, clientNameOf } from './call-log.ts';

const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/** No window is wide enough for longer lines. */
const maxLineLength = 400;

/** A tag for the outcome of a call. */
export function OutcomeTag({ outcome }: Pick<ToolCallRecord, 'outcome'>) {
  return outcome === 'ok' ? (
    <Tag tone="good">
      <IconCheck size={11} aria-hidden /> ok
    </Tag>
  ) : (
    <Tag tone="bad">
      <IconAlertTriangle size={11} aria-hidden /> error
    </Tag>
  );
}

function Line({ text }: { text: string }) {
  const line = text.slice(0, maxLineLength);
  return <span className="mono">{line}</span>;
}

const placeColumn: Column<ToolCallRecord> = {
  id: 'place',
  title: 'Place',
  width: 98,
  cell: ({ database, tenant }) => (
    <span className="dim" title={`database ${database}, tenant ${tenant}`}>
      {database} / {tenant}
    </span>
  ),
};

/** Together they fit beside the detail pane in a window of 1280 pixels. */
const firstColumns: Column<ToolCallRecord>[] = [
  {
    id: 'time',
    title: 'Time',
    width: 112,
    cell: ({ time }) => (
      <span className="number" title={formatTime(time)}>
        {clock.format(time)}
      </span>
    ),
  },
  {
    id: 'client',
    title: 'Client',
    width: 100,
    grow: 1,
    cell: (call) => <span className={call.client === null ? 'dim' : ''}>{clientNameOf(call)}</span>,
  },
  { id: 'tool', title: 'Tool', width: 88, cell: ({ tool }) => tool },
  {
    id: 'arguments',
    title: 'Arguments',
    width: 100,
    grow: 3,
    cell: (call) => <Line text={argumentsLine(call.arguments)} />,
  },
  { id: 'outcome', title: 'Outcome', width: 92, cell: (call) => <OutcomeTag {...call} /> },
  {
    id: 'result',
    title: 'Result',
    width: 98,
    grow: 3,
    cell: ({ result }) => <Line text={result.replaceAll(/\s+/g, ' ')} />,
  },
  {
    id: 'took',
    title: 'Took',
    width: 80,
    align: 'end',
    cell: ({ elapsedMs }) => <span className="number">{formatDuration(elapsedMs)}</span>,
  },
  {
    id: 'size',
    title: 'Size',
    width: 60,
    align: 'end',
    cell: ({ resultChars }) => (
      <span className="number" title={formatAmount(resultChars, 'character')}>
        {formatCount(resultChars)}
      </span>
    ),
  },
];

/** The columns of the log; `hasPlaces`: the calls come from several databases or tenants. */
export function callColumns(hasPlaces: boolean): Column<ToolCallRecord>[] {
  return hasPlaces ? [...firstColumns, placeColumn] : firstColumns;
}
