/**
 * The routes of the operations table: one loop, and the order in which a request can be refused.
 *
 * Before the body: 401, 429, 403, 415. Then the body is read (413), headers and names are checked (400), the database
 * is looked up (404), the body is parsed and validated (400), and the handler decides the rest. A repeated write with
 * its idempotency key is answered after the headers, whatever has happened to the database since.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { asRolledBack, type Caller, EngineError, present, rollsBack } from '../../engine/index.ts';
import {
  type CheckedInput,
  checkInput,
  checkLongInput,
  checkParams,
  insufficientRole,
  nobody,
  requirePermission,
  saysDryRun,
  type Streaming,
} from '../base/dispatch.ts';
import type { Upload } from '../base/streams.ts';
import type { Activity, Task } from './limits.ts';
import {
  ClientGone,
  hasBody,
  mediaTypeOf,
  parseJsonBody,
  parseQuery,
  readBody,
  requireJson,
} from './body.ts';
import {
  callerFor,
  checkedSpace,
  databaseNotFound,
  type NamedSpace,
  namedSpace,
  namedTransaction,
  parseIfMatch,
  peerOf,
  type Identify,
  requireCovered,
  type TargetSpace,
} from './caller.ts';
import { sendFile, sendLines, streamEvents, uploadOf } from './streams.ts';
import type { HttpHost } from './host.ts';
import {
  IdempotencyCache,
  idempotencyKeyOf,
  idempotencyOf,
  sendAgain,
  takesKey,
  uploadOnce,
} from './idempotency.ts';
import { isLarge, jsonBytes, jsonType, sendJson, writeJson } from './answers.ts';

const textType = 'text/plain; charset=utf-8';

/** Maximum size of the cached answers to writes with an idempotency key. */
const maxBytesOfAnswers = 64 * 1024 * 1024;

/** Adds the routes of all operations. */
export function addOperationRoutes(
  app: FastifyInstance,
  host: HttpHost,
  identify: Identify,
  activity: Activity,
): void {
  const answers = new IdempotencyCache(() => performance.now(), maxBytesOfAnswers);
  for (const [key, spec] of Object.entries<OperationSpec>(operations)) {
    const name = key as OperationName;
    for (const path of [spec.path, ...(spec.aliases ?? [])])
      app.route({
        method: spec.method,
        url: path,
        // Answers from this hook: the framework's way to a handler leads through body parsers, which this module
        // replaces, and costs as much as answering does.
        onRequest: (request, reply) => {
          request.route = path;
          guardOperation(host, identify, spec, request);
          answerOperation(host, activity, answers, name, request, reply).catch((error: unknown) => {
            if (!reply.sent) reply.send(error);
            else request.log.error({ err: error }, 'a bug: the request failed after its answer');
          });
        },
        handler: neverReached,
      });
  }
}

function neverReached(): never {
  throw new Error('every operation is answered when its head was read');
}

/**
 * Leaves bodies unread until a handler reads them: the framework would read them before headers and names are checked,
 * and close the connection if a body is too large.
 */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => {
    done(null);
  });
}

function guardOperation(
  host: HttpHost,
  identify: Identify,
  spec: OperationSpec,
  request: FastifyRequest,
): void {
  if (spec.role === 'public') {
    request.identity = nobody;
    if (spec.guessable === true) host.admitTry(peerOf(request) ?? '');
  } else {
    const identity = identify(request);
    request.onlyDryRun = requirePermission(identity, spec) === 'dryRun';
    const covered = namedBy(spec, request);
    if (covered !== null) requireCovered(identity, covered);
  }
  try {
    if (spec.takes === undefined) requireJson(request.raw);
    else if (hasBody(request.raw)) mediaTypeOf(request.raw, spec.takes);
  } catch (error) {
    throw takingTransaction(host, spec, request, request.onlyDryRun ? notToTry(spec, request) : error);
  }
}

