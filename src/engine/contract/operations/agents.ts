/** Agents: who is connected over MCP, what they called, and how a client is set up. */
import {
  agentSetupSchema,
  bridgeTestedSchema,
  callListSchema,
  clientListSchema,
  listCallsQuerySchema,
  testBridgeSchema,
} from '../agents.ts';
import type { OperationSpec } from '../operation-spec.ts';

export const agentOperations = {
  listMcpCalls: {
    method: 'GET',
    path: '/mcp/calls',
    summary: 'The last tool calls of agents, newest first',
    tag: 'agents',
    tenant: false,
    database: false,
    role: 'reader',
    kind: 'read',
    query: listCallsQuerySchema,
    output: callListSchema,
    problems: [],
  },
  listMcpClients: {
    method: 'GET',
    path: '/mcp/clients',
    summary: 'The clients that are connected over MCP',
    tag: 'agents',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'read',
    output: clientListSchema,
    problems: [],
  },
  agentSetup: {
    method: 'GET',
    path: '/mcp/setup',
    summary: 'What a client needs to connect',
    tag: 'agents',
    tenant: false,
    database: false,
    role: 'reader',
    kind: 'read',
    output: agentSetupSchema,
    problems: [],
  },
  testBridge: {
    method: 'POST',
    path: '/mcp/bridge/test',
    summary:
      'Start the bridge for programs that speak on standard input and output, and shake hands through it',
    tag: 'agents',
    tenant: false,
    database: false,
    role: 'admin',
    kind: 'read',
    body: testBridgeSchema,
    output: bridgeTestedSchema,
    problems: [],
  },
} as const satisfies Record<string, OperationSpec>;
