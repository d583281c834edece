/** The tools as an agent is told of them. */
import { useQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { asSignedIn } from '../../api/credential.ts';
import { useSession } from '../../api/session.tsx';
import type { McpTarget } from './mcp-client.ts';

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
