/**
 * What a server offers over MCP: its tools, resources and prompts, for every revision and transport.
 *
 * The product has one, the knowledge base (`knowledge-surface.ts`). The interface lets the official conformance suite,
 * which needs its own tools, test the real transports, sessions and authentication. Transport, permission and
 * notifications are not a surface's concern.
 */
import type {
  CallToolResult,
  CompleteRequest,
  CompleteResult,
  GetPromptResult,
  InputRequiredResult,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplateType,
  ServerContext,
  ServerOptions,
  Tool,
} from '@modelcontextprotocol/server';
import type { Caller } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';

/** One request and its caller. */
export interface SurfaceCall {
  readonly host: McpHost;
  readonly caller: Caller;
  /** The SDK's view of the request: the client's capabilities, and ways to send to it while the call runs. */
  readonly context: ServerContext;
}

export interface ResourcePage {
  resources: Resource[];
  nextCursor?: string;
}

export interface McpSurface {
  /** What a client learns at the start: capabilities, instructions, and how the state of a call is checked. */
  readonly options: Pick<ServerOptions, 'capabilities' | 'instructions' | 'requestState'>;
  listTools(): Tool[];
  /** Resolves for an unknown tool too, with a tool error, or refuses with a ProtocolError. */
  callTool(
    call: SurfaceCall,
    name: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<CallToolResult | InputRequiredResult>;
  /** The page of `cursor`, or the first if undefined; null if the cursor is invalid. */
  listResources(call: SurfaceCall, cursor: string | undefined): Promise<ResourcePage | null>;
  listResourceTemplates(): ResourceTemplateType[];
  /** Null if no resource has that address. */
  readResource(call: SurfaceCall, uri: string): Promise<ReadResourceResult | InputRequiredResult | null>;
  listPrompts(): Prompt[];
  /** Null if there is no such prompt; refuses missing arguments with ValidationException. */
  getPrompt(
    call: SurfaceCall,
    name: string,
    given: Readonly<Record<string, string>>,
  ): Promise<GetPromptResult | InputRequiredResult | null>;
  complete(call: SurfaceCall, params: CompleteRequest['params']): Promise<CompleteResult>;
}
