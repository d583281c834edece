/**
 * The tools: one for every operation of the table that has a `tool`, in the table's order.
 *
 * What agents are shown is short: the fields that are used, and of an answer what a program needs to find its way
 * (`published-input.ts`, `tool-content.ts`). With MCP_TOOLS=all every field is shown.
 */
import { operations } from '../../engine/contract/operations.ts';
import type { OperationSpec, ToolSpec } from '../../engine/contract/operation-spec.ts';
import { proofAppTool } from './proof-app.ts';
import { publishedFields } from './published-input.ts';
import { contentSchemas } from './tool-content.ts';
import { bodyOf } from './tool-input.ts';
import type { ToolOperation } from './tool-operation.ts';
import {
  fieldTypesOf,
  type FieldType,
  inputSchemaOf,
  type ObjectSchema,
  outline,
  outputSchemaOf,
} from './tool-schema.ts';

/** As `tools/list` answers a tool. */
export interface ToolListing {
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
  /** What a call is checked against; undefined: it takes no arguments. */
  readonly body: OperationSpec['body'];
  /** Every field that it takes, shown or not. */
  readonly fields: ReadonlyMap<string, FieldType>;
  /** Fields that may be left out: what says nothing in one of them counts as absent. */
  readonly optionalFields: ReadonlySet<string>;
  /** Arguments of a call, as the description shows them. */
  readonly example: ToolSpec['example'];
  readonly listing: ToolListing;
  /** The listing with every field. */
  readonly fullListing: ToolListing;
}

/** Fields that the tool settles by itself. A question asked by a tool always comes with its proof. */
const settledFields: Partial<Record<ToolOperation, readonly string[]>> = { ask: ['withProof'] };

function isToolOperation(name: string): name is ToolOperation {
  const table: Readonly<Record<string, OperationSpec>> = operations;
  return table[name]?.tool !== undefined;
}

function toolOf(operation: ToolOperation): Tool {
  const spec: OperationSpec & { tool: ToolSpec } = operations[operation];
  const { name, title, description, example, destructive, idempotent } = spec.tool;
  const body = bodyOf(operation);
  const full = inputSchemaOf(body, settledFields[operation]);
  const published = publishedFields[operation];
  const fields = fieldTypesOf(body);
  const fullListing: ToolListing = {
    name,
    title,
    description: `${description} Example: ${JSON.stringify(example)}`,
    inputSchema: full,
    outputSchema: outputSchemaOf(contentSchemas[operation]),
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
