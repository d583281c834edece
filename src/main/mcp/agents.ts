/**
 * What the service knows of the agents that speak to it: its log of tool calls and its list of clients.
 */
import type {
  AgentSetup,
  BridgeTested,
  CallList,
  ClientList,
  ListCallsQuery,
  TestBridgeInput,
} from '../../engine/contract/agents.ts';
import { type Caller, EngineError } from '../../engine/index.ts';

export interface Agents {
  /** Those of databases and tenants that the caller's credential covers, newest first. */
  calls(caller: Caller, query: ListCallsQuery): CallList;
  /** Those of databases and tenants that the caller's credential covers, in the order of connecting. */
  clients(caller: Caller): ClientList;
  setup(): AgentSetup;
  /** Starts the bridge as a client would, shakes hands through it, lists its tools and ends it. */
  testBridge(caller: Caller, input: TestBridgeInput): Promise<BridgeTested>;
}

function toBeWritten(): never {
  throw new EngineError('NotReady', 'to be written');
}

export const agents: Agents = {
  calls: toBeWritten,
  clients: toBeWritten,
  setup: toBeWritten,
  testBridge: toBeWritten,
};
