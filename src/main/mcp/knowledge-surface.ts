/** What the product offers over MCP: the knowledge base, with the operations that agents use as tools. */
import { callTool } from './call-tool.ts';
import { complete } from './completion.ts';
import { appExtensions } from './proof-app.ts';
import { getPrompt, promptListing } from './prompts.ts';
import { listResources, readResource, resourceTemplates } from './resources.ts';
import type { McpSurface } from './surface.ts';
import { tools } from './tools.ts';

const instructions =
  'A knowledge base that reasons: facts are told, rules are taught, questions are answered with what follows ' +
  'and a proof of it. Call predicates first to learn the vocabulary, then ask. Tell what you learn as ground ' +
  'facts, teach what is true in general as rules. Arguments that start with ? are variables. An empty answer ' +
  'means that it does not follow; a false fact is told with truthVal: false and asked with negated: true.';

/** With every field of the tools listed; else those that are used most. */
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
  callTool: ({ host, caller }, name, given) => callTool(host, caller, name, given),
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
