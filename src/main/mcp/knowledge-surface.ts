/** The product's MCP surface: the knowledge base, with the operations that agents use as tools. */
import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import type { Caller } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';
import { runToolCall } from './call-tool.ts';
import { getPrompt, promptListing } from './prompts.ts';
import { appExtensions } from './proof-app.ts';
import { listResources, predicateNames, readResource, resourceTemplates } from './resources.ts';
import type { McpSurface } from './surface.ts';
import { tools } from './tools.ts';

const instructions =
  'A knowledge base that reasons: facts are told, rules are taught, questions are answered with what follows ' +
  'and a proof of it. Call predicates first to learn the vocabulary, then ask. Tell what you learn as ground ' +
  'facts, teach what is true in general as rules. Arguments that start with ? are variables. An empty answer ' +
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
export async function complete(
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
