/**
 * One operation in the description: parameters, bodies and answers, from its line in the operations table.
 *
 * The schemas that validate a request also describe it. Prose and examples come from tables that do not compile unless
 * they have an entry for each operation.
 */
import type { JsonSchema } from '../../engine/contract/json-schema.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import type { OperationName, OperationRequest } from '../../engine/contract/operations.ts';
import { pendingSchema } from '../../engine/contract/transactions.ts';
import { present } from '../../engine/index.ts';
import { takesKey } from './idempotency.ts';
import { answerExamples, eventsExample, fileExamples } from './openapi-answers.ts';
import { headerParametersOf, headersOf } from './openapi-headers.ts';
import { problemResponses, problemCodesOf } from './openapi-problems.ts';
import { proseOf } from './openapi-prose.ts';
import { capital, type Components, type Described, described, refersTo } from './openapi-schemas.ts';

/** The operation as a member of its path item; `id` differs if it has several paths. */
export function describeOperation(
  name: OperationName,
  id: string,
  spec: OperationSpec,
  components: Components,
): Described {
  const requestBody = describeBody(name, spec, components);
  return {
    operationId: id,
    summary: spec.summary,
    description: proseOf(name, spec),
    tags: [spec.tag],
    'x-role': spec.role,
    ...(spec.dryRun === undefined ? {} : { 'x-role-of-dry-run': 'reader' }),
    ...(spec.role === 'public' ? { security: [] } : {}),
    parameters: [
      ...fieldsAs('path', name, spec, components),
      ...fieldsAs('query', name, spec, components),
      ...headerParametersOf(spec),
    ],
    ...(requestBody === null ? {} : { requestBody }),
    responses: {
      ...describeSuccess(name, spec, components),
      ...problemResponses(problemCodesOf(spec), components),
    },
  };
}

/** Whether a POST without a body is the same as one with an empty object. */
function isBodyOptional(spec: OperationSpec): boolean {
  return spec.method === 'POST' && present(spec.body, 'it takes a body').safeParse({}).success;
}

function describeBody(name: OperationName, spec: OperationSpec, components: Components): Described | null {
  if (spec.takes !== undefined) return describeUpload(spec.takes);
  if (spec.body === undefined) return null;
  const component = `${capital(name)}Request`;
  components.schemas[component] ??= withBareList(spec, described(spec.body, 'input', components));
  const { body } = requestExamples[name] as { readonly body: unknown };
  return {
    required: !isBodyOptional(spec),
    content: { 'application/json': { schema: refersTo(component), example: body } },
  };
}

/** A body with one very long list may be that list alone if nothing else is required. */
function withBareList(spec: OperationSpec, schema: JsonSchema): JsonSchema {
  const field = spec.longList?.field;
  const { properties, required } = schema as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const list = field === undefined ? undefined : properties?.[field];
  if (list === undefined || required?.length !== 1 || required[0] !== field) return schema;
  return { anyOf: [schema, { ...list, description: 'The list alone' }] };
}

/** A body of any length, which is read as a stream. */
function describeUpload(types: readonly string[]): Described {
  const content = Object.fromEntries(
    types.map((type) => [type, { schema: { type: 'string' }, example: uploadExamples[type] }]),
  );
  return { required: true, description: 'A stream of any length.', content };
}

function describeSuccess(
  name: OperationName,
  spec: OperationSpec,
  components: Components,
): Record<string, Described> {
  const answer: Described = {
    description: spec.summary,
    headers: headersOf(
      ...(spec.etag === true ? (['ETag'] as const) : []),
      ...(takesKey(spec) ? (['Replayed'] as const) : []),
      ...fileHeadersOf(spec),
    ),
    content: contentOf(name, spec, components),
  };
  const success = { [String(spec.status ?? 200)]: answer };
  if (name !== 'ready') return success;
  const subsystems = { ...answerExamples.ready.subsystems, storage: 'failed' };
  const example = { status: 'not_ready', subsystems };
  const content = { 'application/json': { schema: refersTo('ReadyResponse'), example } };
  return { ...success, '503': { ...answer, description: 'It cannot take work: the same body.', content } };
}

function contentOf(name: OperationName, spec: OperationSpec, components: Components): Described {
  const component = `${capital(name)}Response`;
  const example: unknown = answerExamples[name];
  if (spec.stream === 'file')
    return Object.fromEntries((spec.gives ?? []).map((type) => [type, fileContentOf(type)]));
  components.schemas[component] ??= described(spec.output, 'output', components);
  const schema = refersTo(component);
  if (spec.answer === 'text') return { 'text/plain': { schema, example } };
  const text = { type: 'string' };
  if (spec.stream === 'lines') {
    const lines = (example as readonly unknown[]).map((line) => `${JSON.stringify(line)}\n`).join('');
    return { 'application/x-ndjson': { schema: text, 'x-line': schema, example: lines } };
  }
  if (spec.stream === 'events')
    return { 'text/event-stream': { schema: text, 'x-event-data': schema, example: eventsExample } };
  if (spec.transaction !== 'write') return { 'application/json': { schema, example } };
  components.schemas['Pending'] ??= described(pendingSchema, 'output', components);
  const examples = {
    alone: { summary: 'Without a transaction', value: example },
    pending: { summary: 'With X-Transaction-ID', value: pendingExampleOf(name) },
  };
  return { 'application/json': { schema: { anyOf: [schema, refersTo('Pending')] }, examples } };
}

