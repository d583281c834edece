/** Trying a configuration: the handshake that its program would make, by the way it would take. */
import type { AgentRoute } from '../../../engine/contract/agent-setup.ts';
import type { BridgeTested } from '../../../engine/contract/agents.ts';
import { ApiError } from '../../api/problem.ts';
import { formatAmount, formatDuration } from '../../ui/format.ts';
import type { Handshake } from './mcp-client.ts';

/**
 * The address to try from this page. It may speak to its own service alone, so the path is tried where the page came
 * from: the same service under another name.
 */
export function testedUrl(url: string, origin: string): string {
  const { pathname, search } = new URL(url);
  return origin + pathname + search;
}

/** The handshake that the bridge made. Errors: ApiError with the words of the bridge, where it made none. */
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

/** `9 tools answered in 34 ms, revision 2025-11-25.` */
export function testedWords({ tools, elapsedMs, revision }: Handshake): string {
  return `${formatAmount(tools, 'tool')} answered in ${formatDuration(elapsedMs)}, revision ${revision}.`;
}

/** What is to be done about a refusal, beside what the service says; null: it says it. */
export function adviceFor(code: string, route: AgentRoute, hasKey: boolean): string | null {
  switch (code) {
    case 'Unauthenticated':
      return hasKey
        ? 'The key is not taken: it may have been revoked or have expired. Make another.'
        : 'The service asks for a key: type one, or make one for this agent.';
    case 'Forbidden':
      return 'Choose a database and tenant that the key is good for, or make a key that is good for these.';
    case 'DatabaseNotFound':
      return 'Choose a database that is there, or make it under Admin.';
    case 'Unreachable':
      return route.via === 'http'
        ? 'See that the service runs, and that the address is the one it listens at.'
        : null;
    default:
      return null;
  }
}
