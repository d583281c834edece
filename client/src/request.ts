/**
 * One request and its answer, over `fetch`: the address and headers of the table, and one error for every failure. The
 * module does not know what operations mean.
 *
 * A caller that aborts gets the reason of its own signal back; every other failure is a CorollaryError with the request
 * id that was sent.
 */
import { CorollaryError, errorOfAnswer, isObject } from './failure.ts';
import type { Operation } from './operation.ts';
import type { CallOptions, EventOptions, IfMatch, InTransaction, Upload, WriteOptions } from './options.ts';

/** The service to call, and the credential. */
export interface Connection {
  /** The service's address without a trailing slash, such as http://127.0.0.1:9300 */
  readonly origin: string;
  readonly database: string;
  readonly tenant: string;
  /** null: the service needs none. */
  readonly key: string | null;
  /** Name and version of the program, for the records of its writes; absent: not said. */
  readonly client?: string;
  /** Absent: tokens are not kept. */
  readonly seen?: Seen;
}

/** What a client has seen of its database. */
export interface Seen {
  /** The latest token of an answer (`X-Token`); null: none yet. */
  token: string | null;
  /** Which of its addresses a client asks. */
  node: number;
}

export type AnyOptions = CallOptions &
  WriteOptions &
  EventOptions &
  IfMatch &
  Partial<InTransaction> & {
    /** Called once, when a stream begins to answer. */
    onOpen?: () => void;
  };

/** The parts of a call: arguments of the path by name, parameters of the query string, and a body. */
export interface Parts {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly upload?: { readonly source: Upload; readonly type: string };
}