/** The database and tenant that the credential must cover, from headers or path; null if the operation has none. */
function namedBy(spec: OperationSpec, request: FastifyRequest): NamedSpace | null {
  const { database, tenant } = namedSpace(request);
  if (spec.pathNames === undefined)
    return spec.database ? { database, tenant: spec.tenant ? tenant : null } : null;
  const { name, id } = request.params as { readonly name?: string; readonly id?: string };
  return { database: name ?? null, tenant: spec.pathNames === 'tenant' ? (id ?? null) : null };
}

async function answerOperation(
  host: HttpHost,
  activity: Activity,
  answers: IdempotencyCache,
  name: OperationName,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const spec: OperationSpec = operations[name];
  let call: Call;
  try {
    call = await callOf(host, name, request);
  } catch (error) {
    throw takingTransaction(host, spec, request, error);
  }
  const { place, conditions } = call;
  const inputOf = (isRemembered = false): Promise<CheckedInput> =>
    inputOfCall(host, name, request, call, isRemembered);
  if (spec.stream === 'events') {
    await inputOf();
    await streamEvents(host, activity, place, request, reply);
    return;
  }
  const task = activity.startCall();
  // The call lasts until its answer is sent: a large one is written after the handler has returned it.
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) task.cancel();
    task.done();
  });
  try {
    const transaction = spec.transaction === undefined ? null : namedTransaction(request);
    const plain = callerFor(request, place, task, null, transaction);
    const caller: Caller = conditions === unconditional ? plain : { ...plain, ...conditions };
    if (spec.stream === 'file') {
      await sendFile(host, name as Streaming<'file'>, caller, await inputOf(), task, request, reply);
      return;
    }
    if (spec.stream !== undefined) {
      await answerUpload(host, answers, name, caller, inputOf, task, request, reply);
      return;
    }
    if (caller.idempotency !== null) {
      await answerOnce(host, answers, name, caller, inputOf, reply);
      return;
    }
    sendOutput(name, await host.dispatcher.run(name, caller, await inputOf()), request, reply);
  } catch (error) {
    throw task.aborted ? afterAbort(task, error) : error;
  }
}

/** Sends the output of the operation. */
function sendOutput(
  name: OperationName,
  output: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const spec: OperationSpec = operations[name];
  reply.code(statusOf(name, output));
  const etag = etagIn(spec, output);
  // The reply is not returned: awaiting it would listen to its end.
  if (spec.answer === 'text') void reply.type(textType).send(output);
  else if (etag !== null) void sendJson(reply.header('etag', etag), output);
  else if (request.method === 'HEAD' || isLarge(output)) void sendJson(reply, output);
  else writeJson(request, reply, output);
}

/** Answers a streamed body with lines. */
async function answerUpload(
  host: HttpHost,
  answers: IdempotencyCache,
  name: OperationName,
  caller: Caller,
  inputOf: (isRemembered?: boolean) => Promise<CheckedInput>,
  task: Task,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const spec: OperationSpec = operations[name];
  const upload = uploadOf(request, mediaTypeOf(request.raw, spec.takes ?? []), task.toSignal());
  const key = idempotencyKeyOf(request.headers);
  const keptImport = host.keptImport.bind(host);
  const once = key === null ? null : uploadOnce(answers, keptImport, caller, key, request, upload);
  const insteadOf = (error: unknown): unknown => (task.aborted ? afterAbort(task, error) : error);
  const linesOf = (input: CheckedInput, from: Upload): AsyncIterable<unknown> =>
    host.dispatcher.lines(name as Streaming<'lines'>, caller, input, from);
  if (once === null) return sendLines(linesOf(await inputOf(), upload), task, request, reply, insteadOf);
  try {
    const input = await inputOf(once.repeated !== null);
    if (once.repeated !== null) return sendAgain(reply, await once.repeated());
    return await sendLines(once.kept(linesOf(input, once.upload)), task, request, reply, insteadOf);
  } finally {
    once.end();
  }
}

/** A request, checked as far as its headers and its path. */
interface Call {
  /** null: there is none, or it is a stream. */
  readonly bytes: Buffer | null;
  readonly params: unknown;
  readonly place: TargetSpace;
  readonly conditions: Conditions;
}

