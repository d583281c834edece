/** Tests a configuration with the handshake that its program would make, over the same route. */
import type { AgentRoute } from '../../../engine/contract/agent-setup.ts';
import type { BridgeTested } from '../../../engine/contract/agents.ts';
import { ApiError } from '../../api/problem.ts';
import { formatAmount, formatDuration } from '../../ui/format.ts';
import type { Handshake } from './mcp-client.ts';

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
