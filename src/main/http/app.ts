/**
 * The HTTP application: hooks, routes of the operations table, files, documentation, and the log of requests.
 *
 * This module adds these parts in the right order. The application neither listens nor knows when the engine is open;
 * the composition root does both.
 */
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { createServer } from 'node:http';
import { EngineError, serving } from '../../engine/index.ts';
import type { JsonBodies } from '../base/agent-host.ts';
import { requirePermission } from '../base/dispatch.ts';
import { Activity, limits } from './limits.ts';
import { type Admission, createAdmission } from './admission.ts';
import { discardRest, hasBody, parseJsonBody, parseQuery, readBody, requireJson } from './body.ts';
import { createIdentify, type Identify, type NamedSpace, namedSpace, requireCovered } from './caller.ts';
import { answerClientError, ConnectionTraffic, limitConnections, serverOptions } from './connections.ts';
import { addDocs } from './docs.ts';
import type { WriteGate } from './write-gate.ts';
import { type DatabaseOf, Forwarding, type NeedOf } from './forwarding.ts';
import { addNodeMessages, messagePath } from './node-messages.ts';
import { askForBody } from './node-requests.ts';
import { addFiles } from './files.ts';
import type { HttpHost } from './host.ts';
import { requestIdOf, sendFailure, sendJson, sendProblem, setStandingHeaders } from './answers.ts';
import { openApiSteps } from './openapi.ts';
import { addOperationRoutes, leaveBodiesUnread } from './routes.ts';
import { UnreadAnswers } from './unread-answers.ts';
import { type CertificateSecrets, createSecureServer, type SecureServer } from './secure-server.ts';

export interface HttpApp {
  readonly app: FastifyInstance;
  readonly activity: Activity;
  /** Creates another server for the same application: HTTPS, with the limits of the plain one. */
  secureServer(secrets: CertificateSecrets): SecureServer;
  readonly traffic: ConnectionTraffic;
  /** Requests passed on to another node since the start. */
  readonly passedOn: Forwarding['totals'];
  /** Same as `WriteGate.hold`. */
  readonly holdWrites: WriteGate['hold'];
  /** Resolves when no request about the database is being answered here, at the latest after 30 s; ends its streams. */
  whenUnused(database: string): Promise<void>;
}

/**
 * Adds the routes of another surface, behind the same refusals; their bodies are parsed JSON. A route states in its
 * `config` what is different.
 */
type Mount = (app: FastifyInstance, bodies: JsonBodies) => void | Promise<void>;

/** What the `config` of a mounted route may say. */
interface MountedRoute {
  /** The route needs no credential. */
  readonly isPublic?: boolean;
  /** The headers name database and tenant, and the handler reads the body, by `JsonBodies`. */
  readonly readsBody?: boolean;
  /** What a message needs; absent: the node that has the log answers all of them. */
  readonly needOf?: NeedOf;
  /** The database of the request's session; absent or null: that of its headers. */
  readonly databaseOf?: DatabaseOf;
}

/** Creates the application with the routes of the table and of all mounts. */
export async function createHttpApp(host: HttpHost, mounts: readonly Mount[] = []): Promise<HttpApp> {
  const admission = createAdmission(host);
  const activity = new Activity();
  const traffic = new ConnectionTraffic();
  const unread = new UnreadAnswers(limits.unreadBytes, host.log);
  const identify = createIdentify(host);
  const forwarding = host.nodes === null ? null : new Forwarding(host, host.nodes, activity);
  const app = createApp(host, admission, traffic, unread);
  const stopLooking = unread.lookEvery(limits.unreadLookMs);
  app.addHook('onClose', (_app, done) => {
    stopLooking();
    forwarding?.close();
    done();
  });
  logRequests(app, host);
  admission.install(app);
  await app.register(async (scope) => {
    leaveBodiesUnread(scope);
    addOperationRoutes(scope, host, identify, activity, forwarding);
    addDescription(scope, host, identify);
    if (host.nodes !== null) addNodeMessages(scope, host.nodes);
    await addFiles(scope, {
      workbench: host.workbenchFolder,
      samples: host.samplesFolder,
      bundle: host.bundleFile,
    });
    addDocs(scope);
  });
  const bodies: JsonBodies = {
    read: async (request) => {
      const bytes =
        forwarding?.bodyOf(request) ?? (await readBody(request.raw, host.settings.maxRequestBodyBytes));
      const { database, tenant } = namedSpace(request);
      return () => parseJsonBody(bytes, { database: database ?? 'default', tenant: tenant ?? 'default' });
    },
    send: sendJson,
  };
  for (const mount of mounts)
    await app.register(async (scope) => {
      leaveBodiesUnread(scope);
      guardSurface(scope, identify, bodies, forwarding);
      await mount(scope, bodies);
    });
  await app.ready();
  return {
    app,
    activity,
    traffic,
    passedOn: forwarding?.totals ?? { read: 0, write: 0 },
    whenUnused: (database) => forwarding?.here.whenUnused(database) ?? Promise.resolve(),
    holdWrites: (limitMs, database, step, ifBusy) =>
      forwarding?.gate.hold(limitMs, database, step, ifBusy) ?? step(),
    secureServer: (secrets) =>
      createSecureServer(secrets, app, host.log, (server) => {
        limitConnections(server, host.log);
        traffic.watch(server, 'secureConnection');
        unread.watch(server, 'secureConnection');
      }),
  };
}

