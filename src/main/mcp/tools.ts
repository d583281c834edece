/**
 * The tools: one for every operation of the table that has a `tool`, in the table's order.
 *
 * The listing for agents is short: the fields in common use, and of an answer what a program needs to find its way
 * (`tool-content.ts`). With MCP_TOOLS=all every field is shown.
 *
 * JSON Schemas are generated from the schemas that validate a call. Agents pay for every word of a schema, many clients
 * support only the basic part of JSON Schema, and some check a call against it before they send it. So an optional field
 * is shown as its type alone (`null` is still allowed, and counts as absent), nothing is required, other fields are not
 * ruled out, and bounds that nobody reaches are left out. So are references, which many clients cannot follow: a
 * recursive part is shown as an object, and the description of its field explains it.
 *
 * Clients with strict schemas fill in every field of a form. So in an optional field `null`, a blank text, an empty list
 * and a meaningless zero count as absent.
 */
import { type JsonSchema, jsonSchemaOf } from '../../engine/contract/json-schema.ts';
import type { OperationSpec, ToolSpec } from '../../engine/contract/operation-spec.ts';
import { operations, type ToolOperation } from '../../engine/contract/operations.ts';
import { proofAppTool } from './proof-app.ts';
import { factsInputSchema } from '../../engine/contract/facts.ts';
import { validate } from '../../engine/contract/validation.ts';

/** A tool in the answer to `tools/list`. */
interface ToolListing {
  name: string;
  title: string;
  description: string;
  inputSchema: ObjectSchema;
  outputSchema: ObjectSchema;
  annotations: {
    readOnlyHint: boolean;
    destructiveHint: boolean;
    idempotentHint: boolean;
    openWorldHint: false;
  };
  _meta?: typeof proofAppTool;
}

export interface Tool {
  readonly operation: ToolOperation;
  /** The schema that validates a call; undefined: it takes no arguments. */
  readonly body: OperationSpec['body'];
  /** Every field that it takes, shown or not. */
  readonly fields: ReadonlyMap<string, FieldType>;
  /** Optional fields, in which a filler counts as absent. */
  readonly optionalFields: ReadonlySet<string>;
  /** Arguments of a call, as in the description. */
  readonly example: ToolSpec['example'];
  readonly listing: ToolListing;
  /** The listing with every field. */
  readonly fullListing: ToolListing;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The schema that validates a call of the tool; undefined: it takes no arguments. */
function toolBodyOf(operation: ToolOperation): OperationSpec['body'] {
  const { body, tool }: OperationSpec = operations[operation];
  return tool?.input ?? body;
}

/** Whether the tool takes the arguments; of a text it checks only the type. */
export function takesArguments(operation: ToolOperation, given: ToolArguments): boolean {
  const body = toolBodyOf(operation);
  if (body === undefined) return Object.keys(given).length === 0;
  if (!validate(body, given).ok) return false;
  return given['facts'] === undefined || validate(factsInputSchema, { facts: given['facts'] }).ok;
}

/** Fields in which zero is meaningful. */
const canBeZero: ReadonlySet<string> = new Set([
  'offset',
  'threshold',
  'minSalience',
  'ifGeneration',
  'asOf',
  'asKnown',
  'timestamp',
]);

/** The arguments without fillers in optional fields. */
export function withoutFillers(optionalFields: ReadonlySet<string>, given: ToolArguments): ToolArguments {
  const isNamed = typeof given['predicate'] === 'string' && given['predicate'].trim() !== '';
  const saysNothing = (field: string, value: unknown): boolean => {
    if (value === null) return true;
    if (typeof value === 'string') return value.trim() === '';
    if (value === 0) return !canBeZero.has(field);
    // A predicate may have no arguments; without a predicate an empty list is a filler.
    return Array.isArray(value) && value.length === 0 && (field !== 'args' || !isNamed);
  };
  return Object.fromEntries(
    Object.entries(given).filter(
      ([field, value]) => !(optionalFields.has(field) && saysNothing(field, value)),
    ),
  );
}

interface ObjectSchema {
  [keyword: string]: unknown;
  type: 'object';
}

/**
 * JSON Schema of a tool's arguments with every field except those that the tool sets itself (`settled`). Nothing is
 * required and no other field ruled out: the service reports errors itself, since it knows how to correct them.
 */
function inputSchemaOf(body: OperationSpec['body'], settled: readonly string[] = []): ObjectSchema {
  if (body === undefined) return { type: 'object', properties: {} };
  const { properties: all } = plain(jsonSchemaOf(body, 'input'), true);
  const properties = isSchema(all) ? { ...all } : {};
  for (const field of settled) delete properties[field];
  return { type: 'object', properties };
}

/** JSON Schema of a tool's structured content: names and types only. */
function outputSchemaOf(output: OperationSpec['output']): ObjectSchema {
  const schema = plain(jsonSchemaOf(output, 'output'), false);
  if (schema['type'] !== 'object') throw new Error('the structured content of a tool is an object');
  return { ...schema, type: 'object' };
}

/** Fields of structured content that the short listing leaves out: they explain themselves. */
const unlisted: ReadonlySet<string> = new Set(['named', 'arguments']);

/** The schema reduced to the types of its fields. */
function outline({ properties }: ObjectSchema): ObjectSchema {
  const fields = Object.entries(isSchema(properties) ? properties : {})
    .filter(([name]) => !unlisted.has(name))
    .map(([name, schema]) => [name, { type: isSchema(schema) ? schema['type'] : undefined }]);
  return { type: 'object', properties: Object.fromEntries(fields) };
}

/** The type of value that a field takes, if it is a single one. */
export interface FieldType {
  readonly type: 'array' | 'boolean' | 'number' | 'object' | 'other';
  readonly isRequired: boolean;
}

/** The type of every field of `body`. */
function fieldTypesOf(body: OperationSpec['body']): ReadonlyMap<string, FieldType> {
  if (body === undefined) return new Map();
  const { required: names } = jsonSchemaOf(body, 'input');
  const required = new Set(Array.isArray(names) ? names : []);
  const { properties } = inputSchemaOf(body);
  return new Map(
    Object.entries(isSchema(properties) ? properties : {}).map(([name, schema]) => {
      const isRequired = required.has(name);
      const type = isSchema(schema) ? typeOf(schema) : undefined;
      if (type === 'integer') return [name, { type: 'number', isRequired }];
      const isNamed = type === 'array' || type === 'boolean' || type === 'number' || type === 'object';
      return [name, { type: isNamed ? type : 'other', isRequired }];
    }),
  );
}

/** The type of a field; of arguments, which may also be given by name, `array`. */
function typeOf({ type }: JsonSchema): unknown {
  return Array.isArray(type) && type.includes('array') ? 'array' : type;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Keywords whose values map names to schemas: their keys are not keywords. */
const maps: ReadonlySet<string> = new Set(['properties', '$defs']);
/** Keywords whose values are data, not schemas. */
const data: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'description']);

