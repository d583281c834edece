/**
 * Agents as users build them: the official clients of both generations, on each transport and at each revision that
 * they support, behind one interface, so that a test can do the same with all.
 */
import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as FirstSseTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as FirstHttpTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  type JSONRPCMessage,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

export const sessionRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export const statelessRevision = '2026-07-28';

export interface AgentKind {
  /** Of the official SDK: the first (`sdk`), or the second (`client`). */
  readonly generation: 1 | 2;
  readonly transport: 'Streamable HTTP' | 'SSE';
  readonly path: '/mcp' | '/mcp/sse';
  readonly revision: (typeof sessionRevisions)[number] | typeof statelessRevision;
  /** Whether the client first finds out which revisions the service supports, and picks the newest. */
  readonly probes?: boolean;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** An agent's notifications: addresses of documents, in order, and how often the list of them changed. */
export interface Told {
  readonly updated: string[];
  lists: number;
}

type Ref = { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string };

export interface Agent {
  readonly told: Told;
  /** The negotiated revision. */
  readonly revision: string;
  readonly serverName: string;
  readonly instructions: string;
  listTools(): Promise<{ name: string; inputSchema: object; outputSchema?: object | undefined }[]>;
  call(name: string, given?: Record<string, unknown>): Promise<ToolAnswer>;
  listResources(): Promise<string[]>;
  listTemplates(): Promise<string[]>;
  /** The only document at that address, parsed. */
  read(uri: string): Promise<unknown>;
  /** Subscribes to changes of these documents and of the list. */
  watch(uris: readonly string[]): Promise<void>;
  /** Unsubscribes from this one. */
  unwatch(uri: string): Promise<void>;
  listPrompts(): Promise<string[]>;
  prompt(name: string, given?: Record<string, string>): Promise<string>;
  complete(ref: Ref, name: string, value: string): Promise<{ values: string[]; total?: number | undefined }>;
  close(): Promise<void>;
}

/** Connects an agent of that kind; the headers are sent with every request. */
export function connectAgent(
  kind: AgentKind,
  address: string,
  headers: Readonly<Record<string, string>>,
  name = 'agent',
): Promise<Agent> {
  const url = new URL(kind.path, address);
  const options = { requestInit: { headers: { ...headers } } };
  return kind.generation === 1
    ? connectFirst(kind, url, options, name)
    : connectSecond(kind, url, options, name);
}

interface TransportOptions {
  readonly requestInit: { headers: Record<string, string> };
}

const version = '1.0.0';

async function connectFirst(
  kind: AgentKind,
  url: URL,
  options: TransportOptions,
  name: string,
): Promise<Agent> {
  const transport =
    kind.transport === 'SSE' ? new FirstSseTransport(url, options) : new FirstHttpTransport(url, options);
  let agreed = '';
  const setVersion = transport.setProtocolVersion.bind(transport);
  transport.setProtocolVersion = (revision) => {
    agreed = revision;
    setVersion(revision);
  };
  // This client always requests the newest revision that it knows: an older one is substituted.
  const send = transport.send.bind(transport);
  transport.send = (message: JSONRPCMessage) => send(askingFor(kind.revision, message));
  const client = new FirstClient({ name, version });
  const told: Told = { updated: [], lists: 0 };
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void told.updated.push(params.uri),
  );
  client.setNotificationHandler(ResourceListChangedNotificationSchema, () => void told.lists++);
  await client.connect(transport);
  return {
    ...common(client),
    told,
    revision: agreed,
    async call(tool, given = {}) {
      return toolAnswer(CallToolResultSchema.parse(await client.callTool({ name: tool, arguments: given })));
    },
    async watch(uris) {
      for (const uri of uris) await client.subscribeResource({ uri });
    },
    async unwatch(uri) {
      await client.unsubscribeResource({ uri });
    },
  };
}

function askingFor(revision: string, message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.method !== 'initialize') return message;
  return { ...message, params: { ...message.params, protocolVersion: revision } };
}

async function connectSecond(
  kind: AgentKind,
  url: URL,
  options: TransportOptions,
  name: string,
): Promise<Agent> {
  const isStateless = kind.revision === statelessRevision;
  const pinned = isStateless ? { pin: kind.revision } : 'legacy';
  const mode: VersionNegotiationMode = kind.probes === true ? 'auto' : pinned;
  const client = new Client(
    { name, version },
    {
      versionNegotiation: { mode },
      ...(isStateless ? {} : { supportedProtocolVersions: [kind.revision] }),
    },
  );
  const told: Told = { updated: [], lists: 0 };
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void told.updated.push(params.uri),
  );
  client.setNotificationHandler('notifications/resources/list_changed', () => void told.lists++);
  const Transport = kind.transport === 'SSE' ? SSEClientTransport : StreamableHTTPClientTransport;
  await client.connect(new Transport(url, options));
  let stream: { close(): Promise<void> } | null = null;
  let watched: string[] = [];
  const listen = async () => {
    await stream?.close();
    stream = await client.listen({ resourcesListChanged: true, resourceSubscriptions: watched });
  };
  return {
    ...common(client),
    told,
    revision: client.getNegotiatedProtocolVersion() ?? '',
    call: async (tool, given = {}) => toolAnswer(await client.callTool({ name: tool, arguments: given })),
    async watch(uris) {
      watched = [...watched, ...uris];
      if (isStateless) await listen();
      else for (const uri of uris) await client.subscribeResource({ uri });
    },
    async unwatch(uri) {
      watched = watched.filter((each) => each !== uri);
      if (isStateless) await listen();
      else await client.unsubscribeResource({ uri });
    },
  };
}

/** What both generations have in common, by name and by shape. */
function common(client: Client | FirstClient) {
  return {
    serverName: client.getServerVersion()?.name ?? '',
    instructions: client.getInstructions() ?? '',
    listTools: async () => (await client.listTools()).tools,
    listResources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    listTemplates: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    async read(uri: string): Promise<unknown> {
      const { contents } = await client.readResource({ uri });
      const [content] = contents;
      if (content === undefined || !('text' in content)) throw new Error('a document of text was expected');
      return JSON.parse(content.text);
    },
    listPrompts: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    prompt: async (name: string, given?: Record<string, string>) =>
      JSON.stringify(
        (await client.getPrompt(given === undefined ? { name } : { name, arguments: given })).messages,
      ),
    complete: async (ref: Ref, name: string, value: string) =>
      (await client.complete({ ref, argument: { name, value } })).completion,
    close: () => client.close(),
  };
}

interface ToolResult {
  readonly isError?: boolean | undefined;
  readonly content: readonly { readonly type: string; readonly text?: unknown }[];
  readonly structuredContent?: unknown;
}

function toolAnswer({ isError = false, content, structuredContent }: ToolResult): ToolAnswer {
  const [first] = content;
  return {
    isError,
    text: typeof first?.text === 'string' ? first.text : '',
    content: (structuredContent ?? {}) as Record<string, unknown>,
  };
}
