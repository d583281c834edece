/**
 * What the service knows of the agents that speak to it: its log of tool calls and its list of clients.
 *
 * Both hold what every tenant's agents did, so whoever asks is shown the databases and tenants of its credential alone.
 * How a client is connected is its transport's business, which lists those it has; how the bridge is tried is another's.
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
import type { Binding, ToolCall } from '../base/mcp-host.ts';
import { CallLog } from './call-log.ts';
import { ssePath, statelessRevision, streamablePath } from './revisions.ts';
import { tools } from './tools.ts';

export interface Agents {
  /** Those of databases and tenants that the caller's credential covers, newest first. */
  calls(caller: Caller, query: ListCallsQuery): Promise<CallList>;
  /** Those of databases and tenants that the caller's credential covers, in the order of connecting. */
  clients(caller: Caller): ClientList;
  setup(): AgentSetup;
  /** Starts the bridge as a client would, shakes hands through it, lists its tools and ends it. */
  testBridge(caller: Caller, input: TestBridgeInput): Promise<BridgeTested>;
  eraseCalls(database: string, tenant: string | null): Promise<void>;
}

export interface AgentsParts {
  /** Tells subscribers of a call that was noted, by its id. */
  readonly tell: (caller: Caller, id: string) => void;
  /** What of the setup depends on where the service runs. Read when somebody asks. */
  readonly place: () => Pick<AgentSetup, 'address' | 'bridge' | 'bundle'>;
  readonly testBridge: Agents['testBridge'];
}

export class KnownAgents implements Agents {
  readonly #parts: AgentsParts;
  readonly #log = new CallLog();
  #connected: () => readonly AgentClient[] = () => [];

  constructor(parts: AgentsParts) {
    this.#parts = parts;
  }

  /** Has the calls of before, and keeps those to come, in the engine's folder. */
  async open(engine: Pick<Engine, 'journal' | 'hasDatabase'>): Promise<void> {
    await this.#log.open(engine.journal('mcp-calls'), ({ database }) => engine.hasDatabase(database));
  }

  /** Erases the calls in a database, or in one tenant of it: their arguments are of what was erased there. */
  async eraseCalls(database: string, tenant: string | null): Promise<void> {
    await this.#log.erase(
      (place) => place.database === database && (tenant ?? place.tenant) === place.tenant,
    );
  }

  /** Notes a call that has ended, then tells of it. */
  called(call: ToolCall): void {
    const id = this.#log.add(call, Date.now());
    this.#parts.tell(call.caller, id);
  }

  /** The clients that are connected are those that `connected` gives. */
  listFrom(connected: () => readonly AgentClient[]): void {
    this.#connected = connected;
  }

  async calls(caller: Caller, { limit, before }: ListCallsQuery): Promise<CallList> {
    const than = before === null ? null : numberOf(before);
    const most = limit ?? Number.POSITIVE_INFINITY;
    return { calls: await this.#log.list((place) => isCovered(caller, place), most, than) };
  }

  /** How many are connected, whoever they are, the workbench's own tries aside. */
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

/** The number of a call by its id. Refuses what is none. */
function numberOf(id: string): number {
  if (!/^\d{1,15}$/.test(id)) throw invalid('before', 'is no id of a call');
  return Number(id);
}

function isCovered({ databases, tenants }: Caller, { database, tenant }: Binding): boolean {
  const isAmong = (names: readonly string[], name: string) => names.length === 0 || names.includes(name);
  return isAmong(databases, database) && isAmong(tenants, tenant);
}
