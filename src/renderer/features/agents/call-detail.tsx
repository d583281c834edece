/** One tool call: its arguments, its result, and the ways to repeat it. */
import { Button } from '@mantine/core';
import { IconFilter, IconListSearch, IconTool } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { ToolCallRecord } from '../../../engine/contract/agents.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { DetailPane } from '../../ui/detail-pane.tsx';
import { formatCount, formatDuration, formatTime } from '../../ui/format.ts';
import { Guarded } from '../../ui/guarded.tsx';
import { EmptyState, Loading } from '../../ui/notices.tsx';
import { Pairs } from '../../ui/pairs.tsx';
import { Tag } from '../../ui/tags.tsx';
import type { AgentsSearch } from './agents-search.ts';
import { spaceOfCall, replayOf } from './ask-replay.ts';
import { OutcomeTag } from './call-columns.tsx';
import { clientNameOf } from './call-log.ts';
import { TextBlock } from '../../ui/text-block.tsx';
import styles from './agents.module.css';

interface CallDetailProps {
  /** null: not loaded. */
  call: ToolCallRecord | null;
  /** True while older calls are being loaded. */
  isLooking: boolean;
  onSearch: (part: Partial<AgentsSearch>) => void;
  onClose: () => void;
}

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
  const search = { ...replay.space, question: replay.question };
  return (
    <Button leftSection={icon} renderRoot={(props) => <Link to="/ask" search={search} {...props} />}>
      Open in Ask
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
        <span className={styles.copied}>
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
      <div className={styles.head}>
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
