import type { Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../engine/index.ts';
import type { McpHost } from '../mcp-host.ts';
import { sessionErrors } from './connection.ts';
import type { Notices } from './notices.ts';
import { type CallContexts, createServer } from './server.ts';

/** Documents of which one session can be told; more are forgotten, the oldest first. */
const mostSubscriptions = 1000;

/** What the servers of all sessions share. */
export interface SessionSurroundings {
  readonly host: McpHost;
  readonly contexts: CallContexts;
  readonly notices: Notices;
  /** The next id of a client in the list of those that are connected. */
  readonly nextClientId: () => string;
}

/**
 * The server of one session, which tells its client what changed in the opener's space: the documents it subscribed to,
 * and the list of them. `onCall` brackets every request that does work; `end` is for when the session has closed.
 */
export function createSessionServer(
  { host, contexts, notices }: SessionSurroundings,
  opener: Caller,
  onCall: (change: 1 | -1) => void,
): { server: Server; end: () => void } {
  const wanted = new Set<string>();
  const server = createServer(host, contexts, {
    onCall,
    onSubscription(uri, isWanted) {
      wanted.delete(uri);
      if (isWanted) wanted.add(uri);
      for (const oldest of wanted)
        if (wanted.size > mostSubscriptions) wanted.delete(oldest);
        else break;
    },
  });
  // Who has gone is told nothing any more.
  const undelivered = sessionErrors(host, contexts);
  const end = notices.watch(opener, ({ uris, hasOthers }) => {
    for (const uri of wanted)
      if (uris === null || uris.has(uri)) server.sendResourceUpdated({ uri }).catch(undelivered);
    if (hasOthers) server.sendResourceListChanged().catch(undelivered);
  });
  return { server, end };
}