/** Adds the refusals that the routes of a mounted surface share, and lets the owner of a shared log answer them. */
function guardSurface(
  scope: FastifyInstance,
  identify: Identify,
  bodies: JsonBodies,
  forwarding: Forwarding | null,
): void {
  scope.addHook('onRequest', (request, reply, done) => {
    // Mounted surfaces write to the raw response.
    setStandingHeaders(request, reply);
    const { isPublic = false, readsBody = false } = mountedRoute(request);
    if (!isPublic) {
      const identity = identify(request);
      requirePermission(identity, { role: 'reader' });
      if (readsBody) requireCovered(identity, withDefaults(namedSpace(request)));
      requireJson(request.raw);
    }
    done();
  });
  if (forwarding !== null)
    scope.addHook('onRequest', async (request, reply) => {
      const { isPublic = false, ...route } = mountedRoute(request);
      const isAnswered = !isPublic && (await forwarding.passesOnSurface(request, reply, route));
      if (!isAnswered) askForBody(request, reply.raw);
      return isAnswered ? reply : undefined;
    });
  scope.addHook('preHandler', async (request) => {
    if (mountedRoute(request).readsBody !== true && hasBody(request.raw))
      request.body = await (await bodies.read(request))();
  });
}

function mountedRoute(request: FastifyRequest): MountedRoute {
  return request.routeOptions.config as MountedRoute;
}

/** Mounted surfaces do not need the tenant header. */
function withDefaults({ database, tenant }: NamedSpace): NamedSpace {
  return { database, tenant: tenant ?? 'default' };
}

/**
 * Replaces the framework's schema compilers, which take a fifteenth of the start to load: no route uses schemas of the
 * framework.
 */
function noSchemas(): never {
  throw new Error('What is asked and answered is checked by the contract (src/main/base/dispatch.ts).');
}

/** The bare application: its servers and its error handling. */
function createApp(
  host: HttpHost,
  admission: Admission,
  traffic: ConnectionTraffic,
  unread: UnreadAnswers,
): FastifyInstance {
  const app: FastifyInstance = fastify({
    // With a logger of its own the framework would listen to the end of every answer, for lines that are switched off.
    childLoggerFactory: (_none, bindings, options) => new RequestLog(host.log, bindings, options),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    // Also creates the second server, which listens if the host has two addresses.
    serverFactory: (answer) => {
      const server = createServer(serverOptions, answer);
      limitConnections(server, host.log);
      traffic.watch(server);
      unread.watch(server, 'connection');
      return server;
    },
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    bodyLimit: host.settings.maxRequestBodyBytes,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 16_384, querystringParser: () => ({}) },
    clientErrorHandler: answerClientError,
    frameworkErrors: (_error, request, reply) => {
      noteRequest(host, request, reply);
      try {
        admission.admit(request);
        // No hook runs for these.
        setStandingHeaders(request, reply);
        sendProblem(malformedAddress(), request, reply);
      } catch (error) {
        setStandingHeaders(request, reply);
        sendProblem(error, request, reply);
      }
    },
  });
  app.log = host.log;
  app.setErrorHandler(sendFailure);
  return app;
}

function malformedAddress(): EngineError {
  return new EngineError('ValidationException', 'the address is not percent-encoded UTF-8');
}

/**
 * Adds the descriptions of the service itself, for callers with a credential: `/openapi.json`, `/metrics` and the
 * history of the metrics.
 */
function addDescription(app: FastifyInstance, host: HttpHost, identify: Identify): void {
  let document: Promise<string> | null = null;
  app.get('/openapi.json', async (request, reply) => {
    admit(identify, request);
    document ??= writtenDocument(host.version);
    return reply.type('application/json; charset=utf-8').send(await document);
  });
  app.get('/metrics', async (request, reply) => {
    admit(identify, request);
    return reply.type(host.metrics.contentType).send(await host.metrics.text());
  });
  app.get('/metrics/history', async (request, reply) => {
    admit(identify, request);
    return reply.type(host.metrics.contentType).send(host.metricsHistory());
  });
}

