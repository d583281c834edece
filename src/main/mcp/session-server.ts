import type { Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../engine/index.ts';
import { sessionErrors } from './connection.ts';
import type { Notices } from './notices.ts';
import { createServer, type ServerParts } from './server.ts';

/** Documents of which one session can be told; more are forgotten, the oldest first. */
const mostSubscriptions = 1000;

/** What the servers of all sessions share. */
export interface SessionSurroundings extends ServerParts {
  readonly notices: Notices;
}

/**
 * The server of one session, which tells its client what changed in the opener's space: the documents it subscribed to,
 * and the list of them. `onCall` brackets every request that does work; `end` is for when the session has closed.
 */
export function createSessionServer(
  surroundings: SessionSurroundings,
  opener: Caller,
  onCall: (change: 1 | -1) => void,
): { server: Server; end: () => void } {
  const { host, contexts, notices } = surroundings;
  const wanted = new Set<string>();
  const server = createServer(surroundings, {
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
