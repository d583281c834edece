/** What the view asks the service for, beside the log of calls. */
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../../api/session.tsx';

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
