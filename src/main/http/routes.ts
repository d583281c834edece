/**
 * The routes of the operations table: one loop, and the order in which a request can be refused.
 *
 * Before the body: 401, 429, 403, 415. Then the body is read (413), headers and names are checked (400), the
 * database is looked up (404), the body is parsed and validated (400), and the handler decides the rest.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type OperationName, type OperationSpec, operations } from '../../engine/contract/operations.ts';
import { asRolledBack, EngineError, rollsBack } from '../../engine/index.ts';
import { type CheckedInput, checkLongInput, checkParams, requirePermission } from '../dispatch.ts';
import { nobody } from '../identity.ts';
import type { Activity, Task } from './activity.ts';
import { ClientGone, hasBody, parseJsonBody, readBody, requireJson } from './body.ts';
import {
  callerFor,
  checkedPlace,
  databaseNotFound,
  namedPlace,
  namedTransaction,
  type Place,
  requireCovered,
} from './caller.ts';
import { streamEvents } from './events.ts';
import type { Guard } from './guard.ts';
import type { HttpHost } from './host.ts';
import { sendJson } from './json-answer.ts';
import { parseQuery } from './query-string.ts';

export function addOperationRoutes(
  app: FastifyInstance,
  host: HttpHost,
  guard: Guard,
  activity: Activity,
): void {
  for (const [key, spec] of Object.entries<OperationSpec>(operations)) {
    const name = key as OperationName;
    for (const path of [spec.path, ...(spec.aliases ?? [])])
      app.route({
        method: spec.method,
        url: path,
        onRequest: (request, _reply, done) => {
          guardOperation(host, guard, spec, request);
          done();
        },
        handler: (request, reply) => answerOperation(host, activity, name, request, reply),
      });
  }
}

/**
 * Leaves bodies unread until a handler wants them: the framework would read them before headers and names are
 * checked, and close the connection of a body that is too large.
 */
export function leaveBodiesUnread(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => {
    done(null);
  });
}

function guardOperation(host: HttpHost, guard: Guard, spec: OperationSpec, request: FastifyRequest): void {
  if (spec.role === 'public') request.identity = nobody;
  else {
    const identity = guard.identify(request);
    requirePermission(identity, spec);
    const named = namedPlace(request);
    requireCovered(identity, {
      database: spec.database ? named.database : null,
      tenant: spec.tenant ? named.tenant : null,
    });
  }
  try {
    requireJson(request.raw);
  } catch (error) {
    throw takingTransaction(host, spec, request, error);
  }
}

async function answerOperation(
  host: HttpHost,
  activity: Activity,
  name: OperationName,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const spec: OperationSpec = operations[name];
  let call: Call;
  try {
    call = await callOf(host, name, request);
  } catch (error) {
    throw takingTransaction(host, spec, request, error);
  }
  const { place, input } = call;
  if (spec.stream === 'events') return streamEvents(host, activity, place, request, reply);
  const task = activity.startCall();
  // The call lasts until its answer is out: a large one is written after the handler has returned it.
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) task.cancel();
    task.done();
  });
  try {
    const transaction = spec.transaction === undefined ? null : namedTransaction(request);
    const caller = callerFor(request, place, task.signal, null, transaction);
    const output = await host.dispatcher.run(name, caller, input);
    reply.code(spec.status ?? 200);
    if (name === 'ready' && (output as { status: string }).status !== 'ready') reply.code(503);
    return sendJson(reply, output);
  } catch (error) {
    throw task.signal.aborted ? afterAbort(task, error) : error;
  }
}

/** What a request asks for, checked. */
interface Call {
  readonly place: Place;
  readonly input: CheckedInput;
}

/** Reads and checks the request, in the order in which it can be refused. */
async function callOf(host: HttpHost, name: OperationName, request: FastifyRequest): Promise<Call> {
  const bytes = await bytesOf(host, request);
  const params = checkParams(name, request.params);
  const place = placeOf(host, operations[name], request);
  const query = parseQuery(request.raw.url ?? '');
  const input = { ...(await checkLongInput(name, { query, body: await bodyOf(request, bytes) })), params };
  return { place, input };
}

/**
 * What is thrown in place of a refusal that met a write before its handler: where the write was to be part of a
 * transaction of the caller, that is rolled back.
 */
function takingTransaction(
  host: HttpHost,
  spec: OperationSpec,
  request: FastifyRequest,
  error: unknown,
): unknown {
  const transaction = namedTransaction(request);
  const { database, tenant } = namedPlace(request);
  if (spec.transaction !== 'write' || transaction === null || tenant === null) return error;
  if (!(error instanceof EngineError) || !rollsBack(error)) return error;
  const place = { database: database ?? 'default', tenant };
  const caller = callerFor(request, place, AbortSignal.abort(), null, transaction);
  return host.abandon(caller) ? asRolledBack(error) : error;
}

/** Database and tenant by the headers, as far as the operation looks at them. */
function placeOf(host: HttpHost, spec: OperationSpec, request: FastifyRequest): Place {
  const named = namedPlace(request);
  const place = checkedPlace(
    { database: spec.database ? named.database : null, tenant: spec.tenant ? named.tenant : null },
    spec.tenant,
  );
  if (spec.tenant && spec.transaction === undefined && namedTransaction(request) !== null)
    throw new EngineError('ValidationException', 'header X-Transaction-ID has no meaning here', {
      errors: [{ path: 'X-Transaction-ID', message: 'has no meaning here' }],
    });
  if (spec.database && !host.hasDatabase(place.database)) throw databaseNotFound(place.database);
  return place;
}

/** The body, whole; null where the method takes none. */
async function bytesOf(host: HttpHost, request: FastifyRequest): Promise<Buffer | null> {
  const takesNone = request.method === 'GET' || request.method === 'HEAD';
  return takesNone ? null : readBody(request.raw, host.settings.maxRequestBodyBytes);
}

async function bodyOf(request: FastifyRequest, bytes: Buffer | null): Promise<unknown> {
  if (bytes !== null) return parseJsonBody(bytes);
  if (hasBody(request.raw))
    throw new EngineError('ValidationException', `a ${request.method} request takes no body`);
  return undefined;
}

/** What is thrown in place of the error that an aborted call ended with. */
function afterAbort(task: Task, error: unknown): unknown {
  if (error instanceof EngineError) return error;
  return task.isCutOff
    ? new EngineError('NotReady', 'the service is shutting down')
    : new ClientGone('the client went away', { cause: error });
}
