/**
 * The Agents view: the address agents use, the connected clients, their calls, how to connect an agent, and a
 * form to try every tool.
 *
 * The address holds the selection. The log stays up to date whichever part is shown; while paused, the calls
 * shown do not change.
 */
import { Anchor, Button, Tabs } from '@mantine/core';
import { IconLock, IconPlugConnected } from '@tabler/icons-react';
import { type ReactNode, useCallback, useState } from 'react';
import type { AgentClient, AgentSetup } from '../../../engine/contract/agents.ts';
import { AnswerOrFailure } from '../../api/answered.tsx';
import { apiFailureOf } from '../../api/problem.ts';
import { useReason } from '../../api/rights.ts';
import { useSession } from '../../api/session.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { Column } from '../../ui/data-grid.tsx';
import { formatAmount, formatCount, formatRelative, formatTime } from '../../ui/format.ts';
import { EmptyState, ProblemNotice } from '../../ui/notices.tsx';
import { type Pane, PaneFrame, PaneTitle, Split } from '../../ui/pane.tsx';
import { RowAction } from '../../ui/row-menu.tsx';
import { Strip, StripItem } from '../../ui/blocks.tsx';
import { ListGrid } from '../../ui/list-grid.tsx';
import { Tag } from '../../ui/tags.tsx';
import { type AgentPart, agentParts, type AgentsSearch, filterOf, noFilter } from './agents-search.ts';
import styles from './agents.module.css';
import { CallDetail } from './call-detail.tsx';
import { clientNameOf, isFiltering, useCallLog } from './call-log.ts';
import { CallsPart, type CallsPartProps, type Paused, useOlderCalls } from './calls-part.tsx';
import { ConnectPart } from './connect-part.tsx';
import { TryPart } from './try-part.tsx';
import { useAgentClients, useAgentSetup, useAgentReadiness } from './use-agents.ts';

const partWords: Record<AgentPart, string> = {
  calls: 'Calls',
  clients: 'Clients',
  connect: 'Connect',
  try: 'Try a tool',
};

/** These lists cover all databases and tenants that the key can access. */
const nowhere = { database: null, tenant: null } as const;

function Calls({ reason, ...props }: CallsPartProps & { reason: string | null }) {
  if (reason === null) return <CallsPart {...props} />;
  return (
    <EmptyState icon={<IconLock size={30} stroke={1.3} aria-hidden />} title="This key cannot see the calls">
      {reason}
    </EmptyState>
  );
}

interface PartsProps {
  part: AgentPart;
  /** undefined: the calls. */
  onPart: (part: AgentPart | undefined) => void;
  contentOf: (part: AgentPart) => ReactNode;
}

