/**
 * The OpenAPI 3.1 description, generated from the operations table, its schemas and the problem table.
 *
 * Nothing about an operation is written here twice: what validates a request also describes it. Schemas that
 * several operations share stand once under `components`.
 */
import { type JsonSchema, jsonSchemaOf } from '../../engine/contract/json-schema.ts';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import { type OperationSpec, operationTags } from '../../engine/contract/operation-spec.ts';
import { type ProblemCode, problems } from '../../engine/contract/problems.ts';
import { pendingSchema } from '../../engine/contract/transactions.ts';
import { present } from '../../engine/index.ts';
import { bodyExamples } from './openapi-examples.ts';
import { problemType } from './problem.ts';
import { takesKey } from './takes-key.ts';

type Described = Record<string, unknown>;

/** What the operations share; filled while they are described. */
interface Components {
  readonly schemas: Record<string, JsonSchema>;
  readonly responses: Record<string, Described>;
  /** Names given to the definitions inside of a schema, by all of them as JSON. */
  readonly namesOfParts: Map<string, ReadonlyMap<string, string>>;
}

const standingHeaders = {
  'X-Request-ID': { $ref: '#/components/headers/RequestId' },
  'X-API-Version': { $ref: '#/components/headers/ApiVersion' },
};

/** The document as a JSON value; deterministic for a version. */
export function openApiDocument(version: string): Described {
  const components: Components = {
    schemas: { Problem: problemSchema() },
    responses: {},
    namesOfParts: new Map(),
  };
  const paths: Record<string, Described> = {};
  for (const [key, spec] of Object.entries<OperationSpec>(operations)) {
    const name = key as OperationName;
    for (const [index, path] of [spec.path, ...(spec.aliases ?? [])].entries()) {
      const id = index === 0 ? name : `${name}Alias${index}`;
      const item = (paths[path.replace(/:(\w+)/g, '{$1}')] ??= {});
      item[spec.method.toLowerCase()] = describeOperation(name, id, spec, components);
    }
  }
  Object.assign(paths, serviceDocuments(components));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Corollary',
      version,
      description: 'Knowledge with inference: facts, rules, questions, and the proof of every answer.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: operationTags.map((name) => ({ name })),
    security: [{}, { bearer: [] }, { apiKey: [] }],
    paths,
    components: {
      schemas: components.schemas,
      responses: components.responses,
      parameters: headerParameters,
      headers: {
        RequestId: {
          description: 'The id of the request, chosen by the client or made',
          schema: { type: 'string' },
        },
        ETag: { description: 'The entity tag of the rule as it is now', schema: { type: 'string' } },
        Replayed: {
          description:
            'That a request came again with its Idempotency-Key: this is what the first one was answered',
          schema: { type: 'string', const: 'true' },
        },
        ApiVersion: { description: 'The version of the API', schema: { type: 'string', const: '1' } },
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
      },
    },
  };
}

function describeOperation(
  name: OperationName,
  id: string,
  spec: OperationSpec,
  components: Components,
): Described {
  return {
    operationId: id,
    summary: spec.summary,
    tags: [spec.tag],
    'x-role': spec.role,
    ...(spec.dryRun === undefined ? {} : { 'x-role-of-dry-run': 'reader' }),
    ...(spec.role === 'public' ? { security: [] } : {}),
    parameters: describeParameters(spec, components),
    ...(spec.body === undefined ? {} : { requestBody: describeBody(name, spec, components) }),
    ...(spec.takes === undefined ? {} : { requestBody: describeUpload(spec.takes) }),
    responses: { ...describeSuccess(name, spec, components), ...describeProblems(spec, components) },
  };
}

const headerParameters = {
  Database: {
    name: 'X-Database',
    in: 'header',
    description: 'The database; default: default',
    schema: { type: 'string', default: 'default', pattern: '^[A-Za-z0-9_.-]{1,128}$' },
  },
  Tenant: {
    name: 'X-Tenant-ID',
    in: 'header',
    required: true,
    description: 'The tenant; it comes into being with its first write',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,256}$' },
    example: 'default',
  },
  RequestId: {
    name: 'X-Request-ID',
    in: 'header',
    description: 'Echoed in the answer and in every log line of the request',
    schema: { type: 'string', maxLength: 128 },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'The same key with the same request gets the first answer again for 24 hours, with Idempotent-Replayed: true',
    schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'Entity tags of which the rule must have one now, or *; else 412',
    schema: { type: 'string' },
    example: '"r7-12"',
  },
  Transaction: {
    name: 'X-Transaction-ID',
    in: 'header',
    description:
      'The transaction of POST /tx/begin that the call is part of: a write is answered as pending, a question sees its writes',
    schema: { type: 'string' },
  },
  LastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    description: 'Resumes after this event where that is still possible, else the first event is a reset',
    schema: { type: 'string' },
  },
} as const;