/** The text of `/openapi.json`, generated in steps that yield to other work. */
async function writtenDocument(version: string): Promise<string> {
  const steps = openApiSteps(version);
  const pause = serving.pauseOf(null, 'write /openapi.json');
  for (;;) {
    const step = steps.next();
    if (step.done === true) return JSON.stringify(step.value);
    await pause();
  }
}

function admit(identify: Identify, request: FastifyRequest): void {
  requirePermission(identify(request), { role: 'reader' });
  const [unknown] = Object.keys(parseQuery(request.raw.url ?? ''));
  if (unknown !== undefined)
    throw new EngineError('ValidationException', `${unknown}: unknown query parameter`, {
      errors: [{ path: unknown, message: 'unknown query parameter' }],
    });
  if (hasBody(request.raw)) throw new EngineError('ValidationException', 'a GET request takes no body');
}

type Bindings = Parameters<FastifyBaseLogger['child']>[0];
type Options = Parameters<FastifyBaseLogger['child']>[1];
type Method = Exclude<keyof FastifyBaseLogger, 'level' | 'child'>;

/**
 * The log of one request: every line of it has the request's id. Most requests write one line, which names the id
 * itself (`logRequest`). A logger bound to the id is created only for further lines, since creating one costs more than
 * the line.
 */
class RequestLog implements FastifyBaseLogger {
  readonly #parent: FastifyBaseLogger;
  readonly #bindings: Bindings;
  readonly #options: Options;
  #bound: FastifyBaseLogger | null = null;

  constructor(parent: FastifyBaseLogger, bindings: Bindings, options: Options) {
    this.#parent = parent;
    this.#bindings = bindings;
    this.#options = options;
  }

  get level(): string {
    return this.#made.level;
  }

  set level(level: string) {
    this.#made.level = level;
  }

  // Methods, not accessors: the framework reads each of them with every request, and that must not create the logger.
  trace(...line: unknown[]): void {
    this.#write('trace', line);
  }

  debug(...line: unknown[]): void {
    this.#write('debug', line);
  }

  info(...line: unknown[]): void {
    this.#write('info', line);
  }

  warn(...line: unknown[]): void {
    this.#write('warn', line);
  }

  error(...line: unknown[]): void {
    this.#write('error', line);
  }

  fatal(...line: unknown[]): void {
    this.#write('fatal', line);
  }

  silent(...line: unknown[]): void {
    this.#write('silent', line);
  }

  child(bindings: Bindings, options?: Options): FastifyBaseLogger {
    return this.#made.child(bindings, options);
  }

  get #made(): FastifyBaseLogger {
    this.#bound ??= this.#parent.child(this.#bindings, this.#options);
    return this.#bound;
  }

  #write(method: Method, line: readonly unknown[]): void {
    Reflect.apply(this.#made[method], this.#made, line);
  }
}

/** Routes that are requested all the time and are not worth a log line. */
const quiet: ReadonlySet<string> = new Set(['/health', '/health/ready', '/metrics', messagePath, 'static']);

/**
 * Logs and counts every answered request: method, route, status and time. The route is the pattern, never the address
 * itself, which could contain an argument's value.
 */
function logRequests(app: FastifyInstance, host: HttpHost): void {
  app.addHook('onRequest', (request, reply, done) => {
    noteRequest(host, request, reply);
    done();
  });
}

/** Counts the request from now on, and logs it when it has been answered. Also for requests that pass no hook. */
function noteRequest(host: HttpHost, request: FastifyRequest, reply: FastifyReply): void {
  host.metrics.requestsInFlight(1);
  // `close` comes after the last byte of an answer, and also if the client does not wait for it.
  reply.raw.on('close', () => {
    host.metrics.requestsInFlight(-1);
    logRequest(host, request, reply);
    // Answered before it was read to the end: the rest must not keep the connection busy for ever.
    if (!request.raw.complete && !request.raw.socket.destroyed) discardRest(request.raw);
  });
}

function logRequest(host: HttpHost, request: FastifyRequest, reply: FastifyReply): void {
  const route = routeOf(request);
  const elapsedMs = performance.now() - request.startedAt;
  const { method } = request;
  const { statusCode: status, writableFinished } = reply.raw;
  host.metrics.requestDone(method, route, status, elapsedMs);
  const line = { requestId: request.id, method, route, status, elapsedMs: Math.round(elapsedMs * 10) / 10 };
  const message = writableFinished ? 'answered' : 'the client went away';
  if (quiet.has(route)) host.log.debug(line, message);
  else host.log.info(line, message);
}

function routeOf(request: FastifyRequest): string {
  // A request with a malformed address has passed no hook, and lacks what they add.
  const known: string | null | undefined = request.route;
  if (typeof known === 'string') return known;
  if (request.is404) return 'none';
  const { url, config } = request.routeOptions;
  if ((config as { isStatic?: boolean }).isStatic === true) return 'static';
  return url ?? 'none';
}
