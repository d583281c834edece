/**
 * The resources: parts of the knowledge base that a client can read as documents, each the answer of one operation of
 * the table.
 *
 * Besides the three fixed ones and the page of proof-app.ts, each predicate with stored facts has one. Its address
 * contains the predicate, percent-encoded.
 */
import type { Resource, ResourceTemplateType, TextResourceContents } from '@modelcontextprotocol/server';
import type { OperationOutput } from '../../engine/contract/operations.ts';
import { EngineError, type Caller } from '../../engine/index.ts';
import type { McpHost } from '../base/mcp-host.ts';
import { proofAppListing, proofAppUri, readProofApp } from './proof-app.ts';

const mimeType = 'application/json';

const documents = [
  {
    uri: 'kb://predicates',
    name: 'predicates',
    title: 'Predicates',
    description: 'The vocabulary: every predicate with its arity, counts and an example.',
    operation: 'listPredicates',
  },
  {
    uri: 'kb://rules',
    name: 'rules',
    title: 'Rules',
    description: 'Every rule of the database, as text and as atoms.',
    operation: 'listRules',
  },
  {
    uri: 'kb://scopes',
    name: 'scopes',
    title: 'Scopes',
    description: 'Every scope, with its facts and rules counted.',
    operation: 'listScopes',
  },
] as const;

const factsPrefix = 'kb://facts/';
/** Maximum number of facts in one document: as many as on a page of GET /facts. */
const maxFacts = 1000;
/** Resources on one page of the list. */
const pageSize = 200;

/** The answer to `resources/templates/list`. */
export const resourceTemplates: ResourceTemplateType[] = [
  {
    uriTemplate: `${factsPrefix}{predicate}`,
    name: 'facts',
    title: 'Facts of a predicate',
    description: `The stored facts of one predicate, the most salient ${maxFacts} of them.`,
    mimeType,
  },
];

/** The address of the document about a predicate. */
export function factsUri(predicate: string): string {
  return `${factsPrefix}${encodeURIComponent(predicate)}`;
}

/** The predicate of a document's address; null for any other address. */
export function predicateIn(uri: string): string | null {
  if (!uri.startsWith(factsPrefix)) return null;
  try {
    const name = decodeURIComponent(uri.slice(factsPrefix.length));
    return name === '' ? null : name;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

/** A page of all resources; `cursor` is that of the page before. Null if the cursor is invalid. */
export async function listResources(
  host: McpHost,
  caller: Caller,
  cursor: string | undefined,
): Promise<{ resources: Resource[]; nextCursor?: string } | null> {
  const from = cursor === undefined ? 0 : Number(/^[0-9]{1,9}$/.exec(cursor)?.[0] ?? Number.NaN);
  if (Number.isNaN(from)) return null;
  const names = await predicateNames(host, caller);
  const all: Resource[] = [
    ...documents.map(({ operation: _, ...listing }) => ({ ...listing, mimeType })),
    proofAppListing,
    ...names.map((name) => ({
      uri: factsUri(name),
      name: `facts/${name}`,
      title: `Facts of ${name}`,
      mimeType,
    })),
  ];
  const resources = all.slice(from, from + pageSize);
  const end = from + resources.length;
  return end < all.length ? { resources, nextCursor: String(end) } : { resources };
}

/** The predicates with stored facts, each once, in the order of GET /predicates. */
export async function predicateNames(host: McpHost, caller: Caller): Promise<string[]> {
  const { predicates } = (await host.perform(
    'listPredicates',
    caller,
    {},
  )) as OperationOutput<'listPredicates'>;
  return [...new Set(predicates.filter(({ facts }) => facts > 0).map(({ name }) => name))];
}

/** The contents of the resource, or null if no resource has that address. Refuses with a plain error. */
export async function readResource(
  host: McpHost,
  caller: Caller,
  uri: string,
): Promise<TextResourceContents | null> {
  if (uri === proofAppUri) return readProofApp(host);
  const content = await contentOf(host, caller, uri);
  return content === null ? null : { uri, mimeType, text: JSON.stringify(content) };
}

async function contentOf(host: McpHost, caller: Caller, uri: string): Promise<unknown> {
  const document = documents.find((candidate) => candidate.uri === uri);
  try {
    if (document !== undefined) return await host.perform(document.operation, caller, {});
    const predicate = predicateIn(uri);
    if (predicate === null) return null;
    const query = { predicate, sort: 'salience', order: 'desc', limit: String(maxFacts) };
    return await host.perform('listFacts', caller, { query });
  } catch (error) {
    // An invalid predicate has no facts either.
    if (error instanceof EngineError && error.code === 'ValidationException') return null;
    if (error instanceof EngineError || caller.signal.aborted) throw error;
    host.logger.error({ err: error, requestId: caller.requestId }, 'reading a resource failed');
    throw new EngineError('Internal', `the log has more under request id ${caller.requestId}`);
  }
}
