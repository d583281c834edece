/**
 * The bound on what one address may hold open: connections that are idle or have sent only a part of a request, and
 * connections in all, so that no client takes the connections of the others.
 *
 * A connection is quiet while no complete request on it waits for its answer: in its TLS handshake, before or within a
 * head, within a body, between two requests. Beyond the bound the ones that were silent for longest are closed, so that
 * a client that sends its request at once is served, whatever others of its address hold open. Answers and streams in
 * progress are not quiet.
 *
 * Requests pay nothing for this: the state of a connection is read when its address has more than the bound, and its
 * activity is the count of bytes that its socket keeps anyway. An IPv6 address counts by its network. Clients behind one
 * proxy share an address, and so do all programs of this machine.
 */
import type { FastifyBaseLogger } from 'fastify';
import { type Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import { polls, serving } from '../../engine/index.ts';
import { networkOf } from '../base/network.ts';
import type { Limits } from './limits.ts';

/**
 * Milliseconds from the connection that exceeds the bound to the look at all of its network: time for a burst of clients
 * to send their requests, and one look for many connections.
 */
const graceMs = 50;

/** Connections closed in one turn, at most: each takes some tens of microseconds. */
const closedAtOnce = 64;

/** A connection; `socket` is the secure one once its handshake is over. */
interface Held {
  socket: Socket;
  /** Bytes received when it was last looked at; -1 before that, so that a new one does not count as silent. */
  bytesRead: number;
}

/** The connections of one network by peer; as of the last look, those that were silent for longest come first. */
type Connections = Map<string, Held>;

/** Enforces the bounds on a server that does not listen yet. */
export function boundQuiet(
  server: Server | SecureServer,
  log: Pick<FastifyBaseLogger, 'warn'>,
  { quietOfOne, connectionsOfOne, lookMs }: Limits,
): void {
  const networks = new Map<string, Connections>();
  const warn = atIntervals(() => {
    const bounds = { quietOfOne, connectionsOfOne };
    log.warn(bounds, 'too many connections of one address: closing the idle and unfinished ones');
  });
  const closeMore = serving.pauseOf(null, 'close quiet connections');
  const closing = new Set<Connections>();
  const look = (connections: Connections): void => {
    if (connections.size <= quietOfOne) return;
    const quiet = quietIn(connections);
    const excess = quiet.slice(0, Math.max(0, quiet.length - quietOfOne));
    if (excess.length > 0) warn();
    for (const [peer, { socket }] of excess.slice(0, closedAtOnce)) {
      connections.delete(peer);
      socket.destroy();
    }
    if (excess.length <= closedAtOnce || closing.has(connections)) return;
    closing.add(connections);
    void closeMore().then(() => {
      closing.delete(connections);
      look(connections);
    });
  };
  const crowded = new Set<Connections>();
  /** Those in which a look found too little to close: the next one is due when a moment has passed. */
  const full = new Set<Connections>();
  const lookSoon = (connections: Connections): void => {
    const isDue = crowded.size > 0;
    crowded.add(connections);
    if (isDue) return;
    setTimeout(() => {
      full.clear();
      for (const each of crowded) look(each);
      crowded.clear();
    }, graceMs).unref();
  };
  server.on('connection', (socket: Socket) => {
    polls.arrived();
    const { network, peer } = endOf(socket);
    const connections = networks.get(network) ?? new Map<string, Held>();
    if (connections.size >= connectionsOfOne && !full.has(connections)) look(connections);
    if (connections.size >= connectionsOfOne) {
      full.add(connections);
      lookSoon(connections);
      warn();
      socket.destroy();
      return;
    }
    const held: Held = { socket, bytesRead: -1 };
    networks.set(network, connections.set(peer, held));
    socket.once('close', () => {
      if (connections.get(peer) === held) connections.delete(peer);
      if (connections.size === 0 && networks.get(network) === connections) networks.delete(network);
    });
    if (connections.size > quietOfOne) lookSoon(connections);
  });
  server.on('secureConnection', (socket: Socket) => {
    const { network, peer } = endOf(socket);
    const held = networks.get(network)?.get(peer);
    if (held !== undefined) Object.assign(held, { socket, bytesRead: -1 });
  });
  // Connections also become quiet while none is opened.
  const timer = setInterval(() => networks.forEach(look), lookMs).unref();
  server.once('close', () => clearInterval(timer));
}

/**
 * The quiet connections of a network, those that were silent for longest first. Puts those that received something since
 * the last look behind the others.
 */
function quietIn(connections: Connections): [string, Held][] {
  for (const [peer, held] of connections) {
    const { bytesRead } = held.socket;
    if (bytesRead === held.bytesRead) continue;
    held.bytesRead = bytesRead;
    connections.delete(peer);
    connections.set(peer, held);
  }
  return [...connections].filter(([, { socket }]) => isQuiet(socket));
}

function isQuiet(socket: Socket): boolean {
  const answer = answerOn(socket);
  return answer === null ? socket.writableLength === 0 : !answer.req.complete;
}

/** The answer in progress on this connection; null: none. */
export function answerOn(socket: Socket): ServerResponse | null {
  const message: unknown = Reflect.get(socket, '_httpMessage');
  return message instanceof ServerResponse ? message : null;
}

function endOf({ remoteAddress = '', remotePort = 0 }: Socket): { network: string; peer: string } {
  return { network: networkOf(remoteAddress), peer: `${remoteAddress} ${remotePort}` };
}

const warnedEveryMs = 60_000;

/** A function that runs `warn` at most once a minute. */
export function atIntervals(warn: () => void): () => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - warnedAt < warnedEveryMs) return;
    warnedAt = performance.now();
    warn();
  };
}
