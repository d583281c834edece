/** One tool call: its arguments, its result, and the ways to repeat it. */
import { Button } from '@mantine/core';
import {
  IconAlertTriangle,
  IconFilter,
  IconHistory,
  IconListSearch,
  IconRoute,
  IconTool,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { Guarded } from '../../api/permitted.tsx';
import { Pairs, TextBlock } from '../../ui/blocks.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { EmptyState, Loading } from '../../ui/notices.tsx';
import { DetailPane } from '../../ui/pane.tsx';
import { Tag } from '../../ui/tags.tsx';
import { locale } from '../../ui/texts.ts';
import type { AgentsSearch } from './agents-search.ts';
import styles from './agents.module.css';
import { momentOfCall, replayOf, spaceOfCall } from './ask-replay.ts';
import { shownColumns, useColumnChoice } from '../../ui/column-choice.ts';
import { argumentsLine, clientNameOf } from './call-log.ts';

const clock = new Intl.DateTimeFormat(locale, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/** No window is wide enough for longer lines. */
const maxLineLength = 400;

/** The outcome of a call: plain text for the norm, a tag for an error. */
export function OutcomeTag({ outcome }: Pick<ToolCallRecord, 'outcome'>) {
  return outcome === 'ok' ? (
    <span className="dim">ok</span>
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
    width: 120,
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
    width: 92,
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

/** The columns of the log that can be hidden, with their titles. */
export const choosableCallColumns = {
  client: 'Client',
  outcome: 'Outcome',
  result: 'Result',
  took: 'Took',
  size: 'Size',
  place: 'Place',
} as const;

type ChoosableCallColumn = keyof typeof choosableCallColumns;

const choosableCallIds = Object.keys(choosableCallColumns) as ChoosableCallColumn[];

/** Under this name the choice of columns is kept; no predicate has a colon. */
export const callsTable = 'list:calls';

/** The columns in which two calls differ, or one is not as almost all are: of this database and tenant, and answered. */
export function differingCallColumns(
  calls: readonly Pick<ToolCallRecord, 'client' | 'outcome' | 'database' | 'tenant'>[],
  here: { readonly database: string; readonly tenant: string },
): Set<ChoosableCallColumn> {
  const found = new Set<ChoosableCallColumn>(['result', 'took', 'size']);
  const [first] = calls;
  for (const { client, outcome, database, tenant } of calls) {
    if (client !== first?.client) found.add('client');
    if (outcome !== 'ok') found.add('outcome');
    if (database !== here.database || tenant !== here.tenant) found.add('place');
  }
  return found;
}

/** The columns of the log that are shown: as chosen, else those that differ. */
export function useShownCallColumns(
  calls: readonly ToolCallRecord[],
  here: { readonly database: string; readonly tenant: string },
): readonly ChoosableCallColumn[] {
  const choice = useColumnChoice(callsTable);
  return useMemo(
    () => shownColumns(choosableCallIds, choice, differingCallColumns(calls, here), null),
    [choice, calls, here],
  );
}

/** The columns of the log; `shown`: those of the columns that can be hidden. */
export function callColumns(shown: readonly string[]): Column<ToolCallRecord>[] {
  return [...firstColumns, placeColumn].filter(
    ({ id }) => !Object.hasOwn(choosableCallColumns, id) || shown.includes(id),
  );
}

interface CallDetailProps {
  /** null: not loaded. */
  call: ToolCallRecord | null;
  /** True while older calls are being loaded. */
  isLooking: boolean;
  onSearch: (part: Partial<AgentsSearch>) => void;
  onClose: () => void;
}

/** Goals of a window for which there is a button. */
const mostQuestions = 6;

function AskAgain({ call }: { call: ToolCallRecord }) {
  const replay = useMemo(() => replayOf(call), [call]);
  if (replay === null) return null;
  const icon = <IconListSearch size={14} aria-hidden />;
  if (replay.kind === 'none')
    return (
      <Guarded reason={replay.reason}>
        <Button variant="default" leftSection={icon}>
          Open in Ask
        </Button>
      </Guarded>
    );
  const asWords = replay.kind === 'words' ? ({ asWords: 'true' } as const) : {};
  const search = { ...replay.space, question: replay.question, ...asWords };
  const questions = replay.kind === 'words' ? [] : replay.questions;
  return (
    <>
      {questions.slice(0, mostQuestions).map((question) => (
        <Button
          key={question}
          leftSection={<IconRoute size={14} aria-hidden />}
          renderRoot={(props) => (
            <Link
              to="/ask"
              search={{ ...search, ...momentOfCall(call), question, why: question }}
              {...props}
            />
          )}
        >
          Why was {questions.length === 1 ? 'this' : question} answered then
        </Button>
      ))}
      <Button
        variant="default"
        leftSection={icon}
        renderRoot={(props) => <Link to="/ask" search={search} {...props} />}
      >
        Open in Ask
      </Button>
    </>
  );
}

/** The knowledge as it was when the call began. */
function KnowledgeThen({ call }: { call: ToolCallRecord }) {
  const search = { ...spaceOfCall(call), ...momentOfCall(call) };
  return (
    <Button
      variant="default"
      leftSection={<IconHistory size={14} aria-hidden />}
      renderRoot={(props) => <Link to="/facts" search={search} {...props} />}
    >
      The knowledge then
    </Button>
  );
}

function TryAgain({ call }: { call: ToolCallRecord }) {
  const button = (
    <Button
      variant="default"
      leftSection={<IconTool size={14} aria-hidden />}
      {...(call.argumentsCut
        ? {}
        : {
            renderRoot: (props: object) => (
              <Link
                to="/agents"
                search={{ ...spaceOfCall(call), part: 'try', trying: call.tool, from: call.id }}
                {...props}
              />
            ),
          })}
    >
      Try it again
    </Button>
  );
  return (
    <Guarded reason={call.argumentsCut ? 'Its arguments were too long for the log, which cut them.' : null}>
      {button}
    </Guarded>
  );
}

function Actions({ call, onSearch }: { call: ToolCallRecord; onSearch: CallDetailProps['onSearch'] }) {
  const icon = <IconFilter size={14} aria-hidden />;
  return (
    <div className="flex-wrap flex gap-6">
      <AskAgain call={call} />
      <KnowledgeThen call={call} />
      <TryAgain call={call} />
      <Button variant="default" leftSection={icon} onClick={() => onSearch({ client: clientNameOf(call) })}>
        This client
      </Button>
      <Button variant="default" leftSection={icon} onClick={() => onSearch({ tool: call.tool })}>
        This tool
      </Button>
    </div>
  );
}

function Ids({ call }: { call: ToolCallRecord }) {
  const row = (name: string, value: ReactNode) => (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
  return (
    <Pairs>
      {row('When', formatTime(call.time))}
      {row('Took', formatDuration(call.elapsedMs))}
      {row('Result', `${formatCount(call.resultChars)} characters`)}
      {row('Database', <span className="mono">{call.database}</span>)}
      {row('Tenant', <span className="mono">{call.tenant}</span>)}
      {row('Call', <span className="mono">{call.id}</span>)}
      {row(
        'Request',
        <span className="inline-row gap-4">
          <code className="mono">{call.requestId}</code>
          <CopyButton text={call.requestId} label="Copy the request id" />
        </span>,
      )}
    </Pairs>
  );
}

function Content({ call, onSearch }: { call: ToolCallRecord; onSearch: CallDetailProps['onSearch'] }) {
  return (
    <div className={styles.detail}>
      <div className="flex-row gap-4-8 flex-wrap">
        <strong>{call.tool}</strong>
        <OutcomeTag outcome={call.outcome} />
        <span className="dim">by {clientNameOf(call)}</span>
      </div>
      <Actions call={call} onSearch={onSearch} />
      <Ids call={call} />
      <TextBlock
        title="Arguments"
        text={JSON.stringify(call.arguments, null, 2)}
        label="Copy the arguments"
        note={call.argumentsCut && <Tag tone="warn">cut</Tag>}
      />
      <TextBlock title="Result, as the agent received it" text={call.result} label="Copy the result" />
    </div>
  );
}

/** The pane of the selected call. */
export function CallDetail({ call, isLooking, onSearch, onClose }: CallDetailProps) {
  return (
    <DetailPane title="Call" onClose={onClose}>
      {call !== null ? (
        <Content call={call} onSearch={onSearch} />
      ) : isLooking ? (
        <Loading />
      ) : (
        <EmptyState title="This call is not remembered">
          The service keeps only the last 10,000 calls.
        </EmptyState>
      )}
    </DetailPane>
  );
}
