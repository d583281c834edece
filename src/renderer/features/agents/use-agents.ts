/**
 * The queries of the Agents view, except the log of calls, and the test of a configuration: the handshake that its
 * program would make, over the same route.
 */
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import type { AgentRoute } from '../../../engine/contract/agent-setup.ts';
import type { BridgeTested } from '../../../engine/contract/agents.ts';
import { asSignedIn } from '../../api/credential.ts';
import { ApiError } from '../../api/problem.ts';
import { useSession } from '../../api/session.tsx';
import { formatAmount, formatDuration } from '../../ui/format.ts';
import type { Handshake, McpTarget } from './mcp-client.ts';

/** How often the connected clients are polled, in milliseconds. */
const clientsEveryMs = 2_500;

/** What agents need to connect: addresses, protocol revisions, tools, bridge and bundle. */
export function useAgentSetup() {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'agent-setup'],
    queryFn: ({ signal }) => call('agentSetup', {}, { signal }),
    staleTime: 30_000,
  });
}

/** The connected clients; `isReadable`: false if this user may not see them. */
export function useAgentClients(isReadable: boolean) {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: ['service', 'agent-clients', endpoint.origin],
    queryFn: async ({ signal }) => (await call('listMcpClients', {}, { signal })).clients,
    enabled: isReadable,
    refetchInterval: clientsEveryMs,
  });
}

/** Whether the service is ready for agents; the detail of a 503 says what is not. */
export function useAgentReadiness() {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'ready'],
    queryFn: ({ signal }) => call('ready', {}, { signal }),
    refetchInterval: 10_000,
  });
}

/** Returns the MCP target of this window at the moment of the call. */
export function useMcpTarget(): () => McpTarget {
  const { endpoint } = useSession();
  return useCallback(
    () => ({
      url: `${endpoint.origin}/mcp`,
      headers: {
        'X-Database': endpoint.database,
        'X-Tenant-ID': endpoint.tenant,
        ...(endpoint.key === null ? {} : { Authorization: `Bearer ${endpoint.key}` }),
      },
    }),
    [endpoint],
  );
}

/** The tools as agents see them. */
export function useTools() {
  const { endpoint } = useSession();
  const target = useMcpTarget();
  return useQuery({
    queryKey: ['service', 'tools', endpoint.database, endpoint.tenant],
    queryFn: async ({ signal }) => {
      const { listMcpTools } = await import('./mcp-client.ts');
      return asSignedIn(() => listMcpTools(target(), signal), { signal });
    },
    staleTime: 60_000,
  });
}

/**
 * The address to test from this page. The page may only call its own origin, so the test uses that origin
 * with the configured path: the same service under another name.
 */
export function testedUrl(url: string, origin: string): string {
  const { pathname, search } = new URL(url);
  return origin + pathname + search;
}

/** The handshake made by the bridge. Errors: ApiError with the bridge's message if it did not connect. */
export function testedBridge({
  isConnected,
  server,
  revision,
  tools,
  elapsedMs,
  detail,
}: BridgeTested): Handshake {
  if (!isConnected)
    throw new ApiError({
      code: 'Unreadable',
      status: null,
      title: 'The bridge did not connect',
      detail: detail ?? 'It did not say why.',
      requestId: '',
      errors: [],
    });
  return { server: server ?? '', revision: revision ?? '', tools, elapsedMs };
}

/** The result of a test, such as `9 tools answered in 34 ms, revision 2025-11-25.` */
export function testedWords({ tools, elapsedMs, revision }: Handshake): string {
  return `${formatAmount(tools, 'tool')} answered in ${formatDuration(elapsedMs)}, revision ${revision}.`;
}

/** Advice on a failure, beyond what the service says; null: none. */
export function adviceFor(code: string, route: AgentRoute, hasKey: boolean): string | null {
  switch (code) {
    case 'Unauthenticated':
      return hasKey
        ? 'The service rejected the key: it may be revoked or expired. Make another.'
        : 'The service requires a key: type one, or make one for this agent.';
    case 'Forbidden':
      return 'Choose a database and tenant that the key can access, or make a key for these.';
    case 'DatabaseNotFound':
      return 'Choose an existing database, or create it under Admin.';
    case 'Unreachable':
      return route.via === 'http'
        ? 'Check that the service runs, and that it listens at this address.'
        : null;
    default:
      return null;
  }
}