function describeParameters(spec: OperationSpec, components: Components): Described[] {
  const shared = (name: keyof typeof headerParameters): Described => ({
    $ref: `#/components/parameters/${name}`,
  });
  return [
    ...(spec.tenant ? [shared('Tenant')] : []),
    ...(spec.database ? [shared('Database')] : []),
    ...(spec.transaction === undefined ? [] : [shared('Transaction')]),
    ...(takesKey(spec) ? [shared('IdempotencyKey')] : []),
    ...(spec.ifMatch === true ? [shared('IfMatch')] : []),
    shared('RequestId'),
    ...(spec.transaction === undefined ? [] : [shared('Transaction')]),
    ...(spec.stream === 'events' ? [shared('LastEventId')] : []),
    ...fieldsAs('path', spec.params, components),
    ...fieldsAs('query', spec.query, components).map((field) =>
      spec.lists?.includes(String(field['name'])) === true ? repeatable(field) : field,
    ),
  ];
}

function fieldsAs(
  place: 'path' | 'query',
  schema: OperationSpec['query'],
  components: Components,
): Described[] {
  if (schema === undefined) return [];
  const { properties, required } = described(schema, 'input', components);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties as Record<string, JsonSchema>).map(([name, field]) => ({
    name,
    in: place,
    required: needed.includes(name),
    schema: asText(withoutNull(field)),
  }));
}

/** A parameter that is a list: it can be repeated. */
function repeatable(field: Described): Described {
  const { description } = field['schema'] as JsonSchema;
  return {
    ...field,
    schema: { type: 'array', items: { type: 'string' }, description },
    style: 'form',
    explode: true,
  };
}

/** A parameter is text, and so is its default. */
function asText(schema: JsonSchema): JsonSchema {
  return 'default' in schema ? { ...schema, default: String(schema['default']) } : schema;
}

/** A parameter cannot be null, only absent. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(type)) {
    const types: unknown[] = type.filter((name) => name !== 'null');
    return { ...rest, type: types.length === 1 ? types[0] : types };
  }
  if (!Array.isArray(anyOf)) return schema;
  const options: unknown[] = anyOf.filter((option: JsonSchema) => option['type'] !== 'null');
  const [only] = options;
  return options.length === 1 ? { ...(only as JsonSchema), ...rest } : { ...rest, anyOf: options };
}

function describeBody(name: OperationName, spec: OperationSpec, components: Components): Described {
  const body = present(spec.body, 'called for operations with a body');
  const component = `${capital(name)}Request`;
  components.schemas[component] ??= described(body, 'input', components);
  return {
    required: true,
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${component}` },
        ...(name in bodyExamples ? { example: bodyExamples[name] } : {}),
      },
    },
  };
}

/** A body of any length, which is read as it comes. */
function describeUpload(types: readonly string[]): Described {
  const content = Object.fromEntries(types.map((type) => [type, { schema: { type: 'string' } }]));
  return { required: true, description: 'A stream of any length', content };
}

function describeSuccess(
  name: OperationName,
  spec: OperationSpec,
  components: Components,
): Record<string, Described> {
  const component = `${capital(name)}Response`;
  components.schemas[component] ??= described(spec.output, 'output', components);
  const alone = { $ref: `#/components/schemas/${component}` };
  if (spec.transaction === 'write')
    components.schemas['Pending'] ??= described(pendingSchema, 'output', components);
  const schema =
    spec.transaction === 'write' ? { anyOf: [alone, { $ref: '#/components/schemas/Pending' }] } : alone;
  const answer = (description: string): Described => ({
    description,
    headers: {
      ...standingHeaders,
      ...(spec.etag === true ? { ETag: { $ref: '#/components/headers/ETag' } } : {}),
      ...(spec.kind === 'write' && spec.takes === undefined
        ? { 'Idempotent-Replayed': { $ref: '#/components/headers/Replayed' } }
        : {}),
    },
    content: contentOf(spec, schema),
  });
  const success = { [String(spec.status ?? 200)]: answer(spec.summary) };
  return name === 'ready' ? { ...success, '503': answer('Not ready; the same body') } : success;
}