/** Reads and checks the request, in the order in which it can be refused. */
async function callOf(host: HttpHost, name: OperationName, request: FastifyRequest): Promise<Call> {
  const spec: OperationSpec = operations[name];
  const bytes = await bytesFor(host, spec, request);
  const params = spec.params === undefined ? undefined : checkParams(name, request.params);
  const place = placeOf(spec, request);
  const conditions = conditionsOf(spec, request, place, bytes);
  return { bytes, params, place, conditions: conditions instanceof Promise ? await conditions : conditions };
}

/** Checks the rest. A remembered answer may be about a database that no longer exists. */
async function inputOfCall(
  host: HttpHost,
  name: OperationName,
  request: FastifyRequest,
  { bytes, params, place }: Call,
  isRemembered: boolean,
): Promise<CheckedInput> {
  const spec: OperationSpec = operations[name];
  try {
    if (!isRemembered) requireDatabase(host, spec, place, params);
    const query = parseQuery(request.raw.url ?? '', spec.lists);
    const sent = spec.takes === undefined ? bodyOf(request, bytes) : undefined;
    const body = sent instanceof Promise ? ((await sent) as unknown) : sent;
    const input =
      spec.longList === undefined
        ? checkInput(name, { query, body })
        : await checkLongInput(name, { query, body });
    return params === undefined ? input : { ...input, params };
  } catch (error) {
    throw takingTransaction(host, spec, request, error);
  }
}

/**
 * Wraps the refusal of a write before its handler: if the write belongs to a transaction of the caller, that is rolled
 * back.
 */
function takingTransaction(
  host: HttpHost,
  spec: OperationSpec,
  request: FastifyRequest,
  error: unknown,
): unknown {
  const transaction = namedTransaction(request);
  const { database, tenant } = namedSpace(request);
  if (spec.transaction !== 'write' || transaction === null || tenant === null) return error;
  if (!(error instanceof EngineError) || !rollsBack(error)) return error;
  const place = { database: database ?? 'default', tenant };
  const caller = callerFor(request, place, AbortSignal.abort(), null, transaction);
  return host.abandon(caller) ? asRolledBack(error) : error;
}

/** Repeats the answer to the first request with the caller's idempotency key; else runs the operation. */
async function answerOnce(
  host: HttpHost,
  answers: IdempotencyCache,
  name: OperationName,
  caller: Caller,
  inputOf: (isRemembered: boolean) => Promise<CheckedInput>,
  reply: FastifyReply,
): Promise<void> {
  const spec: OperationSpec = operations[name];
  let isRemembered = false;
  const { answer, isRepeated } = await answers.once(
    caller,
    present(caller.idempotency, 'a key'),
    async () => {
      isRemembered = host.remembers(caller);
      // The target of the write may be gone since.
      const output = await host.dispatcher.run(name, caller, await inputOf(isRemembered));
      const status = statusOf(name, output);
      return { status, type: jsonType, etag: etagIn(spec, output), body: await jsonBytes(output) };
    },
  );
  reply.code(answer.status).type(answer.type);
  if (answer.etag !== null) reply.header('etag', answer.etag);
  if (isRepeated || isRemembered) reply.header('idempotent-replayed', 'true');
  void reply.send(answer.body);
}

type Conditions = Pick<Caller, 'idempotency' | 'ifMatch'>;

const unconditional: Conditions = { idempotency: null };

/** The conditions in the headers of a write. */
function conditionsOf(
  spec: OperationSpec,
  request: FastifyRequest,
  place: TargetSpace,
  body: Buffer | null,
): Conditions | Promise<Conditions> {
  const { 'if-match': ifMatch } = request.headers;
  const { method, headers } = request;
  // The digest of a streamed body is known only when it has been read.
  const isStreamed = spec.takes !== undefined;
  if (takesKey(spec) && isStreamed) idempotencyKeyOf(headers);
  if (headers['idempotency-key'] === undefined || !takesKey(spec) || isStreamed)
    return spec.ifMatch === true && ifMatch !== undefined
      ? { idempotency: null, ifMatch: parseIfMatch(ifMatch) }
      : unconditional;
  const url = request.raw.url ?? '';
  return idempotencyOf({ method, url, headers }, place, body).then((idempotency) => ({
    idempotency,
    ...(spec.ifMatch === true && ifMatch !== undefined ? { ifMatch: parseIfMatch(ifMatch) } : {}),
  }));
}

