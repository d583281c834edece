/** Agents: MCP clients, their tool calls, and client setup. */
import { placeAdvice } from '../agent-setup.ts';
import {
  agentSetupSchema,
  bridgeTestedSchema,
  callListSchema,
  clientListSchema,
  listCallsQuerySchema,
  testBridgeSchema,
} from '../agents.ts';
import type { OperationSpec } from '../operation-spec.ts';

const shared = { tag: 'agents', tenant: false, database: false, kind: 'read' } as const;

export const agentOperations = {
  listMcpCalls: {
    ...shared,
    method: 'GET',
    path: '/mcp/calls',
    summary: 'The latest tool calls of agents, newest first',
    description:
      'Of the last 10,000, those in databases and tenants that the credential covers; the log survives ' +
      'restarts. For older ones, pass the id of the last one as `before`.',
    role: 'reader',
    query: listCallsQuerySchema,
    output: callListSchema,
    problems: [],
    example: {
      query: { limit: '50' },
      answer: {
        calls: [
          {
            id: '12',
            time: 1782900004000,
            client: 'claude-code',
            tool: 'ask',
            arguments: { predicate: 'grandparent', args: ['alice', '?who'] },
            argumentsCut: false,
            outcome: 'ok',
            elapsedMs: 1.8,
            resultChars: 642,
            result:
              '1 answer:\ngrandparent(alice, carol) by grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z).',
            database: 'default',
            tenant: 'my-project',
            requestId: 'db712e00-5b7b-4f41-afe2-61380afc8b09',
          },
        ],
      },
    },
  },
  listMcpClients: {
    ...shared,
    method: 'GET',
    path: '/mcp/clients',
    summary: 'The connected MCP clients',
    description: 'Those in databases and tenants that the credential covers.',
    role: 'admin',
    output: clientListSchema,
    problems: [],
    example: {
      answer: {
        clients: [
          {
            id: '3',
            name: 'claude-code',
            version: '2.1.0',
            transport: 'streamable-http',
            database: 'default',
            tenant: 'my-project',
            connectedAt: 1782900003000,
            calls: 12,
          },
        ],
      },
    },
  },
  agentSetup: {
    ...shared,
    method: 'GET',
    path: '/mcp/setup',
    summary: 'What a client needs to connect',
    description: 'Addresses, tools, and the command that starts the bridge if it is built.',
    role: 'reader',
    output: agentSetupSchema,
    problems: [],
    example: {
      answer: {
        address: 'http://127.0.0.1:9300',
        streamable: '/mcp',
        sse: '/mcp/sse',
        revisions: ['2026-07-28', '2025-11-25'],
        tools: ['tell', 'ask'],
        bridge: { command: 'corollary-mcp', args: [] },
        bundle: '/corollary.mcpb',
        advice: placeAdvice,
      },
    },
  },
  testBridge: {
    ...shared,
    method: 'POST',
    path: '/mcp/bridge/test',
    summary: 'Start the stdio bridge and run the MCP handshake through it',
    description: 'The bridge ends afterwards; its messages are in the answer, even if it did not connect.',
    role: 'admin',
    body: testBridgeSchema,
    output: bridgeTestedSchema,
    problems: [],
    example: {
      body: { database: 'default', tenant: 'my-project' },
      answer: {
        isConnected: true,
        server: 'corollary 0.1.0',
        revision: '2025-11-25',
        tools: 9,
        elapsedMs: 310,
        detail: null,
      },
    },
  },
} as const satisfies Record<string, OperationSpec>;
