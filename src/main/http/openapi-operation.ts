/** One operation in the description: parameters, bodies and answers, from its entry in the operations table. */
import type { JsonSchema } from '../../engine/contract/json-schema.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import type { OperationName } from '../../engine/contract/operations.ts';
import { pendingSchema } from '../../engine/contract/transactions.ts';
import { present } from '../../engine/index.ts';
import { takesKey } from './idempotency.ts';
import { headerParametersOf, headersOf, problemsOf, problemResponses } from './openapi-http.ts';
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
    description: descriptionOf(spec),
    tags: [spec.tag],
    'x-role': spec.role,
    ...(spec.dryRun === undefined ? {} : { 'x-role-of-dry-run': 'reader' }),
    ...(spec.role === 'public' ? { security: [] } : {}),
    parameters: [
      ...fieldsAs('path', spec, components),
      ...fieldsAs('query', spec, components),
      ...headerParametersOf(spec),
    ],
    ...(requestBody === null ? {} : { requestBody }),
    responses: {
      ...describeSuccess(name, spec, components),
      ...problemResponses(problemsOf(spec), components),
    },
  };
}

/** What the schemas do not say of the operation, and who may call it. */
function descriptionOf({ description, role, dryRun, transaction, changesRules }: OperationSpec): string {
  const parts = [
    description,
    ...(transaction === 'write'
      ? ['With `X-Transaction-ID`, the write joins the transaction and is answered as pending.']
      : []),
    ...(transaction === 'read'
      ? ['With `X-Transaction-ID`, the answer sees the writes of the transaction.']
      : []),
    role === 'public'
      ? 'Needs no credential.'
      : `Needs the role ${role}${dryRun === undefined ? '' : '; as a dry run, reader'}${
          changesRules === true ? ', and no restriction to tenants, since it changes rules' : ''
        }.`,
  ];
  return parts.join('\n\n');
}

/** Whether a POST or DELETE without a body is the same as one with an empty object. */
function isBodyOptional(spec: OperationSpec): boolean {
  return (
    (spec.method === 'POST' || spec.method === 'DELETE') &&
    present(spec.body, 'it takes a body').safeParse({}).success
  );
}

function describeBody(name: OperationName, spec: OperationSpec, components: Components): Described | null {
  if (spec.takes !== undefined) return describeUpload(spec);
  if (spec.body === undefined) return null;
  const component = `${capital(name)}Request`;
  components.schemas[component] ??= withBareList(spec, described(spec.body, 'input', components));
  return {
    required: !isBodyOptional(spec),
    content: { 'application/json': { schema: refersTo(component), example: spec.example.body } },
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
function describeUpload({ takes = [], example }: OperationSpec): Described {
  const texts = example.body as Readonly<Record<string, string>>;
  const content = Object.fromEntries(
    takes.map((type) => [type, { schema: { type: 'string' }, example: texts[type] }]),
  );
  return { required: true, description: 'A stream of any length.', content };
}

/** Answers about a moment that are a list or a file name its generation in a header alone. */
const withoutField: ReadonlySet<OperationName> = new Set(['query', 'exportKnowledge']);

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
      ...(withoutField.has(name) ? (['KnowledgeGeneration'] as const) : []),
      ...fileHeadersOf(spec),
    ),
    content: contentOf(name, spec, components),
  };
  const success = { [String(spec.status ?? 200)]: answer };
  if (name !== 'ready') return success;
  const { subsystems: ready } = spec.example.answer as { readonly subsystems: object };
  const subsystems = { ...ready, storage: 'failed' };
  const example = { status: 'not_ready', subsystems };
  const content = { 'application/json': { schema: refersTo('ReadyResponse'), example } };
  return { ...success, '503': { ...answer, description: 'It cannot take work: the same body.', content } };
}

function contentOf(name: OperationName, spec: OperationSpec, components: Components): Described {
  const component = `${capital(name)}Response`;
  const example = spec.example.answer;
  if (spec.stream === 'file') {
    const texts = (example ?? {}) as Readonly<Record<string, string>>;
    return Object.fromEntries((spec.gives ?? []).map((type) => [type, fileContentOf(type, texts[type])]));
  }
  components.schemas[component] ??= described(spec.output, 'output', components);
  const schema = refersTo(component);
  if (spec.answer === 'text') return { 'text/plain': { schema, example } };
  const text = { type: 'string' };
  if (spec.stream === 'lines') {
    const lines = (example as readonly unknown[]).map((line) => `${JSON.stringify(line)}\n`).join('');
    return { 'application/x-ndjson': { schema: text, 'x-line': schema, example: lines } };
  }
  if (spec.stream === 'events') {
    const events = `retry: 2000\n\nid: 2.0\nevent: fact.asserted\ndata: ${JSON.stringify(example)}\n\n`;
    return { 'text/event-stream': { schema: text, 'x-event-data': schema, example: events } };
  }
  if (spec.transaction !== 'write') return { 'application/json': { schema, example } };
  components.schemas['Pending'] ??= described(pendingSchema, 'output', components);
  const examples = {
    alone: { summary: 'Without a transaction', value: example },
    pending: { summary: 'With X-Transaction-ID', value: pendingExampleOf(spec) },
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
function fileContentOf(type: string, example: string | undefined): Described {
  const schema = { type: 'string' };
  return example === undefined ? { schema: { ...schema, contentMediaType: type } } : { schema, example };
}

function pendingExampleOf({ example }: OperationSpec): Described {
  const { atom, rule, constraint } = example.answer as {
    readonly atom?: string;
    readonly rule?: string;
    readonly constraint?: string;
  };
  const { facts } = (example.body ?? {}) as { readonly facts?: readonly unknown[] };
  return {
    status: 'pending',
    ...(atom === undefined ? {} : { atom }),
    ...(rule === undefined ? {} : { rule }),
    ...(constraint === undefined ? {} : { constraint }),
    ...(facts === undefined ? {} : { facts: facts.length }),
  };
}

function fieldsAs(place: 'path' | 'query', spec: OperationSpec, components: Components): Described[] {
  const schema = place === 'path' ? spec.params : spec.query;
  if (schema === undefined) return [];
  const examples = (place === 'path' ? spec.example.params : spec.example.query) ?? {};
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
