/** Where agents find the service, how they may speak, and whether it is ready for them. */
import { Anchor } from '@mantine/core';
import type { AgentSetup } from '../../../engine/contract/agents.ts';
import { apiFailureOf } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { formatAmount } from '../../ui/format.ts';
import { ProblemNotice } from '../../ui/notices.tsx';
import { Strip, StripItem } from '../../ui/strip.tsx';
import { Tag } from '../../ui/tags.tsx';
import { useAgentSetup, useReadiness } from './use-agents.ts';

function Address({ address, label }: { address: string; label: string }) {
  return (
    <>
      <code className="mono">{address}</code>
      <CopyButton text={address} label={label} />
    </>
  );
}

function Health() {
  const { data, error } = useReadiness();
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

/** The newest by name, the others by number. */
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
  /** Sessions and clients without one; null: not known, or not for who is signed in. */
  connected: number | null;
  onClients: () => void;
}

export function EndpointCard({ connected, onClients }: EndpointCardProps) {
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
