/**
 * The client: one loop over the operations table creates a method for each.
 *
 * Path arguments come first, in the path's order; then the fields, if there are any; then options. `types.ts`,
 * generated from the contract like the table, has the inputs and answers of operations.
 */
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import type { Upload } from './options.ts';
import { type AnyOptions, type Connection, type Parts, perform } from './request.ts';
import { bytesOf, changesOf, linesOf } from './streams.ts';
import type { ChangeEvent, Operations } from './types.ts';
import { VERSION } from './version.ts';

/** The service to call, and the credential. */
export interface ClientOptions {
  /** The address of the service; for a page of the service itself, its own origin. */
  url: string | URL;
  /** The tenant whose facts are used. */
  tenant: string;
  /** `default` if missing. */
  database?: string | undefined;
  /** The key, if the service requires one. */
  key?: string | undefined;
  /** Name and version of your program, such as `importer/1.4`, for the records of its writes; default: this package's. */
  client?: string | undefined;
}

/** The operations of a service. They reject with CorollaryError or, if a signal ended the call, with its reason. */
export type Client = Operations;

/** Creates a client. */
export function createClient({ url, tenant, database = 'default', key, client }: ClientOptions): Client {
  const connection: Connection = {
    origin: String(url).replace(/\/+$/, ''),
    database,
    tenant,
    key: key ?? null,
    client: client ?? `corollary-client/${VERSION}`,
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