/** What followers read is not a file to store; only an export of everything omits nothing. */
function fileHeadersOf({ stream, role, isOfEverything }: OperationSpec) {
  if (stream !== 'file' || role === 'replica') return [];
  return isOfEverything === true
    ? (['ContentDisposition'] as const)
    : (['ContentDisposition', 'Trailer'] as const);
}

/** Content that only followers read has no example. */
function fileContentOf(type: string): Described {
  const example = fileExamples[type];
  const schema = { type: 'string' };
  return example === undefined ? { schema: { ...schema, contentMediaType: type } } : { schema, example };
}

function pendingExampleOf(name: OperationName): Described {
  const { atom, rule } = answerExamples[name] as { readonly atom?: string; readonly rule?: string };
  return {
    status: 'pending',
    ...(atom === undefined ? {} : { atom }),
    ...(rule === undefined ? {} : { rule }),
    ...(name === 'assertFacts' ? { facts: 2 } : {}),
  };
}

function fieldsAs(
  place: 'path' | 'query',
  name: OperationName,
  spec: OperationSpec,
  components: Components,
): Described[] {
  const schema = place === 'path' ? spec.params : spec.query;
  if (schema === undefined) return [];
  const part = requestExamples[name] as { readonly params?: unknown; readonly query?: unknown };
  const examples = (place === 'path' ? part.params : part.query) as Readonly<Record<string, string>>;
  const { properties, required } = described(schema, 'input', components);
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties as Record<string, JsonSchema>).map(([field, inner]) => {
    const { description, examples: _examples, ...rest } = asText(withoutNull(inner));
    const isList = spec.lists?.includes(field) === true;
    const example = examples[field];
    return {
      name: field,
      in: place,
      required: needed.includes(field),
      ...(typeof description === 'string' ? { description } : {}),
      schema: isList ? { type: 'array', items: { type: 'string' } } : rest,
      ...(isList ? { style: 'form', explode: true } : {}),
      ...(example === undefined ? {} : { example: isList ? example.split(',') : example }),
    };
  });
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

/** The parts that the operation takes, if any. */
type Request<Name extends OperationName> =
  OperationRequest<Name> extends infer Parts ? (unknown extends Parts ? object : Parts) : never;

