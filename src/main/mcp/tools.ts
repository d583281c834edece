/**
 * The tools: one for every operation of the table that has a `tool`, in the table's order.
 *
 * The listing for agents is short: the fields in common use, and of an answer what a program needs to find its way
 * (`tool-content.ts`). With MCP_TOOLS=all every field is shown.
 */
import type { JsonSchema } from '../../engine/contract/json-schema.ts';
import type { OperationSpec, ToolSpec } from '../../engine/contract/operation-spec.ts';
import { operations, type ToolOperation } from '../../engine/contract/operations.ts';
import { proofAppTool } from './proof-app.ts';
import { toolBodyOf } from './tool-input.ts';
import {
  type FieldType,
  fieldTypesOf,
  inputSchemaOf,
  type ObjectSchema,
  outline,
  outputSchemaOf,
} from './tool-schema.ts';

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
    ruleId: text('Of a rule'),
    dryRun,
    scope,
  },
  recall: { predicates: texts, maxFacts: whole('Default 100'), scope },
  optimizeContext: {
    goals: {
      type: 'array',
      items: { type: 'object', properties: { predicate, args, negated: { type: 'boolean' } } },
      description: 'What has to be decided',
    },
    maxFacts: whole('Default 100'),
    maxChars: whole('Of all facts together'),
    predicates: texts,
    scope,
  },
  consolidate: { predicates: texts, minOccurrences: whole('Default 3'), dryRun, scope },
  decay: { threshold: { type: 'number', description: 'Default 0.05' }, dryRun, scope },
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
