/**
 * The agents that use the service: the log of their tool calls and the list of connected clients.
 *
 * Both cover the agents of every tenant, so a caller sees only the databases and tenants that its credential covers.
 * The transports list the clients that they have connected; testing the bridge is left to `test-bridge.ts`.
 */
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { placeAdvice } from '../../engine/contract/agent-setup.ts';
import {
  type AgentClient,
  type AgentSetup,
  type BridgeTested,
  type CallList,
  type ClientList,
  type ListCallsQuery,
  type TestBridgeInput,
  workbenchClientName,
} from '../../engine/contract/agents.ts';
import { type Caller, type Engine, invalid } from '../../engine/index.ts';
import type { ConnectionBinding, ToolCall } from '../base/mcp-host.ts';
import { ToolCallLog } from './call-log.ts';
import { ssePath, statelessRevision, streamablePath } from './revisions.ts';
import { tools } from './tools.ts';

export interface Agents {
  /** The calls in databases and tenants that the caller's credential covers, newest first. */
  calls(caller: Caller, query: ListCallsQuery): Promise<CallList>;
  /** The clients of databases and tenants that the caller's credential covers, in the order of connecting. */
  clients(caller: Caller): ClientList;
  setup(): AgentSetup;
  /** Starts the bridge as a client would, performs the handshake, lists its tools and ends it. */
  testBridge(caller: Caller, input: TestBridgeInput): Promise<BridgeTested>;
  eraseCalls(database: string, tenant: string | null): Promise<void>;
}

export interface AgentsParts {
  /** Notifies subscribers of a noted call, by its id. */
  readonly tell: (caller: Caller, id: string) => void;
  /** The parts of the setup that depend on where the service runs. Read on demand. */
  readonly place: () => Pick<AgentSetup, 'address' | 'bridge' | 'bundle'>;
  readonly testBridge: Agents['testBridge'];
}

/** The log of calls and the connected clients of one service. */
export class KnownAgents implements Agents {
  readonly #parts: AgentsParts;
  readonly #log = new ToolCallLog();
  #connected: () => readonly AgentClient[] = () => [];

  constructor(parts: AgentsParts) {
    this.#parts = parts;
  }

  /** Loads the earlier calls from the engine's folder, and stores new ones there. */
  async open(engine: Pick<Engine, 'journal' | 'hasDatabase'>): Promise<void> {
    await this.#log.open(engine.journal('mcp-calls'), ({ database }) => engine.hasDatabase(database));
  }

  /** Erases the calls in a database, or in one tenant of it: their arguments contain what was erased there. */
  async eraseCalls(database: string, tenant: string | null): Promise<void> {
    await this.#log.erase(
      (place) => place.database === database && (tenant ?? place.tenant) === place.tenant,
    );
  }

  /** Notes a finished call, then notifies subscribers. */
  called(call: ToolCall): void {
    const id = this.#log.add(call, Date.now());
    this.#parts.tell(call.caller, id);
  }

  /** Sets the source of the connected clients. */
  listFrom(connected: () => readonly AgentClient[]): void {
    this.#connected = connected;
  }

  async calls(caller: Caller, { limit, before }: ListCallsQuery): Promise<CallList> {
    const than = before === null ? null : numberOf(before);
    const most = limit ?? Number.POSITIVE_INFINITY;
    return { calls: await this.#log.list((place) => isCovered(caller, place), most, than) };
  }

  /** Number of connected clients of all callers, without the workbench's own tests. */
  get connectedCount(): number {
    return this.#connected().filter(({ name }) => name !== workbenchClientName).length;
  }

  clients(caller: Caller): ClientList {
    const clients = this.#connected().filter((client) => isCovered(caller, client));
    return { clients: clients.toSorted((left, right) => Number(left.id) - Number(right.id)) };
  }

  setup(): AgentSetup {
    return {
      ...this.#parts.place(),
      streamable: streamablePath,
      sse: ssePath,
      revisions: [statelessRevision, ...SUPPORTED_PROTOCOL_VERSIONS],
      tools: [...tools.keys()],
      advice: placeAdvice,
    };
  }

  testBridge(caller: Caller, input: TestBridgeInput): Promise<BridgeTested> {
    return this.#parts.testBridge(caller, input);
  }
}

/** The number of a call from its id. Refuses an invalid id. */
function numberOf(id: string): number {
  if (!/^\d{1,15}$/.test(id)) throw invalid('before', 'is no id of a call');
  return Number(id);
}

function isCovered({ databases, tenants }: Caller, { database, tenant }: ConnectionBinding): boolean {
  const isAmong = (names: readonly string[], name: string) => names.length === 0 || names.includes(name);
  return isAmong(databases, database) && isAmong(tenants, tenant);
}
