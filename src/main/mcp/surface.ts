/**
 * What a server offers over MCP: its tools, resources and prompts, whichever revision and transport serves them.
 *
 * The product has one, the knowledge base (`knowledge-surface.ts`). That it can be another lets the official conformance
 * suite, which asks for tools of its own, meet our transports, sessions and authentication as they are. How a message
 * arrives, who may send it, and what a client is told of changes is not a surface's business.
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

/** One request: who asks, and what it came with. */
export interface SurfaceCall {
  readonly host: McpHost;
  readonly caller: Caller;
  /** The SDK's view of the request: what its client can do, and ways to speak to it while the call runs. */
  readonly context: ServerContext;
}

export interface ResourcePage {
  resources: Resource[];
  nextCursor?: string;
}

export interface McpSurface {
  /** What a client is told before it asks: capabilities, instructions, and how the state of a call is checked. */
  readonly options: Pick<ServerOptions, 'capabilities' | 'instructions' | 'requestState'>;
  listTools(): Tool[];
  /** Resolves for an unknown tool too, as a tool error or by refusing with a ProtocolError. */
  callTool(
    call: SurfaceCall,
    name: string,
    given: Readonly<Record<string, unknown>>,
  ): Promise<CallToolResult | InputRequiredResult>;
  /** The page that `cursor` is of, the first where it is undefined; null where it is of none. */
  listResources(call: SurfaceCall, cursor: string | undefined): Promise<ResourcePage | null>;
  listResourceTemplates(): ResourceTemplateType[];
  /** Null where there is no resource of that address. */
  readResource(call: SurfaceCall, uri: string): Promise<ReadResourceResult | InputRequiredResult | null>;
  listPrompts(): Prompt[];
  /** Null where there is no prompt of that name; refuses with ValidationException what it lacks. */
  getPrompt(
    call: SurfaceCall,
    name: string,
    given: Readonly<Record<string, string>>,
  ): Promise<GetPromptResult | InputRequiredResult | null>;
  complete(call: SurfaceCall, params: CompleteRequest['params']): Promise<CompleteResult>;
}
