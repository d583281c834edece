/**
 * The client: a method for every operation of the table, made by one loop over it.
 *
 * Arguments of the path come first, in its order; then the fields, where there are any; then options. What an operation
 * takes and answers is in `types.ts`, which is made from the contract as the table is.
 */
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import type { Upload } from './options.ts';
import { type AnyOptions, type Connection, type Parts, perform } from './request.ts';
import { bytesOf, changesOf, linesOf } from './streams.ts';
import type { ChangeEvent, Operations } from './types.ts';

/** Whom to call, and as whom. */
export interface ClientOptions {
  /** Where the service is; of a page that the service itself offers, its own origin. */
  url: string | URL;
  /** Whose facts. */
  tenant: string;
  /** `default` where missing. */
  database?: string | undefined;
  /** Where the service wants one. */
  key?: string | undefined;
}

/** The operations of a service. Errors: CorollaryError; where a signal ended the call, its reason. */
export type Client = Operations;

export function createClient({ url, tenant, database = 'default', key }: ClientOptions): Client {
  const connection: Connection = {
    origin: String(url).replace(/\/+$/, ''),
    database,
    tenant,
    key: key ?? null,
  };
  const methods = Object.entries<Operation>(operations).map(([name, operation]) => [
    name,
    (...given: unknown[]) => call(connection, operation, given),
  ]);
  return Object.fromEntries(methods) as Client;
}

function call(connection: Connection, operation: Operation, given: unknown[]): unknown {
  const rest = [...given];
  const names = [...operation.path.matchAll(/:([a-z]+)/gi)].map(([, name]) => String(name));
  const params = Object.fromEntries(names.map((name) => [name, String(rest.shift())]));
  const upload =
    operation.takesStream === true
      ? { source: rest.shift() as Upload, type: String(rest.shift()) }
      : undefined;
  const fields = operation.fields === undefined ? undefined : rest.shift();
  const options = (rest.shift() ?? {}) as AnyOptions;
  const parts: Parts = {
    params,
    ...(operation.fields === 'query'
      ? { query: (fields ?? {}) as Record<string, unknown> }
      : { body: fields }),
    ...(upload === undefined ? {} : { upload }),
  };
  switch (operation.stream) {
    case 'events':
      return oneByOne(changesOf(connection, operation, options));
    case 'lines':
      return linesOf(connection, operation, parts, options);
    case 'file':
      return bytesOf(connection, operation, parts, options);
    default:
      return perform(connection, operation, parts, options);
  }
}

async function* oneByOne(groups: AsyncIterable<ChangeEvent[]>): AsyncGenerator<ChangeEvent, void, undefined> {
  for await (const group of groups) yield* group;
}