/** A unique name for a request. `prefix` says where it comes from. */
export function newRequestId(prefix: string): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return `${prefix}-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The headers of every call. */
export function headersOf(connection: Connection, requestId: string): Record<string, string> {
  return {
    'X-Database': connection.database,
    'X-Tenant-ID': connection.tenant,
    'X-Request-ID': requestId,
    ...(connection.client === undefined ? {} : { 'X-Client': connection.client }),
    ...(connection.key === null ? {} : { Authorization: `Bearer ${connection.key}` }),
  };
}

/** The address of a call. Absent and null parameters are left out; a list becomes a repeated parameter. */
export function addressOf(
  origin: string,
  { path }: Pick<Operation, 'path'>,
  { params, query }: Parts,
): string {
  const filled = path.replace(/:([a-z]+)/gi, (_, name: string) => encodeURIComponent(params?.[name] ?? ''));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    for (const each of Array.isArray(value) ? value : [value])
      if (each !== null && each !== undefined) search.append(name, String(each));
  return `${origin}${filled}${search.size === 0 ? '' : `?${search}`}`;
}

/** A running call: its answer has begun and can be read; each piece has its own time limit. */
export interface Begun {
  readonly response: Response;
  readonly requestId: string;
  /** Restarts the time limit. */
  readonly extend: () => void;
  /** Call it when nothing more is read. */
  readonly end: () => void;
  /** Turns an error of reading into the one to throw. */
  readonly failureOf: (cause: unknown) => unknown;
}

/** Sends the call. Resolves when a successful answer has begun. */
export async function begin(
  connection: Connection,
  operation: Operation,
  parts: Parts,
  options: AnyOptions,
): Promise<Begun> {
  const requestId = options.requestId ?? newRequestId('client');
  const { signal, extend, end, failureOf } = patience(options, requestId);
  const { upload } = parts;
  const hasBody = operation.fields === 'body';
  const type = upload?.type ?? (hasBody ? 'application/json' : undefined);
  const source = typeof upload?.source === 'function' ? await upload.source() : upload?.source;
  const body = source ?? (hasBody ? JSON.stringify(parts.body ?? {}) : undefined);
  const init: RequestInit & { duplex?: 'half' } = {
    method: operation.method,
    headers: {
      ...headersOf(connection, requestId),
      ...(type === undefined ? {} : { 'Content-Type': type }),
      ...optionHeaders(options),
      ...demandOf(connection, operation),
    },
    signal,
    ...(body === undefined ? {} : { body }),
    ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    ...(operation.stream === 'events' ? { cache: 'no-store' } : {}),
  };
  try {
    const response = await fetch(addressOf(connection.origin, operation, parts), init);
    noteToken(connection, response);
    const begun = { response, requestId, extend, end, failureOf };
    if (!response.ok && !isReadiness(operation, response)) throw await refusalOf(begun);
    return begun;
  } catch (cause) {
    end();
    throw failureOf(cause);
  }
}

/** What is answered is no older than what the client has seen. */
function demandOf({ seen }: Connection, { database }: Operation): Record<string, string> {
  return database && seen !== undefined && seen.token !== null ? { 'X-At-Least': seen.token } : {};
}

function noteToken({ seen }: Connection, { headers }: Response): void {
  const token = headers.get('X-Token');
  if (seen !== undefined && token !== null) seen.token = laterToken(seen.token, token);
}

/** The later one of two tokens of a database: of one history by generation and time, else the one that came last. */
function laterToken(before: string | null, given: string): string {
  const [history, generation, instant] = (before ?? '').split('.');
  const [newHistory, newGeneration, newInstant] = given.split('.');
  if (history !== newHistory) return given;
  const step = Number(newGeneration) - Number(generation) || Number(newInstant) - Number(instant);
  return step > 0 ? given : (before ?? given);
}

/** Not being ready is an answer too, not a refusal. */
function isReadiness({ path }: Operation, { status }: Response): boolean {
  return path === '/health/ready' && status === 503;
}

function optionHeaders(options: AnyOptions): Record<string, string> {
  const { transaction, ifMatch, idempotencyKey, after } = options;
  const headers = {
    'X-Transaction-ID': transaction,
    'If-Match': ifMatch,
    'Idempotency-Key': idempotencyKey,
    'Last-Event-ID': after,
  };
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

async function refusalOf({ response, requestId }: Begun): Promise<CorollaryError> {
  const text = await response.text();
  return errorOfAnswer(response.status, jsonOf(text), requestId, response.headers.get('Retry-After'));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not JSON, so not an answer of the service: only the status is reported.
    return null;
  }
}

/** The caller's signal and the time limit as one signal. */
function patience(
  { signal, timeoutMs }: CallOptions,
  requestId: string,
): Pick<Begun, 'extend' | 'end' | 'failureOf'> & { signal: AbortSignal } {
  const time = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = (): void => clearTimeout(timer);
  const extend = (): void => {
    end();
    if (timeoutMs !== undefined) timer = setTimeout(() => time.abort(), timeoutMs);
  };
  extend();
  return {
    signal: signal === undefined ? time.signal : AbortSignal.any([signal, time.signal]),
    extend,
    end,
    failureOf(cause) {
      if (signal?.aborted === true) return signal.reason;
      if (cause instanceof CorollaryError) return cause;
      const isLate = time.signal.aborted;
      return new CorollaryError(
        {
          code: isLate ? 'TimedOut' : 'Unreachable',
          status: null,
          detail: isLate
            ? `The service did not answer within ${timeoutMs} ms.`
            : 'The service does not answer: is it running, and is the address right?',
          requestId,
        },
        cause,
      );
    },
  };
}

/** Makes a call with a single answer. */
export async function perform(
  connection: Connection,
  operation: Operation,
  parts: Parts,
  options: AnyOptions = {},
): Promise<unknown> {
  const { response, requestId, end, failureOf } = await begin(connection, operation, parts, options);
  try {
    const text = await response.text();
    if (operation.answer === 'text') return text;
    const answer = text === '' ? null : jsonOf(text);
    if (answer === null && text !== '') throw errorOfAnswer(response.status, null, requestId);
    if (!response.ok && isObject(answer) && 'code' in answer)
      throw errorOfAnswer(response.status, answer, requestId, response.headers.get('Retry-After'));
    return answer;
  } catch (cause) {
    throw failureOf(cause);
  } finally {
    end();
  }
}
