/**
 * The OpenAPI 3.1 description, generated from the operations table, its schemas and the problem table.
 *
 * The schemas that validate a request also describe it, so nothing is written twice. Schemas and problems that several
 * operations share are under `components`. Routes that are not in the table (this description itself, the metrics, the
 * viewer) are added by hand; MCP, the workbench's files and the samples are described elsewhere.
 */
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import { type OperationSpec, operationTags } from '../../engine/contract/operation-spec.ts';
import type { ProblemCode } from '../../engine/contract/problems.ts';
import { answerHeaders, headerParameters, headersOf } from './openapi-headers.ts';
import { describeOperation } from './openapi-operation.ts';
import { problemResponses, problemSchema } from './openapi-problems.ts';
import { introduction, tagProse } from './openapi-prose.ts';
import type { Components, Described } from './openapi-schemas.ts';

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
    servers: [{ url: '/', description: 'The service that gave this description' }],
    security: [{}, { bearer: [] }, { apiKey: [] }],
    tags: operationTags.map((name) => ({ name, description: tagProse[name] })),
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
          description: 'The key of `POST /auth/keys` or of the bootstrap, or API_KEY.',
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
        ...problemResponses(codes, components),
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
      'Answers in every phase of the service. No label carries a fact, an argument, a tenant or a key.',
      { 'text/plain': { schema: { type: 'string' }, example: metricsExample } },
      forReaders,
    ),
    '/metrics/history': document(
      'metricsHistory',
      'Metrics of the last day',
      'The series of /metrics that tell how the service fares, every five minutes, through restarts: each sample with ' +
        'its time in epoch milliseconds, in the text format of Prometheus. A crash may lose the last minutes.',
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
      'A page that shows this description without loading anything from elsewhere. It asks for a key where one is needed.',
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
