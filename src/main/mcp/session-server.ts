import type { Server } from '@modelcontextprotocol/server';
import type { Caller } from '../../engine/index.ts';
import { sessionErrors } from './connection.ts';
import type { Notices } from './notices.ts';
import { createServer, type ServerParts } from './server.ts';
import type { Session } from './sessions.ts';

/** Documents of which one session can be told; more are forgotten, the oldest first. */
const mostSubscriptions = 1000;

/** Longer than any address of a document, whose predicate has 256 characters of nine each at most. */
const longestUri = 4096;

/** What the servers of all sessions share. */
export interface SessionSurroundings extends ServerParts {
  readonly notices: Notices;
  /** The next id of a client in the list of those that are connected. */
  readonly nextClientId: () => string;
}

/** What a session is told of that outlasts the process; of one that ends with its stream, nothing is kept. */
export interface KeptWishes {
  /** Those of before. */
  readonly uris: readonly string[];
  keep(uri: string, isWanted: boolean): Promise<void>;
}

const noWishes: KeptWishes = { uris: [], async keep() {} };

/**
 * The server of one session, which tells its client what changed in the opener's space: the documents it subscribed to,
 * and the list of them. While the client reads nothing, what is to be told is gathered, each document once. `end` is for
 * when the session has closed.
 */
export function createSessionServer(
  surroundings: SessionSurroundings,
  opener: Caller,
  session: () => Session,
  kept: KeptWishes = noWishes,
): { server: Server; end: () => void } {
  const { host, contexts, notices } = surroundings;
  const wanted = new Set(kept.uris);
  const server = createServer(surroundings, {
    onCall: (change) => session().occupy(change, Date.now()),
    async onSubscription(uri, isWanted) {
      const hadIt = wanted.delete(uri);
      if (isWanted && uri.length <= longestUri) wanted.add(uri);
      const changed = wanted.has(uri) === hadIt ? [] : [uri];
      for (const oldest of wanted)
        if (wanted.size > mostSubscriptions && wanted.delete(oldest)) changed.push(oldest);
        else break;
      await Promise.all(changed.map((each) => kept.keep(each, wanted.has(each))));
    },
  });
  // Who has gone is told nothing any more.
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
