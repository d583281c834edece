/**
 * The tools: one for every operation of the table that has a `tool`, in the table's order.
 *
 * Nothing about a single tool is written here but what agents are shown differently from other clients: fields
 * that a tool settles by itself are hidden.
 */
import { type OperationName, type Operations, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec, ToolSpec } from '../../engine/contract/operation-spec.ts';
import { proofAppTool } from './proof-app.ts';
import { inputSchemaOf, type ObjectSchema, optionalFieldsOf, outputSchemaOf } from './tool-schema.ts';

/** The operations that are tools. */
export type ToolOperation = {
  [Name in OperationName]: Operations[Name] extends { tool: ToolSpec } ? Name : never;
}[OperationName];

export interface Tool {
  readonly operation: ToolOperation;
  /** Fields that may be left out: a blank string in one of them, or null, counts as absent. */
  readonly optionalFields: ReadonlySet<string>;
  /** Arguments of a call, as the description shows them. */
  readonly example: ToolSpec['example'];
  /** As `tools/list` answers it. */
  readonly listing: {
    name: string;
    title: string;
    description: string;
    inputSchema: ObjectSchema;
    outputSchema: ObjectSchema;
    annotations: {
      title: string;
      readOnlyHint: boolean;
      destructiveHint: boolean;
      idempotentHint: boolean;
      openWorldHint: false;
    };
    _meta?: typeof proofAppTool;
  };
}

/** Fields that the tool settles by itself. A question asked by a tool always comes with its proof. */
const hiddenFields: Partial<Record<ToolOperation, readonly string[]>> = { ask: ['withProof'] };

function isToolOperation(name: string): name is ToolOperation {
  const table: Readonly<Record<string, OperationSpec>> = operations;
  return table[name]?.tool !== undefined;
}

function toolOf(operation: ToolOperation): Tool {
  const spec: OperationSpec & { tool: ToolSpec } = operations[operation];
  return {
    operation,
    optionalFields: optionalFieldsOf(spec.body),
    example: spec.tool.example,
    listing: {
      name: spec.tool.name,
      title: spec.tool.title,
      description: `${spec.tool.description} Example: ${JSON.stringify(spec.tool.example)}`,
      inputSchema: inputSchemaOf(spec.body, hiddenFields[operation]),
      outputSchema: outputSchemaOf(spec.output),
      annotations: {
        title: spec.tool.title,
        readOnlyHint: spec.kind === 'read',
        destructiveHint: spec.tool.destructive,
        idempotentHint: spec.tool.idempotent,
        openWorldHint: false,
      },
      ...(operation === 'ask' ? { _meta: proofAppTool } : {}),
    },
  };
}

/** All tools by name. */
export const tools: ReadonlyMap<string, Tool> = new Map(
  Object.keys(operations)
    .filter(isToolOperation)
    .map(toolOf)
    .map((tool) => [tool.listing.name, tool]),
);
