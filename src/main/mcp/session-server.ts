import type { Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../engine/index.ts';
import { sessionErrors } from './connection.ts';
import type { Notices } from './notices.ts';
import { createServer, type ServerParts } from './server.ts';
import type { McpSession } from './sessions.ts';

/** Maximum number of subscriptions of one session; the oldest ones are dropped. */
const maxSubscriptions = 1000;

/** Longer than any address of a document: a predicate has 256 characters, at most nine each when encoded. */
const maxUriLength = 4096;

/** Shared by the servers of all sessions. */
export interface SessionSurroundings extends ServerParts {
  readonly notices: Notices;
  /** The next id in the list of connected clients. */
  readonly nextClientId: () => string;
}

/** Subscriptions that outlast the process; a session that ends with its stream stores none. */
export interface StoredSubscriptions {
  /** Earlier subscriptions. */
  readonly uris: readonly string[];
  keep(uri: string, isWanted: boolean): Promise<void>;
}

const noWishes: StoredSubscriptions = { uris: [], async keep() {} };

/**
 * Creates the server of one session. It notifies its client of changes in the opener's space: of the subscribed
 * documents, and of the list of them. While the client reads nothing, notifications are collected, one for each
 * document. Call `end` when the session has closed.
 */
export function createSessionServer(
  surroundings: SessionSurroundings,
  opener: Caller,
  session: () => McpSession,
  kept: StoredSubscriptions = noWishes,
): { server: Server; end: () => void } {
  const { host, contexts, notices } = surroundings;
  const wanted = new Set(kept.uris);
  const server = createServer(surroundings, {
    onCall: (change) => session().occupy(change, Date.now()),
    async onSubscription(uri, isWanted) {
      const hadIt = wanted.delete(uri);
      if (isWanted && uri.length <= maxUriLength) wanted.add(uri);
      const changed = wanted.has(uri) === hadIt ? [] : [uri];
      for (const oldest of wanted)
        if (wanted.size > maxSubscriptions && wanted.delete(oldest)) changed.push(oldest);
        else break;
      await Promise.all(changed.map((each) => kept.keep(each, wanted.has(each))));
    },
  });
  // A client that has disconnected gets no notifications.
  const undelivered = sessionErrors(host, contexts);
  const changed = new Set<string>();
  let hasOthers = false;
  const tell = (): void => {
    for (const uri of changed) server.sendResourceUpdated({ uri }).catch(undelivered);
    changed.clear();
    if (hasOthers) server.sendResourceListChanged().catch(undelivered);
    hasOthers = false;
  };
  let isHeld = false;
  const tellWhenRead = (): void => {
    const stuck = session().stuckStream;
    if (stuck === null) tell();
    else if (!isHeld) {
      isHeld = true;
      const release = (): void => {
        isHeld = false;
        stuck.off('drain', release).off('close', release);
        tellWhenRead();
      };
      stuck.on('drain', release).on('close', release);
    }
  };
  const end = notices.watch(opener, (notice) => {
    for (const uri of wanted) if (notice.uris === null || notice.uris.has(uri)) changed.add(uri);
    hasOthers ||= notice.hasOthers;
    tellWhenRead();
  });
  return { server, end };
}
