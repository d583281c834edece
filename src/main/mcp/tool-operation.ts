/** The operations that are tools. */
import type { OperationName, Operations } from '../../engine/contract/operations.ts';
import type { ToolSpec } from '../../engine/contract/operation-spec.ts';

export type ToolOperation = {
  [Name in OperationName]: Operations[Name] extends { tool: ToolSpec } ? Name : never;
}[OperationName];
