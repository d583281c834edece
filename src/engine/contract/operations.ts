/**
 * The operations table: the single list of what the service can do.
 *
 * The HTTP routes, the MCP tools, the OpenAPI document, the permission check and the workbench's client are all
 * generated from it, so an operation exists on every surface or on none. `path` parameters are written `:name` and
 * described by `params`; a GET takes `query`, the others `body`. Handlers receive the parsed values.
 */
import type { z } from 'zod';
import type { OperationSpec } from './operation-spec.ts';
import { factOperations } from './operations/facts.ts';
import { entityOperations } from './operations/entities.ts';
import { historyOperations } from './operations/history.ts';
import { declarationOperations } from './operations/declarations.ts';
import { ruleOperations } from './operations/rules.ts';
import { constraintOperations } from './operations/constraints.ts';
import { testOperations } from './operations/tests.ts';
import { inferenceOperations } from './operations/inference.ts';
import { historyDiffOperations } from './operations/history-diff.ts';
import { transactionOperations } from './operations/transactions.ts';
import { scopeOperations } from './operations/scopes.ts';
import { databaseOperations } from './operations/databases.ts';
import { memoryOperations } from './operations/memory.ts';
import { searchOperations } from './operations/search.ts';
import { contextOperations } from './operations/context.ts';
import { extractionOperations } from './operations/extraction.ts';
import { authenticationOperations } from './operations/authentication.ts';
import { transferOperations } from './operations/transfer.ts';
import { packageOperations } from './operations/packages.ts';
import { agentOperations } from './operations/agents.ts';
import { replicationOperations } from './operations/replication.ts';
import { serviceOperations } from './operations/service.ts';

export const operations = {
  ...factOperations,
  ...entityOperations,
  ...historyOperations,
  ...declarationOperations,
  ...ruleOperations,
  ...constraintOperations,
  ...testOperations,
  ...inferenceOperations,
  ...historyDiffOperations,
  ...transactionOperations,
  ...scopeOperations,
  ...memoryOperations,
  ...searchOperations,
  ...contextOperations,
  ...extractionOperations,
  ...transferOperations,
  ...packageOperations,
  ...databaseOperations,
  ...authenticationOperations,
  ...agentOperations,
  ...replicationOperations,
  ...serviceOperations,
} as const satisfies Record<string, OperationSpec>;

export type Operations = typeof operations;
export type OperationName = keyof Operations;

type Part<Spec, Name extends string> =
  Spec extends Record<Name, infer Schema extends z.ZodType> ? { [Key in Name]: z.output<Schema> } : unknown;
type RawPart<Spec, Name extends string> =
  Spec extends Record<Name, infer Schema extends z.ZodType> ? { [Key in Name]: z.input<Schema> } : unknown;

/** The input of an operation's handler: its parsed `params`, `query` and `body`. */
export type OperationInput<Name extends OperationName> = Part<Operations[Name], 'params'> &
  Part<Operations[Name], 'query'> &
  Part<Operations[Name], 'body'>;

/** What a client sends, before defaults are filled in. */
export type OperationRequest<Name extends OperationName> = RawPart<Operations[Name], 'params'> &
  RawPart<Operations[Name], 'query'> &
  RawPart<Operations[Name], 'body'>;

export type OperationOutput<Name extends OperationName> = z.output<Operations[Name]['output']>;

/** The operations that are MCP tools. */
export type ToolOperation = {
  [Name in OperationName]: Operations[Name] extends { tool: object } ? Name : never;
}[OperationName];

/** The structured content of every tool. */
export type ToolContents = { [Name in ToolOperation]: z.output<Operations[Name]['tool']['output']> };
