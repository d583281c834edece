/**
 * What a server offers over MCP: its tools, resources and prompts, for every revision and transport.
 *
 * The product has one, the knowledge base, with the operations that agents use as tools. The interface lets the official conformance suite,
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
import type { McpHost } from '../base/agent-host.ts';
import { runToolCall } from './call-tool.ts';
import { getPrompt, promptListing } from './prompts.ts';
import { appExtensions } from './proof-app.ts';
import { listResources, predicateNames, readResource, resourceTemplates } from './resources.ts';
import { tools } from './tools.ts';

/** One request and its caller. */
export interface SurfaceCall {
  readonly host: McpHost;
  readonly caller: Caller;
  /** The SDK's view of the request: the client's capabilities, and ways to send to it while the call runs. */
  readonly context: ServerContext;
}

interface ResourcePage {
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

const instructions =
  'A knowledge base that reasons: facts are told, rules are taught, questions are answered with what follows ' +
  'and a proof of it. It remembers between sessions: begin a task with recall and the task as query. Call ' +
  'predicates to learn the vocabulary, then ask. Tell what you learn as ground facts, several in one call; teach ' +
  'what is true in general as rules. Arguments that start with ? are variables. An empty answer ' +
  'means that it does not follow; a false fact is told with truthVal: false and asked with negated: true.';

/** The surface with every field in the listings of tools, or only the most used ones. */
export function knowledgeSurfaceWith(fields: 'short' | 'all'): McpSurface {
  const listings = [...tools.values()].map(({ listing, fullListing }) =>
    fields === 'all' ? fullListing : listing,
  );
  return { ...knowledgeSurface, listTools: () => listings };
}

export const knowledgeSurface: McpSurface = {
  options: {
    capabilities: {
      tools: {},
      resources: { subscribe: true, listChanged: true },
      prompts: {},
      completions: {},
      extensions: appExtensions,
    },
    instructions,
  },
  listTools: () => [...tools.values()].map(({ listing }) => listing),
  callTool: ({ host, caller }, name, given) => runToolCall(host, caller, name, given),
  listResources: ({ host, caller }, cursor) => listResources(host, caller, cursor),
  listResourceTemplates: () => resourceTemplates,
  async readResource({ host, caller }, uri) {
    const contents = await readResource(host, caller, uri);
    return contents === null ? null : { contents: [contents] };
  },
  listPrompts: () => promptListing,
  getPrompt: ({ host, caller }, name, given) => getPrompt(host, caller, name, given),
  complete: ({ host, caller }, params) => complete(host, caller, params),
};

/** Maximum number of values of one completion, as the protocol says. */
const maxValues = 100;

/**
 * Completes the name of a predicate: in the address of its facts, and in an atom to explain before its first argument.
 * Names that start with the input come first, then those that contain it.
 */
async function complete(
  host: McpHost,
  caller: Caller,
  { ref, argument }: CompleteRequest['params'],
): Promise<CompleteResult> {
  const isPredicate =
    ref.type === 'ref/resource'
      ? resourceTemplates.some(({ uriTemplate }) => uriTemplate === ref.uri) && argument.name === 'predicate'
      : ref.name === 'explain_conclusion' && argument.name === 'atom';
  if (!isPredicate || argument.value.includes('('))
    return { completion: { values: [], total: 0, hasMore: false } };
  const wanted = argument.value.trim().toLowerCase();
  const names = await predicateNames(host, caller);
  const begin = names.filter((name) => name.toLowerCase().startsWith(wanted));
  const hold = names.filter((name) => !begin.includes(name) && name.toLowerCase().includes(wanted));
  const fitting = [...begin, ...hold];
  const values = fitting.slice(0, maxValues);
  return { completion: { values, total: fitting.length, hasMore: fitting.length > values.length } };
}
