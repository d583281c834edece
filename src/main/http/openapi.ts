/**
 * The OpenAPI 3.1 description, generated from the operations table, its schemas and the problem table.
 *
 * An operation's entry has its schemas, prose, problems and examples, so nothing is written twice. Schemas and problems
 * that several operations share are under `components`. Routes that are not in the table (this description itself, the
 * metrics, the viewer) are added by hand; MCP, the workbench's files and the samples are described elsewhere.
 */
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import { type OperationSpec, operationTags } from '../../engine/contract/operation-spec.ts';
import { type ProblemCode, statusOf } from '../../engine/contract/problems.ts';
import {
  answerHeaders,
  headerParameters,
  headersOf,
  problemResponses,
  problemSchema,
} from './openapi-http.ts';
import { describeOperation } from './openapi-operation.ts';
import type { Components, Described } from './openapi-schemas.ts';

/** The introduction, above all operations. */
const introduction = `Assert facts and rules, ask questions, and get the proof of every answer.

**Conventions.** JSON in and out unless stated; a body needs \`Content-Type: application/json\`. Times are epoch milliseconds,
durations milliseconds. An optional field that is \`null\` counts as absent. Unknown fields and query parameters are refused, so
a typo never means a silent default. In an argument list, a string that starts with \`?\` is a variable; numbers and booleans
become text.

**Tenants and databases.** Facts belong to a tenant of a database (\`X-Tenant-ID\`, \`X-Database\`); rules belong to the database
and serve all its tenants. The first write creates a tenant; reading one that does not exist gives empty results.

**Writes** answer once they are durable, with \`generation\`, the write counter of the database after them. \`dryRun: true\`, where
available, gives the answer of the real call and changes nothing.

**Errors** are \`application/problem+json\` (RFC 9457) with a \`code\` to switch on. If several reasons apply, a request is refused
for the first of these: 503 not ready, 403 Origin or Host, 404 or 405 address, 401, 429, 403 role and restrictions, 415, 413,
400 headers and names, 404 database, 400 body, 421, then the operation's own. An address answers methods it does not have with
405 and \`Allow\`, OPTIONS with 204, and HEAD if it has GET; an unknown address is 404.

**Not described here**: MCP (\`/mcp\`, \`/mcp/sse\`) and A2A (\`/a2a\`, its cards \`/.well-known/agent-card.json\` and
\`/.well-known/agent.json\`), which have their own protocols, and the files of the workbench (\`/\`) and of the samples
(\`/samples/index.json\`).`;

/** The document as a JSON value; deterministic for a version. */
export function openApiDocument(version: string): Described {
  const steps = openApiSteps(version);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in steps, one for each operation, so that other work can run in between. */
export function* openApiSteps(version: string): Generator<undefined, Described, undefined> {
  const components: Components = { schemas: { Problem: problemSchema() }, responses: {} };
  const paths: Record<string, Described> = {};
  for (const [key, spec] of Object.entries<OperationSpec>(operations)) {
    const name = key as OperationName;
    for (const [index, path] of [spec.path, ...(spec.aliases ?? [])].entries()) {
      const id = index === 0 ? name : `${name}Alias${index}`;
      const item = (paths[path.replace(/:(\w+)/g, '{$1}')] ??= {});
      item[spec.method.toLowerCase()] = describeOperation(name, id, spec, components);
    }
    yield;
  }
  Object.assign(paths, serviceDocuments(components));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Corollary',
      version,
      summary: 'Knowledge with inference: facts, rules, questions, and the proof of every answer.',
      description: introduction,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that served this description' }],
    security: [{}, { bearer: [] }, { apiKey: [] }],
    tags: Object.entries(operationTags).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: inOrder(components.schemas),
      responses: inOrder(components.responses),
      parameters: headerParameters,
      headers: answerHeaders,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A key from `POST /auth/keys` or the bootstrap, or API_KEY.',
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key.' },
      },
    },
  };
}

/** The routes that describe the service itself and are not operations of the table. */
function serviceDocuments(components: Components): Record<string, Described> {
  const document = (
    id: string,
    summary: string,
    description: string,
    content: Described,
    codes: readonly ProblemCode[],
  ): Described => ({
    get: {
      operationId: id,
      summary,
      description,
      tags: ['service'],
      ...(codes.includes('Unauthenticated') ? { 'x-role': 'reader' } : { 'x-role': 'public', security: [] }),
      parameters: [{ $ref: '#/components/parameters/RequestId' }],
      responses: {
        '200': { description: summary, headers: headersOf(), content },
        ...problemResponses(
          codes.map((code) => ({ code, status: statusOf(code, false) })),
          components,
        ),
      },
    },
  });
  const forReaders = [
    'ValidationException',
    'Unauthenticated',
    'Forbidden',
    'RateLimited',
    'Internal',
  ] as const;
  return {
    '/metrics': document(
      'metrics',
      'Metrics in the text format of Prometheus',
      'Answers in every phase of the service. No label contains a fact, an argument, a tenant or a key.',
      { 'text/plain': { schema: { type: 'string' }, example: metricsExample } },
      forReaders,
    ),
    '/metrics/history': document(
      'metricsHistory',
      'Metrics of the last day',
      'Selected series of /metrics, sampled every five minutes and kept across restarts: each sample with its time in ' +
        'epoch milliseconds, in the text format of Prometheus. A crash may lose the last minutes.',
      { 'text/plain': { schema: { type: 'string' }, example: 'service_uptime_seconds 300 1760000000000\n' } },
      [...forReaders, 'NotReady'],
    ),
    '/openapi.json': document(
      'openapi',
      'This description',
      'Generated from the schemas that validate requests.',
      { 'application/json': { schema: { type: 'object', properties: { openapi: { type: 'string' } } } } },
      [...forReaders, 'NotReady'],
    ),
    '/docs': document(
      'docs',
      'This description, for people',
      'A page that shows this description and works offline. It asks for a key if one is needed.',
      { 'text/html': { schema: { type: 'string' } } },
      ['Forbidden', 'Internal', 'NotReady'],
    ),
  };
}

const metricsExample = `# HELP service_facts_asserted_total Facts that were newly stored
# TYPE service_facts_asserted_total counter
service_facts_asserted_total 2
`;

/** The entries sorted by name. */
function inOrder(entries: Described): Described {
  return Object.fromEntries(Object.entries(entries).toSorted(([left], [right]) => (left < right ? -1 : 1)));
}