/** Example requests, one for each operation, which accepts it: `params`, `query` and `body`, as far as it has them. */
export const requestExamples: { readonly [Name in OperationName]: Request<Name> } = {
  assertFact: {
    body: { predicate: 'parent', args: ['alice', 'bob'], metadata: { source: 'the register' } },
  },
  assertFacts: {
    body: {
      facts: [
        { predicate: 'parent', args: ['bob', 'carol'] },
        { predicate: 'parent', args: ['bob', 'dora'] },
      ],
    },
  },
  retract: { body: { predicate: 'parent', args: ['alice', 'bob'] } },
  retractPattern: { body: { predicate: 'parent', args: ['bob', '?child'], dryRun: true } },
  query: { body: { predicate: 'parent', args: ['bob', '?child'] } },
  listFacts: { query: { predicate: 'parent', sort: 'createdAt', order: 'desc', limit: '20' } },
  getFact: { params: { id: 'f1-0' } },
  deleteFact: { params: { id: 'f1-0' } },
  listPredicates: {},
  aggregate: {
    body: { operation: 'COUNT', predicate: 'parent', args: ['?parent', '?child'], groupBy: ['parent'] },
  },
  assertRule: {
    body: { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?z)', name: 'grandparents' },
  },
  validateRules: { body: { text: 'grandparent(?x, ?z) :- parent(?x, ?y), parent(?y, ?w).' } },
  listRules: {},
  getRule: { params: { id: 'r3' } },
  updateRule: { params: { id: 'r3' }, body: { description: 'two generations apart' } },
  deleteRule: { params: { id: 'r3' } },
  ask: { body: { predicate: 'grandparent', args: ['alice', '?who'], limit: 1, withProof: true } },
  explain: { body: { predicate: 'grandparent', args: ['bob', 'carol'], mode: 'whyNot' } },
  whatIf: {
    body: {
      assert: [{ predicate: 'parent', args: ['carol', 'emil'] }],
      goals: [{ predicate: 'grandparent', args: ['?x', '?y'] }],
    },
  },
  trace: { body: { predicate: 'grandparent', args: ['alice', '?who'], maxEvents: 2 } },
  beginTransaction: {},
  commitTransaction: { params: { id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f' }, body: { dryRun: false } },
  rollbackTransaction: { params: { id: 'a0708c3a-dc09-4cc2-9127-c1d0f704d04f' } },
  listScopes: {},
  forkScope: { body: { source: 'plan', target: 'plan-b' } },
  diffScopes: { body: { source: 'plan-b', target: 'plan' } },
  mergeScopes: { body: { source: 'plan-b', target: 'plan', strategy: 'SOURCE_WINS' } },
  deleteScope: { params: { name: 'plan-b' } },
  browseMemory: { query: { maxFacts: '1', minSalience: '0.1', predicates: 'parent,grandparent' } },
  recall: { body: { maxFacts: 1, minSalience: 0.1 } },
  memoryStats: { query: { unscoped: 'true' } },
  consolidate: { body: { predicates: ['visited'], minOccurrences: 3 } },
  restore: { body: { id: 'f17-0' } },
  decay: { body: { threshold: 0.05, dryRun: true } },
  optimizeContext: {
    body: {
      goals: [{ predicate: 'grandparent', args: ['alice', 'carol'] }],
      maxFacts: 3,
      maxChars: 2000,
      sessionId: 'chat-1',
    },
  },
  diffContext: { body: { sessionId: 'chat-1' } },
  summarizeContext: { body: { unscoped: true } },
  clearContextSession: { body: { sessionId: 'chat-1' } },
  contextOfTurns: {
    body: { turns: ['parent(carol, emil).', 'Who is the grandparent of emil?'], maxFacts: 1 },
  },
  ingest: {
    body: {
      text: 'parent(carol, emil).',
      goals: [{ predicate: 'parent', args: ['?who', 'emil'] }],
      maxFacts: 1,
    },
  },
  extract: { body: { text: 'Carol is the mother of Emil.', assert: true } },
  synthesize: { body: { question: 'Who is a grandparent of Carol?' } },
  importKnowledge: { query: { scope: 'plan', dryRun: 'false' } },
  undoImport: { params: { id: 'cfff6f3d-2424-4b86-b183-793f2c57d1f6' } },
  exportKnowledge: { query: { format: 'ndjson', predicate: 'parent' } },
  listDatabases: {},
  createDatabase: { body: { name: 'family' } },
  deleteDatabase: { params: { name: 'family' } },
  nukeDatabase: { params: { name: 'family' } },
  listTenants: { params: { name: 'family' } },
  createTenant: { params: { name: 'family' }, body: { name: 'acme' } },
  deleteTenant: { params: { name: 'family', id: 'acme' } },
  nukeTenant: { params: { name: 'family', id: 'acme' } },
  authenticationStatus: {},
  bootstrap: { body: { username: 'admin', password: 'the value of SERVICE_ADMIN_PASS' } },
  createKey: {
    body: { role: 'reader', databases: ['family'], description: 'the dashboard', expiresInDays: 90 },
  },
  listKeys: {},
  updateKey: { params: { id: '5d7e9c44-2a0e-4d0f-9a1b-1f2e3d4c5b6a' }, body: { expiresAt: 'never' } },
  revokeKey: { params: { id: '5d7e9c44-2a0e-4d0f-9a1b-1f2e3d4c5b6a' } },
  whoami: {},
  listMcpCalls: { query: { limit: '50' } },
  listMcpClients: {},
  agentSetup: {},
  testBridge: { body: { database: 'default', tenant: 'my-project' } },
  replicationSnapshot: { query: { follower: 'second:9300' } },
  replicationWal: { query: { after: '37', follower: 'second:9300' } },
  replicationStatus: {},
  takeSnapshot: {},
  takeBackup: {},
  storageState: {},
  health: {},
  ready: {},
  events: {},
};

/** The bodies of these examples, by operation. */
export const bodyExamples: Readonly<Partial<Record<OperationName, unknown>>> = Object.fromEntries(
  Object.entries(requestExamples).flatMap(([name, parts]) => ('body' in parts ? [[name, parts.body]] : [])),
);

/** Example bodies of an import, by media type. */
export const uploadExamples: Readonly<Record<string, string>> = {
  'application/x-ndjson':
    '{"predicate": "parent", "args": ["alice", "bob"]}\n{"rule": "ancestor(?x, ?y) :- parent(?x, ?y)."}\n',
  'text/csv': 'parent,alice,bob\nparent,bob,carol\n',
  'text/tab-separated-values': 'parent\talice\tbob\nparent\tbob\tcarol\n',
  'text/x-datalog': 'parent(alice, bob).\nancestor(?x, ?y) :- parent(?x, ?y).\n',
  'text/turtle': '@prefix family: <http://example.org/family#> .\nfamily:alice family:parent family:bob .\n',
  'application/n-triples':
    '<http://example.org/family#alice> <http://example.org/family#parent> <http://example.org/family#bob> .\n',
};
