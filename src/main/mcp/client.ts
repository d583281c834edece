/**
 * A client that is connected, as GET /mcp/clients lists it.
 *
 * What a client says of itself is text of a stranger's choosing: it is shown on one line, bounded, and nobody is told
 * apart by it. Ids are of the list alone: the id of a session is known to its client and nobody else.
 */
import type { AgentClient } from '../../engine/contract/agents.ts';
import type { Binding } from '../base/mcp-host.ts';

/** Who a message came from, as far as its tool calls are counted. */
export interface Agent {
  /** A tool call of it has ended. */
  called(): void;
}

/** What a client says of itself, as it came. */
export interface ClientInfo {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
}

export interface ClientParts extends Pick<AgentClient, 'id' | 'transport' | 'connectedAt'> {
  readonly binding: Binding;
  /** Read when somebody asks: a client opens its stream before it says who it is. */
  readonly info: () => ClientInfo | undefined;
}

/** Longest name that is kept: it goes into metadata and logs. */
const maxName = 256;
const maxVersion = 64;

export class ConnectedClient implements Agent {
  readonly #parts: ClientParts;
  #calls = 0;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  called(): void {
    this.#calls++;
  }

  view(): AgentClient {
    const { id, transport, binding, connectedAt, info } = this.#parts;
    const { database, tenant } = binding;
    const { name, version } = info() ?? {};
    return {
      id,
      name: clientName(name),
      version: clientVersion(version),
      transport,
      database,
      tenant,
      connectedAt,
      calls: this.#calls,
    };
  }
}

/** The name of a client as it is kept and shown; null where it gave none. */
export function clientName(name: string | undefined): string | null {
  return oneLine(name, maxName);
}

/** As `clientName`. */
export function clientVersion(version: string | undefined): string | null {
  return oneLine(version, maxVersion);
}

/** Ids of clients, in the order of connecting. */
export function clientIds(): () => string {
  let last = 0;
  return () => String(++last);
}

/** The beginning of a text, without what is no character of a line; null where nothing is left. */
export function oneLine(text: string | undefined, most: number): string | null {
  if (text === undefined) return null;
  const line = text.slice(0, most).replace(unprintable, ' ').trim();
  if (line === '') return null;
  // A copy, where the part would keep the whole alive.
  return text.length > most ? Buffer.from(line).toString() : line;
}

/** Control characters, breaks of lines, what turns the direction of writing round, halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