/**
 * Keywords that an agent does not need, and those that would make a client stop a call that the service could correct.
 */
const unused: ReadonlySet<string> = new Set([
  'required',
  'additionalProperties',
  'propertyNames',
  'examples',
  'maxItems',
  'minLength',
  'maxLength',
]);

function plain(schema: JsonSchema, isInput: boolean): JsonSchema {
  if (isInput && '$ref' in schema) return { type: 'object' };
  const result: JsonSchema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (unused.has(keyword) || isIdle(keyword, value, isInput)) continue;
    if (data.has(keyword)) result[keyword] = value;
    else if (keyword === 'items' && isSchema(value) && 'description' in schema)
      result[keyword] = plain(withoutDescription(value), isInput);
    else if (maps.has(keyword) && isSchema(value)) result[keyword] = plainMap(value, isInput);
    else if (Array.isArray(value))
      result[keyword] = value.map((item) => (isSchema(item) ? plain(item, isInput) : item));
    else result[keyword] = isSchema(value) ? plain(value, isInput) : value;
  }
  return isInput ? withPlainOptions(result) : result;
}

/** The description of the list is enough for its elements. */
function withoutDescription({ description: _, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

function plainMap(map: JsonSchema, isInput: boolean): JsonSchema {
  return Object.fromEntries(
    Object.entries(map).map(([name, value]) => [name, isSchema(value) ? plain(value, isInput) : value]),
  );
}

function withPlainOptions(schema: JsonSchema): JsonSchema {
  const { properties } = schema;
  if (!isSchema(properties)) return schema;
  const entries = Object.entries(properties).map(([name, value]) => [
    name,
    isSchema(value) ? typesTogether(withoutNull(value)) : value,
  ]);
  return { ...schema, properties: Object.fromEntries(entries) };
}

/** The schema without its `null` alternative; if a single alternative remains, the outer description wins. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const { anyOf, type, ...rest } = schema;
  if (Array.isArray(type)) {
    const types = type.filter((name) => name !== 'null');
    return { ...rest, type: types.length === 1 ? types[0] : types };
  }
  if (!Array.isArray(anyOf)) return schema;
  const isNull = (option: unknown) => isSchema(option) && option['type'] === 'null';
  if (!anyOf.some(isNull)) return schema;
  const options = anyOf.filter((option) => !isNull(option));
  const [only] = options;
  return options.length === 1 && isSchema(only) ? { ...only, ...rest } : { ...rest, anyOf: options };
}

/** Alternatives that are only types, and at most one list, as a list of types. */
function typesTogether(schema: JsonSchema): JsonSchema {
  const { anyOf, ...rest } = schema;
  const isType = (option: unknown) => isSchema(option) && Object.keys(option).join() === 'type';
  if (!Array.isArray(anyOf)) return schema;
  const [list, another] = anyOf.filter((option) => !isType(option)) as unknown[];
  if (another !== undefined || (list !== undefined && (!isSchema(list) || list['type'] !== 'array')))
    return schema;
  return { ...list, ...rest, type: anyOf.flatMap(({ type }: JsonSchema) => type) };
}

/** Blank texts count as absent in optional fields, and nobody reaches the upper bounds. */
function isIdle(keyword: string, value: unknown, isInput: boolean): boolean {
  if (keyword === 'maximum' || keyword === 'minimum') return !isInput || Math.abs(Number(value)) >= 100_000;
  return isInput ? keyword === 'default' && value === false : keyword === 'description';
}

const text = (description: string): JsonSchema => ({ type: 'string', description });
const flag = (description: string): JsonSchema => ({ type: 'boolean', description });
const whole = (description: string): JsonSchema => ({ type: 'integer', description });
const texts: JsonSchema = { type: 'array', items: { type: 'string' } };

const predicate: JsonSchema = { type: 'string' };
const args: JsonSchema = { type: 'array', items: { type: ['string', 'number', 'boolean'] } };
const scope = text('Named part; default all');
const dryRun = flag('Only preview');
const falseFact = flag('false: not so');

/**
 * The input schemas that `tools/list` shows unless MCP_TOOLS=all: the fields in common use, in few words.
 *
 * A tool still takes every field of its body. Clients stop a call that their copy of the schema refuses, before the
 * service could say how to correct it: so nothing is required here, and other fields are not ruled out. Each schema
 * converts to the strict mode of OpenAI: no open objects, no references, no alternatives but types.
 */
const publishedFields: Readonly<Record<ToolOperation, Readonly<Record<string, JsonSchema>>>> = {
  assertFact: {
    text: text('Statements, each with a full stop'),
    predicate,
    args,
    truthVal: falseFact,
    validUntil: text('ISO 8601'),
    facts: {
      type: 'array',
      items: { type: 'object', properties: { predicate, args, truthVal: { type: 'boolean' } } },
      description: 'Several, all or none',
    },
    scope,
  },
  ask: {
    text: text('Such as grandparent(alice, ?who)'),
    predicate,
    args,
    negated: flag('Ask what is known to be false'),
    whyNot: flag('Say why there is no answer'),
    limit: whole('Answers at most'),
    scope,
  },
  assertRule: { text: text('head :- conditions, with commas for and'), name: text('For people'), scope },
  retractPattern: {
    text: text('Facts, patterns or rules'),
    predicate,
    args,
    ruleId: { type: 'string' },
    dryRun,
    scope,
  },
  recall: {
    query: text('Words or a question'),
    timestamp: { type: 'string' },
    predicates: texts,
    maxFacts: whole('Default 100'),
    scope,
  },
  optimizeContext: {
    query: text('The task in plain words'),
    goals: {
      type: 'array',
      items: { type: 'object', properties: { predicate, args, negated: { type: 'boolean' } } },
      description: 'What has to be decided',
    },
    maxFacts: whole('Default 100'),
    maxTokens: { type: 'integer' },
    predicates: texts,
    scope,
  },
  consolidate: { predicates: texts, minOccurrences: { type: 'integer' }, dryRun, scope },
  decay: { threshold: { type: 'number', description: 'Default 0.05' }, dryRun, scope },
  search: { text: text('Words or a question'), limit: whole('Default 20'), scope },
  listPredicates: {},
};

/** Fields that the tool sets itself. A question asked by a tool always returns its proof. */
const settledFields: Partial<Record<ToolOperation, readonly string[]>> = { ask: ['withProof'] };

function isToolOperation(name: string): name is ToolOperation {
  const table: Readonly<Record<string, OperationSpec>> = operations;
  return table[name]?.tool !== undefined;
}

function toolOf(operation: ToolOperation): Tool {
  const spec: OperationSpec & { tool: ToolSpec } = operations[operation];
  const { name, title, description, output, example, destructive, idempotent } = spec.tool;
  const body = toolBodyOf(operation);
  const full = inputSchemaOf(body, settledFields[operation]);
  const published = publishedFields[operation];
  const fields = fieldTypesOf(body);
  const fullListing: ToolListing = {
    name,
    title,
    description: `${description} Example: ${JSON.stringify(example)}`,
    inputSchema: full,
    outputSchema: outputSchemaOf(output),
    annotations: {
      readOnlyHint: spec.kind === 'read',
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: false,
    },
    ...(operation === 'ask' ? { _meta: proofAppTool } : {}),
  };
  return {
    operation,
    body,
    fields,
    optionalFields: new Set([...fields].filter(([, type]) => !type.isRequired).map(([field]) => field)),
    example,
    listing: {
      ...fullListing,
      inputSchema: { type: 'object', properties: published },
      outputSchema: outline(fullListing.outputSchema),
    },
    fullListing,
  };
}

/** All tools by name. */
export const tools: ReadonlyMap<string, Tool> = new Map(
  Object.keys(operations)
    .filter(isToolOperation)
    .map(toolOf)
    .map((tool) => [tool.listing.name, tool]),
);
