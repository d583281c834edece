/**
 * The HTTP application: hooks, routes of the operations table, files, documentation.
 *
 * This module only adds these parts, in the right order; each is a module of its own. The application neither listens
 * nor knows when the engine is open; the composition root does both.
 */
import fastify, { type FastifyInstance, type FastifyRequest, LogController } from 'fastify';
import { createServer } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { EngineError } from '../../engine/index.ts';
import type { JsonBodies } from '../base/a2a-host.ts';
import { requirePermission } from '../base/dispatch.ts';
import { Activity } from './activity.ts';
import { type Admission, createAdmission, setStandingHeaders } from './admission.ts';
import { ClientGone, hasBody, parseJsonBody, readBody, requireJson } from './body.ts';
import { type NamedSpace, namedSpace, requireCovered } from './caller.ts';
import { answerClientError } from './client-error.ts';
import { limitConnections, serverOptions, ConnectionTraffic } from './connections.ts';
import { addDocs } from './docs.ts';
import { addFiles } from './files.ts';
import { createGuard, type RequestGuard } from './guard.ts';
import type { HttpHost } from './host.ts';
import { sendJson } from './json-answer.ts';
import { openApiSteps } from './openapi.ts';
import { sendProblem } from './problem.ts';
import { parseQuery } from './query-string.ts';
import { requestIdOf } from './request-id.ts';
import { logRequests, noteRequest, RequestLog } from './request-log.ts';
import { addOperationRoutes, leaveBodiesUnread } from './routes.ts';
import { type CertificateSecrets, createSecureServer, type SecureServer } from './secure-server.ts';

export interface HttpApp {
  readonly app: FastifyInstance;
  readonly activity: Activity;
  /** Creates another server for the same application: HTTPS, with the limits of the plain one. */
  secureServer(secrets: CertificateSecrets): SecureServer;
  readonly traffic: ConnectionTraffic;
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
}

/** Creates the application with the routes of the table and of all mounts. */
export async function createHttpApp(host: HttpHost, mounts: readonly Mount[] = []): Promise<HttpApp> {
  const admission = createAdmission(host);
  const activity = new Activity();
  const traffic = new ConnectionTraffic();
  const guard = createGuard(host);
  const app = createApp(host, admission, traffic);
  logRequests(app, host);
  admission.install(app);
  await app.register(async (scope) => {
    leaveBodiesUnread(scope);
    addOperationRoutes(scope, host, guard, activity);
    addDescription(scope, host, guard);
    await addFiles(scope, {
      workbench: host.workbenchFolder,
      samples: host.samplesFolder,
      bundle: host.bundleFile,
    });
    addDocs(scope);
  });
  const bodies: JsonBodies = {
    read: async (request) => {
      const bytes = await readBody(request.raw, host.settings.maxRequestBodyBytes);
      return () => parseJsonBody(bytes);
    },
    send: sendJson,
  };
  for (const mount of mounts)
    await app.register(async (scope) => {
      leaveBodiesUnread(scope);
      scope.addHook('onRequest', (request, reply, done) => {
        // Mounted surfaces write to the raw response.
        setStandingHeaders(request, reply);
        const { isPublic = false, readsBody = false } = mountedRoute(request);
        if (!isPublic) {
          const identity = guard.identify(request);
          requirePermission(identity, { role: 'reader' });
          if (readsBody) requireCovered(identity, withDefaults(namedSpace(request)));
          requireJson(request.raw);
        }
        done();
      });
      scope.addHook('preHandler', async (request) => {
        if (mountedRoute(request).readsBody !== true && hasBody(request.raw))
          request.body = await (await bodies.read(request))();
      });
      await mount(scope, bodies);
    });
  await app.ready();
  return {
    app,
    activity,
    traffic,
    secureServer: (secrets) =>
      createSecureServer(secrets, app, host.log, (server) => {
        limitConnections(server, host.log);
        traffic.watch(server, 'secureConnection');
      }),
  };
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
function createApp(host: HttpHost, admission: Admission, traffic: ConnectionTraffic): FastifyInstance {
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
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof ClientGone)) return sendProblem(error, request, reply);
    reply.hijack();
    reply.raw.destroy();
    return reply;
  });
  return app;
}

function malformedAddress(): EngineError {
  return new EngineError('ValidationException', 'the address is not percent-encoded UTF-8');
}

/**
 * Adds the descriptions of the service itself, for callers with a credential: `/openapi.json`, `/metrics` and the
 * history of the metrics.
 */
function addDescription(app: FastifyInstance, host: HttpHost, guard: RequestGuard): void {
  let document: Promise<string> | null = null;
  app.get('/openapi.json', async (request, reply) => {
    admit(guard, request);
    document ??= writtenDocument(host.version);
    return reply.type('application/json; charset=utf-8').send(await document);
  });
  app.get('/metrics', async (request, reply) => {
    admit(guard, request);
    return reply.type(host.metrics.contentType).send(await host.metrics.text());
  });
  app.get('/metrics/history', async (request, reply) => {
    admit(guard, request);
    return reply.type(host.metrics.contentType).send(host.metricsHistory());
  });
}

/** The text of `/openapi.json`, generated in steps that yield to other work. */
async function writtenDocument(version: string): Promise<string> {
  const steps = openApiSteps(version);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return JSON.stringify(step.value);
    await setImmediate();
  }
}

function admit(guard: RequestGuard, request: FastifyRequest): void {
  requirePermission(guard.identify(request), { role: 'reader' });
  const [unknown] = Object.keys(parseQuery(request.raw.url ?? ''));
  if (unknown !== undefined)
    throw new EngineError('ValidationException', `${unknown}: unknown query parameter`, {
      errors: [{ path: unknown, message: 'unknown query parameter' }],
    });
  if (hasBody(request.raw)) throw new EngineError('ValidationException', 'a GET request takes no body');
}