function Parts({ part, onPart, contentOf }: PartsProps) {
  return (
    <Tabs
      className="flex-column rest-height"
      value={part}
      onChange={(value) => {
        const next = agentParts.find((one) => one === value);
        onPart(next === 'calls' ? undefined : next);
      }}
    >
      <Tabs.List>
        {agentParts.map((one) => (
          <Tabs.Tab key={one} value={one}>
            {partWords[one]}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      {agentParts.map((one) => (
        <Tabs.Panel key={one} value={one} className={styles.part ?? ''}>
          {contentOf(one)}
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

interface AgentsViewProps {
  search: AgentsSearch;
  onSearch: (search: AgentsSearch) => void;
}

/** The Agents view: the endpoint card above the chosen part, with the selected call beside the log. */
export function AgentsView({ search, onSearch }: AgentsViewProps) {
  const callsReason = useReason('listMcpCalls', nowhere);
  const clientsReason = useReason('listMcpClients', nowhere);
  const log = useCallLog(callsReason === null);
  const clients = useAgentClients(clientsReason === null);
  const tools = useAgentSetup().data?.tools ?? [];
  const [paused, setPaused] = useState<Paused>(null);
  const patch = useCallback(
    (part: Partial<AgentsSearch>) => onSearch({ ...search, ...part }),
    [search, onSearch],
  );
  const part = search.part ?? 'calls';
  const wanted = part === 'try' ? search.from : search.call;
  const known = log.held?.calls.find(({ id }) => id === wanted) ?? null;
  const isLooking = log.failure === null && log.held?.isWhole !== true;
  useOlderCalls(log, isFiltering(filterOf(search)) || (wanted !== undefined && known === null));

  function contentOf(one: AgentPart) {
    switch (one) {
      case 'calls':
        return (
          <Calls
            search={search}
            onSearch={patch}
            log={log}
            paused={paused}
            onPaused={setPaused}
            tools={tools}
            reason={callsReason}
          />
        );
      case 'clients':
        return <ClientsPart clients={clients} reason={clientsReason} onSearch={patch} />;
      case 'connect':
        return <ConnectPart search={search} onSearch={patch} />;
      case 'try':
        return <TryPart search={search} onSearch={patch} from={known} />;
    }
  }

  const main = (
    <PaneFrame scroll="own" label="Agents" title={<PaneTitle isWhole>Agents</PaneTitle>}>
      <div className="flex-column full-height">
        <EndpointCard connected={clients.data?.length ?? null} onClients={() => patch({ part: 'clients' })} />
        <Parts part={part} onPart={(next) => patch({ part: next })} contentOf={contentOf} />
      </div>
    </PaneFrame>
  );
  const panes: Pane[] = [{ id: 'main', least: '480px', content: main }];
  if (part === 'calls' && search.call !== undefined && callsReason === null)
    panes.push({
      id: 'detail',
      size: '380px',
      least: '260px',
      content: (
        <CallDetail
          call={known}
          isLooking={isLooking}
          onSearch={patch}
          onClose={() => patch({ call: undefined })}
        />
      ),
    });
  return <Split id="agents" orientation="horizontal" label="Resize" panes={panes} />;
}

function Address({ address, label }: { address: string; label: string }) {
  return (
    <>
      <code className="mono">{address}</code>
      <CopyButton text={address} label={label} />
    </>
  );
}

function Health() {
  const { data, error } = useAgentReadiness();
  if (error !== null) {
    const failure = apiFailureOf(error);
    const isAway = failure.code === 'Unreachable';
    return (
      <span title={failure.detail}>
        <Tag tone="bad">{isAway ? 'not reached' : 'not ready'}</Tag>
      </span>
    );
  }
  if (data === undefined) return <span className="dim">unknown</span>;
  const state = data.subsystems.mcp;
  return data.status === 'ready' && state === 'ready' ? (
    <Tag tone="good">ready</Tag>
  ) : (
    <Tag tone="warn">{state === 'ready' ? 'not ready' : `MCP ${state}`}</Tag>
  );
}

/** The two newest by name, the others as a count. */
function Revisions({ revisions }: Pick<AgentSetup, 'revisions'>) {
  const [newest, next, ...others] = revisions;
  return (
    <span title={revisions.join('\n')}>
      {[newest, next].filter((revision) => revision !== undefined).join(', ')}
      {others.length > 0 && <span className="dim"> and {formatAmount(others.length, 'older one')}</span>}
    </span>
  );
}

interface EndpointCardProps {
  /** Sessions, and clients without one; null: unknown, or hidden from this user. */
  connected: number | null;
  onClients: () => void;
}

/** The address of the service for agents, its transports and its health. */
function EndpointCard({ connected, onClients }: EndpointCardProps) {
  const { endpoint } = useSession();
  const setup = useAgentSetup();
  const address = setup.data?.address ?? endpoint.origin;
  return (
    <Strip
      label="Endpoint for agents"
      under={
        setup.error !== null && (
          <ProblemNotice failure={apiFailureOf(setup.error)} onRetry={() => void setup.refetch()} />
        )
      }
    >
      <StripItem title="Streamable HTTP">
        <Address
          address={address + (setup.data?.streamable ?? '/mcp')}
          label="Copy the address of Streamable HTTP"
        />
      </StripItem>
      <StripItem title="SSE, for older clients">
        <Address address={address + (setup.data?.sse ?? '/mcp/sse')} label="Copy the address of SSE" />
      </StripItem>
      <StripItem title="Health">
        <Health />
      </StripItem>
      {setup.data !== undefined && (
        <>
          <StripItem title="Revisions">
            <Revisions revisions={setup.data.revisions} />
          </StripItem>
          <StripItem title="Tools">
            <span className="number" title={setup.data.tools.join('\n')}>
              {setup.data.tools.length}
            </span>
          </StripItem>
          <StripItem title="Bridge">{setup.data.bridge === null ? 'not built' : 'built'}</StripItem>
        </>
      )}
      {connected !== null && (
        <StripItem title="Connected">
          <Anchor component="button" type="button" inherit className="number" onClick={onClients}>
            {formatAmount(connected, 'client')}
          </Anchor>
        </StripItem>
      )}
    </Strip>
  );
}

const transportWords: Record<AgentClient['transport'], { readonly title: string; readonly hint: string }> = {
  'streamable-http': { title: 'Streamable HTTP', hint: 'A session at /mcp' },
  sse: { title: 'SSE', hint: 'A session of the older transport' },
  stateless: {
    title: 'without session',
    hint: 'Every request is independent; listed by its latest calls',
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
  /** Why the clients are hidden from this user; null: they are not. */
  reason: string | null;
  onSearch: (part: Partial<AgentsSearch>) => void;
}

function Rows({ rows, onSearch }: { rows: readonly AgentClient[]; onSearch: ClientsPartProps['onSearch'] }) {
  const [selected, setSelected] = useState<string | null>(null);
  const onCalls = useCallback(
    (row: AgentClient) => onSearch({ ...noFilter, part: undefined, client: nameOf(row) }),
    [onSearch],
  );
  // Rebuilt with the rows: the columns show their ages.
  const columns = columnsOf(onCalls);
  return (
    <ListGrid
      label="Connected clients"
      columns={columns}
      rows={rows}
      isSelected={({ id }) => id === selected}
      onSelect={({ id }) => setSelected(id)}
      onOpen={onCalls}
    />
  );
}

/** The connected clients, in order of connecting; opening one filters the log by it. */
function ClientsPart({ clients, reason, onSearch }: ClientsPartProps) {
  if (reason !== null)
    return (
      <EmptyState
        icon={<IconLock size={30} stroke={1.3} aria-hidden />}
        title="Only administrators can see who is connected"
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
