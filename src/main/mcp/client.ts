/**
 * A connected client, as GET /mcp/clients lists it.
 *
 * What a client says about itself is untrusted text: it is shown on one line, bounded, and identifies nobody. Ids
 * belong to the list alone, because a session's id must be known only to its client.
 */
import type { AgentClient } from '../../engine/contract/agents.ts';
import type { ConnectionBinding } from '../base/agent-host.ts';

/** The sender of a message, for counting its tool calls. */
export interface Agent {
  /** A tool call of this agent has ended. */
  called(): void;
}

/** What a client says about itself, unchanged. */
export interface ClientInfo {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
}

export interface ClientParts extends Pick<AgentClient, 'id' | 'transport' | 'connectedAt'> {
  readonly binding: ConnectionBinding;
  /** Read on demand: a client opens its stream before it says what it is. */
  readonly info: () => ClientInfo | undefined;
}

/** Maximum length of a stored name: it goes into metadata and logs. */
const maxName = 256;
const maxVersion = 64;

/** One connected client and the number of its calls. */
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

/** A client's name as stored and shown; null if it gave none. */
export function clientName(name: string | undefined): string | null {
  return oneLine(name, maxName);
}

/** The same for a version. */
export function clientVersion(version: string | undefined): string | null {
  return oneLine(version, maxVersion);
}

/** Returns a generator of client ids, in the order of connecting. */
export function clientIds(): () => string {
  let last = 0;
  return () => String(++last);
}

/** The beginning of a text, without characters that do not belong on a line; null if nothing is left. */
export function oneLine(text: string | undefined, most: number): string | null {
  if (text === undefined) return null;
  const line = text.slice(0, most).replace(unprintable, ' ').trim();
  if (line === '') return null;
  // A copy, because a slice would keep the whole text alive.
  return text.length > most ? Buffer.from(line).toString() : line;
}

/** Control characters, line breaks, direction overrides, halves of surrogate pairs. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
