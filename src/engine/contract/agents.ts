/** Agents on the wire: who is connected over MCP, what they called, and what a client needs to connect. */
import { z } from 'zod';
import {
  databaseNameSchema,
  defaulted,
  optional,
  queryInteger,
  tenantNameSchema,
  timeSchema,
} from './fields.ts';

/** How the workbench names itself as a client of MCP, in the log of calls too. */
export const workbenchClientName = 'Corollary workbench';

/** Calls that are remembered, through restarts. */
export const rememberedCalls = 10_000;

export const listCallsQuerySchema = z.strictObject({
  limit: optional(queryInteger(1, 100_000)).describe('Calls at most; absent: all that are remembered'),
  before: optional(z.string().max(64)).describe('Id of a call: those that are older than it'),
});
export type ListCallsQuery = z.output<typeof listCallsQuerySchema>;

/** One finished tool call. */
export const toolCallSchema = z.object({
  id: z.string().describe('Ascends with every call, through restarts; the id of its mcp.call event'),
  time: timeSchema,
  client: z.string().nullable().describe('As the client names itself'),
  tool: z.string(),
  arguments: z
    .record(z.string(), z.unknown())
    .describe('As they came; where they are long, with long texts and lists cut, and argumentsCut true'),
  argumentsCut: z.boolean(),
  outcome: z.enum(['ok', 'error']),
  elapsedMs: z.number(),
  resultChars: z.int().describe('UTF-16 code units of the text and the structured content, as JSON'),
  result: z.string().describe('The text that the agent was given, cut where it is long'),
  database: z.string(),
  tenant: z.string(),
  requestId: z.string(),
});
export type ToolCallRecord = z.output<typeof toolCallSchema>;

/** Newest first. */
export const callListSchema = z.object({ calls: z.array(toolCallSchema) });
export type CallList = z.output<typeof callListSchema>;

export const agentTransports = ['streamable-http', 'sse', 'stateless'] as const;

export const agentClientSchema = z.object({
  id: z.string(),
  name: z.string().nullable(),
  version: z.string().nullable(),
  transport: z
    .enum(agentTransports)
    .describe('stateless: it spoke without a session, and is shown while it is known from its last calls'),
  database: z.string(),
  tenant: z.string(),
  connectedAt: timeSchema,
  calls: z.int().describe('Tool calls so far'),
});
export type AgentClient = z.output<typeof agentClientSchema>;

/** In the order of connecting. */
export const clientListSchema = z.object({ clients: z.array(agentClientSchema) });
export type ClientList = z.output<typeof clientListSchema>;

/** What a configuration of a client is made of. */
export const agentSetupSchema = z.object({
  address: z.string().describe('Where this machine reaches the service: http://127.0.0.1:9300'),
  streamable: z.string().describe('Path of Streamable HTTP'),
  sse: z.string().describe('Path of the older transport'),
  revisions: z.array(z.string()).describe('Of MCP, newest first'),
  tools: z.array(z.string()),
  bridge: z
    .object({ command: z.string(), args: z.array(z.string()) })
    .nullable()
    .describe('How a program is started that speaks MCP on its standard input and output; null: not built'),
  bundle: z.string().nullable().describe('Path that gives the .mcpb bundle; null: not built'),
  advice: z.string().describe('Where rules, facts and scopes live, and what to take for a project'),
});
export type AgentSetup = z.output<typeof agentSetupSchema>;

export const testBridgeSchema = z.strictObject({
  database: defaulted(databaseNameSchema, 'default'),
  tenant: defaulted(tenantNameSchema, 'default'),
  key: optional(z.string().max(4096)).describe('The credential that the bridge is given'),
});
export type TestBridgeInput = z.output<typeof testBridgeSchema>;

/** What came of starting the bridge and shaking hands through it. */
export const bridgeTestedSchema = z.object({
  isConnected: z.boolean(),
  server: z.string().nullable().describe('Name and version, as the bridge answered'),
  revision: z.string().nullable(),
  tools: z.int(),
  elapsedMs: z.number(),
  detail: z.string().nullable().describe('What went wrong, in words of the bridge'),
});
export type BridgeTested = z.output<typeof bridgeTestedSchema>;