function contentOf(spec: OperationSpec, schema: JsonSchema): Described {
  if (spec.answer === 'text') return { 'text/plain': { schema } };
  if (spec.stream === 'lines')
    return { 'application/x-ndjson': { schema: { type: 'string' }, 'x-line': schema } };
  if (spec.stream === 'file')
    return Object.fromEntries((spec.gives ?? []).map((type) => [type, { schema: { type: 'string' } }]));
  if (spec.stream !== 'events') return { 'application/json': { schema } };
  return { 'text/event-stream': { schema: { type: 'string' }, 'x-event-data': schema } };
}

/** The problems this operation can answer, one response a status. */
function describeProblems(spec: OperationSpec, components: Components): Record<string, Described> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of problemsOf(spec)) {
    const { status } = problems[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const entries = [...byStatus].map(([status, codes]): [string, Described] => [
    String(status),
    problemResponse(codes, components),
  ]);
  return Object.fromEntries(entries);
}

/** A reference to the response that has one of these codes. */
function problemResponse(codes: readonly ProblemCode[], components: Components): Described {
  const name = codes.join('Or');
  components.responses[name] ??= {
    description: codes.map((code) => `${code}: ${problems[code].when}`).join('; '),
    headers: standingHeaders,
    content: {
      [problemType]: {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Problem' },
            { type: 'object', properties: { code: { type: 'string', enum: codes } } },
          ],
        },
      },
    },
  };
  return { $ref: `#/components/responses/${name}` };
}

/** The codes an operation can answer with: its own and those that come with what it is. */
export function problemsOf(spec: OperationSpec): ProblemCode[] {
  const codes = new Set<ProblemCode>(['ValidationException', 'Forbidden', 'Internal']);
  if (spec.role !== 'public')
    for (const code of ['Unauthenticated', 'RateLimited', 'NotReady'] as const) codes.add(code);
  if (spec.database) codes.add('DatabaseNotFound');
  if (spec.method !== 'GET') {
    codes.add('PayloadTooLarge');
    codes.add('UnsupportedMediaType');
  }
  if (spec.kind === 'write')
    for (const code of ['NotLeader', 'Conflict', 'IdempotencyMismatch'] as const) codes.add(code);
  if (spec.transaction !== undefined)
    for (const code of ['TransactionNotFound', 'Conflict'] as const) codes.add(code);
  for (const code of spec.problems) codes.add(code);
  return [...codes].toSorted((left, right) => problems[left].status - problems[right].status);
}

function problemSchema(): JsonSchema {
  return {
    type: 'object',
    required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
    properties: {
      type: { type: 'string' },
      title: { type: 'string' },
      status: { type: 'integer' },
      detail: { type: 'string', description: 'What is wrong and what to do' },
      code: { type: 'string', enum: Object.keys(problems) },
      requestId: { type: 'string' },
      errors: {
        type: 'array',
        items: {
          type: 'object',
          required: ['path', 'message'],
          properties: { path: { type: 'string' }, message: { type: 'string' } },
        },
      },
    },
  };
}

function serviceDocuments(components: Components): Record<string, Described> {
  const document = (id: string, summary: string, type: string): Described => ({
    get: {
      operationId: id,
      summary,
      tags: ['service'],
      responses: {
        '200': { description: summary, headers: standingHeaders, content: { [type]: {} } },
        '401': problemResponse(['Unauthenticated'], components),
      },
    },
  });
  return {
    '/openapi.json': document('openapi', 'This description', 'application/json'),
    '/metrics': document('metrics', 'Metrics in the text format of Prometheus', 'text/plain'),
  };
}

/** The JSON Schema of `schema`, the definitions inside of it moved to the shared components. */
function described(
  schema: OperationSpec['output'],
  direction: 'input' | 'output',
  components: Components,
): JsonSchema {
  const { $defs, ...rest } = jsonSchemaOf(schema, direction);
  if ($defs === undefined) return rest;
  const parts = $defs as Record<string, JsonSchema>;
  const key = JSON.stringify(parts);
  const known = components.namesOfParts.get(key);
  if (known !== undefined) return renamed(rest, known) as JsonSchema;
  const first = Object.keys(components.schemas).filter((name) => /^Part\d+$/.test(name)).length + 1;
  const names = new Map(Object.keys(parts).map((name, index) => [name, `Part${first + index}`]));
  components.namesOfParts.set(key, names);
  for (const [name, part] of Object.entries(parts))
    components.schemas[present(names.get(name), 'every part has a name')] = renamed(
      part,
      names,
    ) as JsonSchema;
  return renamed(rest, names) as JsonSchema;
}

/** The value with its references to definitions pointed at the components of the given names. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (key !== '$ref' || typeof inner !== 'string') return [key, renamed(inner, names)];
      const name = names.get(inner.replace('#/$defs/', ''));
      return [key, name === undefined ? inner : `#/components/schemas/${name}`];
    }),
  );
}

function capital(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