function statusOf(name: OperationName, output: unknown): number {
  if (name === 'ready' && (output as { status: string }).status !== 'ready') return 503;
  const spec: OperationSpec = operations[name];
  return spec.status ?? 200;
}

/** The entity tag of what the answer is about; null if it has none, such as a pending write. */
function etagIn(spec: OperationSpec, output: unknown): string | null {
  const etag = spec.etag === true ? (output as { etag?: unknown }).etag : undefined;
  return typeof etag === 'string' ? etag : null;
}

/** Database and tenant from the headers, as far as the operation uses them. */
function placeOf(spec: OperationSpec, request: FastifyRequest): TargetSpace {
  const named = namedSpace(request);
  const place = checkedSpace(
    { database: spec.database ? named.database : null, tenant: spec.tenant ? named.tenant : null },
    spec.tenant,
  );
  if (spec.tenant && spec.transaction === undefined && namedTransaction(request) !== null)
    throw new EngineError('ValidationException', 'header X-Transaction-ID has no meaning here', {
      errors: [{ path: 'X-Transaction-ID', message: 'has no meaning here' }],
    });
  return place;
}

/** Refuses with DatabaseNotFound if the database of the headers or the path does not exist. */
function requireDatabase(host: HttpHost, spec: OperationSpec, place: TargetSpace, params: unknown): void {
  if (!spec.database && spec.pathNames === undefined) return;
  const name = spec.pathNames === undefined ? place.database : (params as { name: string }).name;
  if (!host.hasDatabase(name)) throw databaseNotFound(name);
}

/** The whole body; null if the method takes none. */
function bytesOf(host: HttpHost, request: FastifyRequest): Promise<Buffer> | null {
  const takesNone = request.method === 'GET' || request.method === 'HEAD';
  return takesNone ? null : readBody(request.raw, host.settings.maxRequestBodyBytes);
}

/** The whole body of an operation that takes one; null if it takes none, or a stream. */
function bytesFor(
  host: HttpHost,
  spec: OperationSpec,
  request: FastifyRequest,
): Promise<Buffer | null> | null {
  if (request.onlyDryRun && spec.dryRun === 'query') {
    const query = parseQuery(request.raw.url ?? '', spec.lists);
    if (!saysDryRun(spec, { query })) throw notToTry(spec, request);
  } else if (request.onlyDryRun) return bytesToTry(host, spec, request);
  return spec.takes === undefined ? bytesOf(host, request) : null;
}

/**
 * The body of a call that the role allows only as a dry run. Refuses with Forbidden if it is not one, or cannot be
 * read, before reporting anything else about it.
 */
async function bytesToTry(
  host: HttpHost,
  spec: OperationSpec,
  request: FastifyRequest,
): Promise<Buffer | null> {
  let bytes: Buffer | null;
  let body: unknown;
  try {
    bytes = await bytesOf(host, request);
    body = await bodyOf(request, bytes);
  } catch (error) {
    throw error instanceof EngineError ? notToTry(spec, request) : error;
  }
  if (!saysDryRun(spec, { body })) throw notToTry(spec, request);
  return bytes;
}

function notToTry(spec: OperationSpec, request: FastifyRequest): EngineError {
  return insufficientRole(present(request.identity, 'the credential was looked at'), spec);
}

/** The value of the body; a promise if it is long. */
function bodyOf(request: FastifyRequest, bytes: Buffer | null): unknown {
  if (bytes !== null) return parseJsonBody(bytes);
  if (hasBody(request.raw))
    throw new EngineError('ValidationException', `a ${request.method} request takes no body`);
  return undefined;
}

/** Replaces the error with which an aborted call ended. */
function afterAbort(task: Task, error: unknown): unknown {
  if (error instanceof EngineError) return error;
  return task.isCutOff
    ? new EngineError('NotReady', 'the service is shutting down')
    : new ClientGone('the client went away', { cause: error });
}
