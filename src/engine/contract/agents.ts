/** Wire schemas of agents: MCP clients, their calls, and client setup. */
import { z } from 'zod';
import {
  databaseNameSchema,
  defaulted,
  optional,
  queryInteger,
  tenantNameSchema,
  timeSchema,
} from './fields.ts';

/** The name under which the workbench connects over MCP; the call log shows it too. */
export const workbenchClientName = 'Corollary workbench';

/** Size of the call log, which survives restarts. */
export const rememberedCalls = 10_000;

export const listCallsQuerySchema = z.strictObject({
  limit: optional(queryInteger(1, 100_000)).describe('Maximum number of calls; absent: all in the log'),
  before: optional(z.string().max(64)).describe('Id of a call: return only older ones'),
});
export type ListCallsQuery = z.output<typeof listCallsQuerySchema>;

/** One finished tool call. */
export const toolCallSchema = z.object({
  id: z.string().describe('Increases with every call, also across restarts; the id of its mcp.call event'),
  time: timeSchema,
  client: z.string().nullable().describe('The name that the client gave'),
  tool: z.string(),
  arguments: z
    .record(z.string(), z.unknown())
    .describe('As received; if long, with texts and lists truncated and argumentsCut true'),
  argumentsCut: z.boolean(),
  outcome: z.enum(['ok', 'error']),
  elapsedMs: z.number(),
  resultChars: z.int().describe('UTF-16 code units of the text and the structured content, as JSON'),
  result: z.string().describe('The text returned to the agent, truncated if long'),
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
    .describe('stateless: no session; listed as long as its latest calls are remembered'),
  database: z.string(),
  tenant: z.string(),
  connectedAt: timeSchema,
  calls: z.int().describe('Tool calls so far'),
});
export type AgentClient = z.output<typeof agentClientSchema>;

/** In order of connection. */
export const clientListSchema = z.object({ clients: z.array(agentClientSchema) });
export type ClientList = z.output<typeof clientListSchema>;

/** What the client configurations are built from. */
export const agentSetupSchema = z.object({
  address: z.string().describe('Address of the service on this machine: http://127.0.0.1:9300'),
  streamable: z.string().describe('Path of the Streamable HTTP transport'),
  sse: z.string().describe('Path of the older SSE transport'),
  revisions: z.array(z.string()).describe('MCP revisions, newest first'),
  tools: z.array(z.string()),
  bridge: z
    .object({ command: z.string(), args: z.array(z.string()) })
    .nullable()
    .describe('Command that starts the stdio bridge; null: not built'),
  bundle: z.string().nullable().describe('Download path of the .mcpb bundle; null: not built'),
  advice: z.string().describe('Where rules, facts and scopes live, and what to choose for a project'),
});
export type AgentSetup = z.output<typeof agentSetupSchema>;

export const testBridgeSchema = z.strictObject({
  database: defaulted(databaseNameSchema, 'default'),
  tenant: defaulted(tenantNameSchema, 'default'),
  key: optional(z.string().max(4096)).describe('The credential for the bridge'),
});
export type TestBridgeInput = z.output<typeof testBridgeSchema>;

/** The result of starting the bridge and running the handshake through it. */
export const bridgeTestedSchema = z.object({
  isConnected: z.boolean(),
  server: z.string().nullable().describe('Name and version, as the bridge reported them'),
  revision: z.string().nullable(),
  tools: z.int(),
  elapsedMs: z.number(),
  detail: z.string().nullable().describe('What went wrong, in the words of the bridge'),
});
export type BridgeTested = z.output<typeof bridgeTestedSchema>;
