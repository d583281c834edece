/**
 * The client: one loop over the operations table creates a method for each.
 *
 * Path arguments come first, in the path's order; then the fields, if there are any; then options. `types.ts`,
 * generated from the contract like the table, has the inputs and answers of operations.
 */
import type { Operation } from './operation.ts';
import { operations } from './operations.ts';
import type { Upload } from './options.ts';
import { begin, type Connection, type Parts, perform } from './request.ts';
import { outlast, outlastLines, type Outlasting, withKey } from './retries.ts';
import { bytesOf, changesOf, linesOf } from './streams.ts';
import type { ChangeEvent, Operations } from './types.ts';
import { VERSION } from './version.ts';

/** The service to call, and the credential. */
export interface ClientOptions {
  /**
   * The address of the service; for a page of the service itself, its own origin. Of nodes without a load balancer in front,
   * all addresses: if one does not answer, the client goes on with the next.
   */
  url: string | URL | readonly [string | URL, ...(string | URL)[]];
  /** The tenant whose facts are used. */
  tenant: string;
  /** `default` if missing. */
  database?: string | undefined;
  /** The key, if the service requires one. */
  key?: string | undefined;
  /** Name and version of your program, such as `importer/1.4`, for the records of its writes; default: this package's. */
  client?: string | undefined;
  /**
   * Milliseconds for which a call is repeated that got no answer, or met a node that cannot answer at the moment: reads, and
   * writes with a key, once their body can be sent again. 0: never. Default: 10,000.
   */
  retryMs?: number | undefined;
}

const RETRY_MS = 10_000;

/** The operations of a service. They reject with CorollaryError or, if a signal ended the call, with its reason. */
export type Client = Operations;

/**
 * Creates a client. It sends each write with an `Idempotency-Key`, and with each call the latest token that it has seen, so
 * that it reads its own writes at any node, and never goes back.
 */
export function createClient({
  url,
  tenant,
  database = 'default',
  key,
  client,
  retryMs = RETRY_MS,
}: ClientOptions): Client {
  const [origin, ...others] = (Array.isArray(url) ? url : [url]).map(originOf);
  if (origin === undefined) throw new TypeError('url: name at least one address');
  const connection: Connection = {
    origin,
    database,
    tenant,
    key: key ?? null,
    client: client ?? `corollary-client/${VERSION}`,
    seen: { token: null, node: 0 },
  };
  const outlasting = { origins: [origin, ...others], retryMs };
  const methods = Object.entries<Operation>(operations).map(([name, operation]) => [
    name,
    (...given: unknown[]) => call(connection, outlasting, operation, given),
  ]);
  return Object.fromEntries(methods) as Client;
}

function originOf(url: unknown): string {
  return String(url).replace(/\/+$/, '');
}

function call(
  connection: Connection,
  outlasting: Outlasting,
  operation: Operation,
  given: unknown[],
): unknown {
  const rest = [...given];
  const names = [...operation.path.matchAll(/:([a-z]+)/gi)].map(([, name]) => String(name));
  const params = Object.fromEntries(names.map((name) => [name, String(rest.shift())]));
  const upload =
    operation.takesStream === true
      ? { source: rest.shift() as Upload, type: String(rest.shift()) }
      : undefined;
  const fields = operation.fields === undefined ? undefined : rest.shift();
  const options = withKey(operation, rest.shift() ?? {});
  const parts: Parts = {
    params,
    ...(operation.fields === 'query'
      ? { query: (fields ?? {}) as Record<string, unknown> }
      : operation.fieldsAmongOptions === undefined
        ? { body: fields }
        : { query: picked(options, operation.fieldsAmongOptions) }),
    ...(upload === undefined ? {} : { upload }),
  };
  const start: typeof begin = (...call) =>
    outlast(...call, outlasting, (at, left) => begin(at, operation, parts, left));
  switch (operation.stream) {
    case 'events':
      return oneByOne(changesOf(connection, operation, options, start));
    case 'lines':
      return outlastLines(connection, operation, parts, options, outlasting, (begun) =>
        linesOf(connection, operation, parts, begun, start),
      );
    case 'file':
      return bytesOf(connection, operation, parts, options, start);
    default:
      return outlast(connection, operation, parts, options, outlasting, (at, left) =>
        perform(at, operation, parts, left),
      );
  }
}

function picked(options: object, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name)));
}

async function* oneByOne(groups: AsyncIterable<ChangeEvent[]>): AsyncGenerator<ChangeEvent, void, undefined> {
  for await (const group of groups) yield* group;
}
