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
import {
  asRolledBack,
  type Caller,
  EngineError,
  JsonText,
  present,
  rollsBack,
  serving,
} from '../../engine/index.ts';
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
  requireOriginHeaders,
  checkedSpace,
  databaseNotFound,
  demandedState,
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
import type { Forwarding } from './forwarding.ts';
import { askForBody } from './node-requests.ts';
import type { HttpHost } from './host.ts';
import {
  IdempotencyCache,
  idempotencyKeyOf,
  idempotencyOf,
  sendAgain,
  takesKey,
  uploadOnce,
} from './idempotency.ts';
import { isLarge, jsonBytes } from '../base/json-slices.ts';
import { jsonType, sendJson, sendWritten, writeJson } from './answers.ts';

const textType = 'text/plain; charset=utf-8';

/** Maximum size of the cached answers to writes with an idempotency key. */
const maxBytesOfAnswers = 64 * 1024 * 1024;

/** What all requests of operations share. */
interface Surroundings {
  readonly host: HttpHost;
  readonly identify: Identify;
  readonly activity: Activity;
  readonly answers: IdempotencyCache;
  /** null: this process alone has its log. */
  readonly forwarding: Forwarding | null;
}

/** Adds the routes of all operations. */
export function addOperationRoutes(
  app: FastifyInstance,
  host: HttpHost,
  identify: Identify,
  activity: Activity,
  forwarding: Forwarding | null,
): void {
  const answers = new IdempotencyCache(() => performance.now(), maxBytesOfAnswers);
  host.whenErased((erasure) => answers.erase(erasure));
  const surroundings = { host, identify, activity, answers, forwarding };
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
          const call = new OperationCall(surroundings, name, request, reply);
          call.guard();
          call.answerHereOrElsewhere().catch((error: unknown) => {
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

/** A request, checked as far as its headers and its path. */
interface Head {
  /** null: there is none, or it is a stream. */
  readonly bytes: Buffer | null;
  readonly params: unknown;
  readonly place: TargetSpace;
  readonly conditions: Conditions;
}

type Conditions = Pick<Caller, 'idempotency' | 'ifMatch'>;

const unconditional: Conditions = { idempotency: null };

/** Checks the input. A remembered answer may be about a database that no longer exists. */
type InputOf = (isRemembered?: boolean) => Promise<CheckedInput>;

/** One request of an operation, from its head to its answer. */
class OperationCall {
  readonly #of: Surroundings;
  readonly #name: OperationName;
  readonly #spec: OperationSpec;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(of: Surroundings, name: OperationName, request: FastifyRequest, reply: FastifyReply) {
    this.#of = of;
    this.#name = name;
    this.#spec = operations[name];
    this.#request = request;
    this.#reply = reply;
  }

  /** The refusals that need no body: 401, 429, 403, 415. */
  guard(): void {
    const request = this.#request;
    const spec = this.#spec;
    if (spec.role === 'public') {
      request.identity = nobody;
      if (spec.guessable === true) this.#of.host.admitTry(peerOf(request) ?? '');
    } else {
      const identity = this.#of.identify(request);
      request.onlyDryRun = requirePermission(identity, spec) === 'dryRun';
      const covered = namedBy(spec, request);
      if (covered !== null) requireCovered(identity, covered);
    }
    try {
      if (spec.takes === undefined) requireJson(request.raw);
      else if (hasBody(request.raw)) mediaTypeOf(request.raw, spec.takes);
    } catch (error) {
      throw this.#rollingBack(request.onlyDryRun ? this.#noDryRun() : error);
    }
  }

  /** Lets another node answer what is its own. */
  async answerHereOrElsewhere(): Promise<void> {
    const { forwarding } = this.#of;
    if (forwarding !== null && (await forwarding.passesOn(this.#spec, this.#request, this.#reply))) return;
    askForBody(this.#request, this.#reply.raw);
    await this.#answer();
  }

  async #answer(): Promise<void> {
    const request = this.#request;
    const spec = this.#spec;
    let head: Head;
    try {
      head = await this.#readHead();
    } catch (error) {
      throw this.#rollingBack(error);
    }
    const { place, conditions } = head;
    const inputOf: InputOf = (isRemembered = false) => this.#inputOf(head, isRemembered);
    if (spec.stream === 'events') {
      await inputOf();
      await streamEvents(this.#of.host, this.#of.activity, place, request, this.#reply);
      return;
    }
    const task = this.#of.activity.startCall();
    // The call lasts until its answer is sent: a large one is written after the handler has returned it.
    const { raw } = this.#reply;
    raw.on('close', () => {
      if (!raw.writableFinished) task.cancel();
      task.done();
    });
    try {
      const transaction = spec.transaction === undefined ? null : namedTransaction(request);
      const plain = callerFor(request, place, task, null, transaction);
      await this.#run(conditions === unconditional ? plain : { ...plain, ...conditions }, task, inputOf);
    } catch (error) {
      throw task.aborted ? afterAbort(task, error) : error;
    }
  }

  async #run(caller: Caller, task: Task, inputOf: InputOf): Promise<void> {
    const { host } = this.#of;
    const { stream } = this.#spec;
    if (stream === 'file') {
      const name = this.#name as Streaming<'file'>;
      await sendFile(host, name, caller, await inputOf(), task, this.#request, this.#reply);
    } else if (stream !== undefined) await this.#answerUpload(caller, task, inputOf);
    else if (caller.idempotency !== null) await this.#answerOnce(caller, caller.idempotency, inputOf);
    else {
      const output = await this.#outputOf(caller, await inputOf());
      if (output instanceof JsonText) void sendWritten(this.#reply, output);
      else this.#send(output, caller);
    }
  }

  #outputOf(caller: Caller, input: CheckedInput): Promise<unknown> {
    const { host, forwarding } = this.#of;
    const run = (): Promise<unknown> => host.dispatcher.runForText(this.#name, caller, input);
    const { kind, pathNames } = this.#spec;
    if (forwarding === null || kind !== 'read') return run();
    const { name = caller.database } = pathNames === undefined ? {} : (input.params as { name?: string });
    return forwarding.unlessUnknown(name, run);
  }

  /** Sends the output of the operation. */
  #send(output: unknown, caller: Caller): void {
    const reply = this.#reply.code(this.#statusOf(output));
    const etag = this.#etagIn(output);
    // The reply is not returned: awaiting it would listen to its end.
    if (this.#spec.answer === 'text') void reply.type(textType).send(output);
    else if (etag !== null) void sendJson(reply.header('etag', etag), output, caller);
    else if (this.#request.method === 'HEAD' || isLarge(output)) void sendJson(reply, output, caller);
    else writeJson(this.#request, reply, output);
  }

  /** Answers a streamed body with lines. */
  async #answerUpload(caller: Caller, task: Task, inputOf: InputOf): Promise<FastifyReply> {
    const { host, answers } = this.#of;
    const request = this.#request;
    const reply = this.#reply;
    const type = mediaTypeOf(request.raw, this.#spec.takes ?? []);
    const upload = uploadOf(request, type, task.toSignal(), serving.resumeOf(caller, this.#name));
    const key = idempotencyKeyOf(request.headers);
    const once = key === null ? null : uploadOnce(answers, host, caller, key, request, upload);
    const insteadOf = (error: unknown): unknown => (task.aborted ? afterAbort(task, error) : error);
    const linesOf = (input: CheckedInput, from: Upload): AsyncIterable<unknown> =>
      host.dispatcher.lines(this.#name as Streaming<'lines'>, caller, input, from);
    if (once === null) return sendLines(linesOf(await inputOf(), upload), task, request, reply, insteadOf);
    try {
      const input = await inputOf(once.repeated !== null);
      if (once.repeated !== null) return sendAgain(reply, await once.repeated());
      return await sendLines(once.kept(linesOf(input, once.upload)), task, request, reply, insteadOf);
    } finally {
      once.end();
    }
  }

  /** Repeats the answer to the first request with the idempotency key; else runs the operation. */
  async #answerOnce(
    caller: Caller,
    idempotency: NonNullable<Caller['idempotency']>,
    inputOf: InputOf,
  ): Promise<void> {
    const { host, answers } = this.#of;
    let isRemembered = false;
    const { answer, isRepeated } = await answers.once(caller, idempotency, async () => {
      isRemembered = host.remembers(caller);
      // The target of the write may be gone since.
      const output = await host.dispatcher.run(this.#name, caller, await inputOf(isRemembered));
      const [status, etag] = [this.#statusOf(output), this.#etagIn(output)];
      return {
        status,
        type: jsonType,
        etag,
        body: await jsonBytes(output, serving.resumeOf(caller, 'write an answer')),
      };
    });
    const reply = this.#reply.code(answer.status).type(answer.type);
    if (answer.etag !== null) reply.header('etag', answer.etag);
    if (isRepeated || isRemembered) reply.header('idempotent-replayed', 'true');
    void reply.send(answer.body);
  }

  /** Reads the body, and checks headers and path, in the order in which they can be refused. */
  async #readHead(): Promise<Head> {
    const bytes = await this.#readBytes();
    const params = checkParams(this.#name, this.#request.params);
    const place = placeOf(this.#spec, this.#request);
    requireOriginHeaders(this.#request);
    if (this.#spec.database) {
      const { host } = this.#of;
      this.#request.showToken = () => host.token(place.database);
      const { headers } = this.#request;
      const isDemanding = headers['x-at-least'] !== undefined || headers['x-consistency'] !== undefined;
      if (isDemanding && !this.#request.isDemandMet) await demandedState(this.#request, place.database, host);
    }
    const conditions = conditionsOf(this.#spec, this.#request, place, bytes);
    return {
      bytes,
      params,
      place,
      conditions: conditions instanceof Promise ? await conditions : conditions,
    };
  }

  /** Checks the rest of the request: the database, the query string and the body. */
  async #inputOf({ bytes, params, place }: Head, isRemembered: boolean): Promise<CheckedInput> {
    const spec = this.#spec;
    try {
      if (!isRemembered) requireDatabase(this.#of.host, spec, place, params);
      const query = parseQuery(this.#request.raw.url ?? '', spec.lists);
      const sent = spec.takes === undefined ? this.#bodyOf(bytes, place) : undefined;
      const body = sent instanceof Promise ? ((await sent) as unknown) : sent;
      const input =
        spec.longList === undefined
          ? checkInput(this.#name, { query, body })
          : await checkLongInput(this.#name, { query, body }, place);
      return params === undefined ? input : { ...input, params };
    } catch (error) {
      throw this.#rollingBack(error);
    }
  }

  /**
   * Wraps the refusal of a write before its handler: if the write belongs to a transaction of the caller, that is
   * rolled back.
   */
  #rollingBack(error: unknown): unknown {
    const request = this.#request;
    const transaction = namedTransaction(request);
    const { database, tenant } = namedSpace(request);
    if (this.#spec.transaction !== 'write' || transaction === null || tenant === null) return error;
    if (!(error instanceof EngineError) || !rollsBack(error)) return error;
    const place = { database: database ?? 'default', tenant };
    const caller = callerFor(request, place, AbortSignal.abort(), null, transaction);
    return this.#of.host.abandon(caller) ? asRolledBack(error) : error;
  }

  /** The whole body of an operation that takes one; null if it takes none, or a stream. */
  #readBytes(): Promise<Buffer | null> | null {
    const spec = this.#spec;
    const { onlyDryRun, raw } = this.#request;
    if (onlyDryRun && spec.dryRun !== 'query') return this.#bytesOfDryRun();
    if (onlyDryRun && !saysDryRun(spec, { query: parseQuery(raw.url ?? '', spec.lists) }))
      throw this.#noDryRun();
    return spec.takes === undefined ? this.#wholeBody() : null;
  }

  /**
   * The body of a call that the role allows only as a dry run. Refuses with Forbidden if it is not one, or cannot be
   * read, before reporting anything else about it.
   */
  async #bytesOfDryRun(): Promise<Buffer | null> {
    let bytes: Buffer | null;
    let body: unknown;
    try {
      bytes = await this.#wholeBody();
      body = await this.#bodyOf(bytes, null);
    } catch (error) {
      throw error instanceof EngineError ? this.#noDryRun() : error;
    }
    if (!saysDryRun(this.#spec, { body })) throw this.#noDryRun();
    return bytes;
  }

  /** The refusal of a call that the role allows only as a dry run. */
  #noDryRun(): EngineError {
    return insufficientRole(present(this.#request.identity, 'the credential was looked at'), this.#spec);
  }

  /** The whole body; null if the method takes none. */
  #wholeBody(): Promise<Buffer> | null {
    const { method, raw } = this.#request;
    if (method === 'GET' || method === 'HEAD') return null;
    const judged = this.#of.forwarding?.bodyOf(this.#request) ?? null;
    return judged === null
      ? readBody(raw, this.#of.host.settings.maxRequestBodyBytes)
      : Promise.resolve(judged);
  }

  /** The value of the body; a promise if it is long. */
  #bodyOf(bytes: Buffer | null, place: TargetSpace | null): unknown {
    if (bytes !== null) return parseJsonBody(bytes, place);
    const { method, raw } = this.#request;
    if (hasBody(raw)) throw new EngineError('ValidationException', `a ${method} request takes no body`);
    return undefined;
  }

  #statusOf(output: unknown): number {
    if (this.#name === 'ready' && (output as { status: string }).status !== 'ready') return 503;
    return this.#spec.status ?? 200;
  }

  /** The entity tag of what the answer is about; null if it has none, such as a pending write. */
  #etagIn(output: unknown): string | null {
    const etag = this.#spec.etag === true ? (output as { etag?: unknown }).etag : undefined;
    return typeof etag === 'string' ? etag : null;
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

/** Database and tenant from the headers, as far as the operation uses them. */
function placeOf(spec: OperationSpec, request: FastifyRequest): TargetSpace {
  const named = namedSpace(request);
  const place = checkedSpace(
    { database: spec.database ? named.database : null, tenant: spec.tenant ? named.tenant : null },
    spec.tenant && spec.tenantDefaults !== true,
  );
  if (spec.tenant && spec.transaction === undefined && namedTransaction(request) !== null)
    throw new EngineError('ValidationException', 'header X-Transaction-ID has no meaning here', {
      errors: [{ path: 'X-Transaction-ID', message: 'has no meaning here' }],
    });
  return place;
}

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

/** Refuses with DatabaseNotFound if the database of the headers or the path does not exist. */
function requireDatabase(host: HttpHost, spec: OperationSpec, place: TargetSpace, params: unknown): void {
  if (!spec.database && spec.pathNames === undefined) return;
  const name = spec.pathNames === undefined ? place.database : (params as { name: string }).name;
  if (!host.hasDatabase(name)) throw databaseNotFound(name);
}

/** Replaces the error with which an aborted call ended. */
function afterAbort(task: Task, error: unknown): unknown {
  if (error instanceof EngineError) return error;
  return task.isCutOff
    ? new EngineError('NotReady', 'the service is shutting down')
    : new ClientGone('the client went away', { cause: error });
}
