/**
 * The Agents view: where agents find the service, who is connected, what they call, how one is connected, and every tool
 * to be tried by hand.
 *
 * What is looked at is said by the address. The log goes on whichever part is shown, and stays as it stood while it is
 * paused.
 */
import { Tabs } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { type ReactNode, useCallback, useState } from 'react';
import { useReason } from '../../api/rights.ts';
import { EmptyState } from '../../ui/notices.tsx';
import { PaneFrame, PaneTitle } from '../../ui/pane.tsx';
import { type Pane, Split } from '../../ui/split.tsx';
import { type AgentPart, agentParts, type AgentsSearch, filterOf } from './agents-search.ts';
import { CallDetail } from './call-detail.tsx';
import { isFiltering } from './call-log.ts';
import { CallsPart, type CallsPartProps, type Paused, useOlderCalls } from './calls-part.tsx';
import { ClientsPart } from './clients-part.tsx';
import { ConnectPart } from './connect-part.tsx';
import { EndpointCard } from './endpoint-card.tsx';
import { TryPart } from './try-part.tsx';
import { useAgentClients, useAgentSetup } from './use-agents.ts';
import { useCallLog } from './use-call-log.ts';
import styles from './agents.module.css';
import stack from '../../ui/stack.module.css';

const partWords: Record<AgentPart, string> = {
  calls: 'Calls',
  clients: 'Clients',
  connect: 'Connect',
  try: 'Try a tool',
};

/** These lists are of all databases and tenants that a key is good for. */
const nowhere = { database: null, tenant: null } as const;

function Calls({ reason, ...props }: CallsPartProps & { reason: string | null }) {
  if (reason === null) return <CallsPart {...props} />;
  return (
    <EmptyState
      icon={<IconLock size={30} stroke={1.3} aria-hidden />}
      title="The calls are not shown to this key"
    >
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
      className={styles.parts}
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
      <div className={stack.stack}>
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
