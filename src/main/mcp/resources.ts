/**
 * The resources: parts of the knowledge base that a client can read as documents, each the answer of one
 * operation of the table.
 */
import { EngineError, type Caller } from '../../engine/index.ts';
import type { McpHost } from '../mcp-host.ts';

const mimeType = 'application/json';

const resources = [
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
] as const;

/** As `resources/list` answers it. */
export const resourceListing = resources.map(({ operation: _, ...listing }) => ({ ...listing, mimeType }));

/** The contents of the resource, or null where there is none of that address. Refuses with a plain error. */
export async function readResource(
  host: McpHost,
  caller: Caller,
  uri: string,
): Promise<{ uri: string; mimeType: string; text: string } | null> {
  const resource = resources.find((candidate) => candidate.uri === uri);
  if (resource === undefined) return null;
  try {
    const content = await host.perform(resource.operation, caller, undefined);
    return { uri, mimeType, text: JSON.stringify(content) };
  } catch (error) {
    if (error instanceof EngineError || caller.signal.aborted) throw error;
    host.logger.error(
      { err: error, requestId: caller.requestId, resource: resource.uri },
      'reading a resource failed',
    );
    throw new EngineError('Internal', `the log has more under request id ${caller.requestId}`);
  }
}
