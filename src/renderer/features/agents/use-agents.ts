/** The queries of the Agents view, except the log of calls. */
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { asSignedIn } from '../../api/credential.ts';
import { useSession } from '../../api/session.tsx';
import type { McpTarget } from './mcp-client.ts';

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
