/** What the view asks the service for, beside the log of calls. */
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { asSignedIn } from '../../api/credential.ts';
import { useSession } from '../../api/session.tsx';
import type { McpTarget } from './mcp-client.ts';

/** How often it is looked who is connected, in milliseconds. */
const clientsEveryMs = 2_500;

export function useAgentSetup() {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'agent-setup'],
    queryFn: ({ signal }) => call('agentSetup', {}, { signal }),
    staleTime: 30_000,
  });
}

/** `isReadable`: false where the list is not for who is signed in. */
export function useAgentClients(isReadable: boolean) {
  const { call, endpoint } = useSession();
  return useQuery({
    queryKey: ['service', 'agent-clients', endpoint.origin],
    queryFn: async ({ signal }) => (await call('listMcpClients', {}, { signal })).clients,
    enabled: isReadable,
    refetchInterval: clientsEveryMs,
  });
}

/** Whether the service is ready for agents. A 503 says in its detail what is not. */
export function useReadiness() {
  const { call } = useSession();
  return useQuery({
    queryKey: ['service', 'ready'],
    queryFn: ({ signal }) => call('ready', {}, { signal }),
    refetchInterval: 10_000,
  });
}

// HEAD use-tools.ts: The tools as an agent is told of them.

/** Where and as whom this window speaks MCP, at the moment it is asked. */
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

export function useTools() {
  const { endpoint } = useSession();
  const target = useMcpTarget();
  return useQuery({
    queryKey: ['service', 'tools', endpoint.database, endpoint.tenant],
    queryFn: async ({ signal }) => {
      const { listTools } = await import('./mcp-client.ts');
      return asSignedIn(() => listTools(target(), signal), { signal });
    },
    staleTime: 60_000,
  });
}
