/** The clients that are connected, in the order of connecting; one that is chosen filters the log. */
import { Button } from '@mantine/core';
import { IconLock, IconPlugConnected } from '@tabler/icons-react';
import { useCallback, useState } from 'react';
import type { AgentClient } from '../../../engine/contract/agents.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { type Column, DataGrid } from '../../ui/data-grid.tsx';
import { formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { RowAction } from '../../ui/row-action.tsx';
import { Tag } from '../../ui/tags.tsx';
import { type AgentsSearch, noFilter } from './agents-search.ts';
import { clientNameOf } from './call-log.ts';
import type { useAgentClients } from './use-agents.ts';

const transportWords: Record<AgentClient['transport'], { readonly title: string; readonly hint: string }> = {
  'streamable-http': { title: 'Streamable HTTP', hint: 'A session at /mcp' },
  sse: { title: 'SSE', hint: 'A session of the older transport' },
  stateless: {
    title: 'without session',
    hint: 'Each of its requests stands alone; known from its last calls',
  },
};

function nameOf({ name }: AgentClient): string {
  return clientNameOf({ client: name });
}

function columnsOf(onCalls: (row: AgentClient) => void): Column<AgentClient>[] {
  const now = Date.now();
  return [
    {
      id: 'name',
      title: 'Client',
      width: 180,
      grow: 2,
      cell: (row) => <span className={row.name === null ? 'dim' : ''}>{nameOf(row)}</span>,
    },
    { id: 'version', title: 'Version', width: 100, cell: ({ version }) => version ?? '' },
    {
      id: 'transport',
      title: 'Transport',
      width: 156,
      cell: ({ transport }) => (
        <span title={transportWords[transport].hint}>
          <Tag>{transportWords[transport].title}</Tag>
        </span>
      ),
    },
    { id: 'database', title: 'Database', width: 110, grow: 1, cell: ({ database }) => database },
    { id: 'tenant', title: 'Tenant', width: 110, grow: 1, cell: ({ tenant }) => tenant },
    {
      id: 'since',
      title: 'Connected',
      width: 110,
      cell: ({ connectedAt }) => (
        <span className="dim" title={formatTime(connectedAt)}>
          {formatRelative(connectedAt, now)}
        </span>
      ),
    },
    {
      id: 'calls',
      title: 'Calls',
      width: 80,
      align: 'end',
      cell: ({ calls }) => <span className="number">{formatCount(calls)}</span>,
    },
    {
      id: 'actions',
      title: 'Actions',
      width: 84,
      holds: 'controls',
      cell: (row) => (
        <RowAction
          label={`Calls of ${nameOf(row)}`}
          icon={<IconPlugConnected size={15} aria-hidden />}
          onClick={() => onCalls(row)}
        />
      ),
    },
  ];
}

interface ClientsPartProps {
  clients: ReturnType<typeof useAgentClients>;
  /** Why they are not for who is signed in; null: they are. */
  reason: string | null;
  onSearch: (part: Partial<AgentsSearch>) => void;
}

function Rows({ rows, onSearch }: { rows: readonly AgentClient[]; onSearch: ClientsPartProps['onSearch'] }) {
  const [selected, setSelected] = useState<string | null>(null);
  const onCalls = useCallback(
    (row: AgentClient) => onSearch({ ...noFilter, part: undefined, client: nameOf(row) }),
    [onSearch],
  );
  // Made anew with the rows, whose ages they tell.
  const columns = columnsOf(onCalls);
  const place = rows.findIndex(({ id }) => id === selected);
  return (
    <DataGrid
      label="Connected clients"
      columns={columns}
      count={rows.length}
      rowAt={(index) => rows[index]}
      selected={place < 0 ? null : place}
      onSelect={(index) => setSelected(rows[index]?.id ?? null)}
      onOpen={(index) => {
        const row = rows[index];
        if (row !== undefined) onCalls(row);
      }}
    />
  );
}

export function ClientsPart({ clients, reason, onSearch }: ClientsPartProps) {
  if (reason !== null)
    return (
      <EmptyState
        icon={<IconLock size={30} stroke={1.3} aria-hidden />}
        title="Who is connected is shown to administrators"
      >
        {reason} The calls of your databases and tenants are shown under Calls.
      </EmptyState>
    );
  return (
    <AnswerOrFailure asked={clients}>
      {(rows) =>
        rows.length === 0 ? (
          <EmptyState
            icon={<IconPlugConnected size={30} stroke={1.3} aria-hidden />}
            title="No client is connected"
            actions={<Button onClick={() => onSearch({ part: 'connect' })}>Connect an agent</Button>}
          >
            A client appears when it opens a session, and one without sessions when it calls.
          </EmptyState>
        ) : (
          <Rows rows={rows} onSearch={onSearch} />
        )
      }
    </AnswerOrFailure>
  );
}
