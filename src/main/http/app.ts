/**
 * The HTTP application: hooks, routes of the operations table, files, documentation.
 *
 * What is added here in what order is the whole of it; each part is in a module of its own. The application
 * neither listens nor knows when the engine is open: that is the composition root's business.
 */
import fastify, { type FastifyInstance, LogController } from 'fastify';
import { createServer } from 'node:http';
import { EngineError } from '../../engine/index.ts';
import { requirePermission } from '../dispatch.ts';
import { Activity } from './activity.ts';
import { type Admission, createAdmission } from './admission.ts';
import { ClientGone, hasBody, parseJsonBody, readBody, requireJson } from './body.ts';
import { answerClientError } from './client-error.ts';
import { limitConnections, serverOptions } from './connections.ts';
import { addDescription } from './description.ts';
import { addDocs } from './docs.ts';
import { addFiles } from './files.ts';
import { createGuard } from './guard.ts';
import type { HttpHost } from './host.ts';
import { logRequests, noteRequest } from './log-requests.ts';
import { sendProblem } from './problem.ts';
import { requestIdOf } from './request-id.ts';
import { logForFramework } from './request-log.ts';
import { addOperationRoutes, leaveBodiesUnread } from './routes.ts';
import { type CertificateSecrets, createSecureServer, type SecureServer } from './secure-server.ts';
import { ConnectionTraffic } from './traffic.ts';

export interface HttpApp {
  readonly app: FastifyInstance;
  readonly activity: Activity;
  /** Another server in front of the same application: HTTPS, within the limits of the plain one. */
  secureServer(secrets: CertificateSecrets): SecureServer;
  readonly traffic: ConnectionTraffic;
}

/** Adds the routes of another surface, behind the same refusals; bodies are parsed JSON there. */
export type Mount = (app: FastifyInstance) => void | Promise<void>;

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
  for (const mount of mounts)
    await app.register(async (scope) => {
      leaveBodiesUnread(scope);
      scope.addHook('onRequest', (request, _reply, done) => {
        requirePermission(guard.identify(request), { role: 'reader' });
        requireJson(request.raw);
        done();
      });
      scope.addHook('preHandler', async (request) => {
        if (hasBody(request.raw))
          request.body = await parseJsonBody(await readBody(request.raw, host.settings.maxRequestBodyBytes));
      });
      await mount(scope);
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

/** The bare application: its servers and what becomes of errors. */
function createApp(host: HttpHost, admission: Admission, traffic: ConnectionTraffic): FastifyInstance {
  const app: FastifyInstance = fastify({
    loggerInstance: logForFramework(host.log),
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    // Also of the second one that listens where the host has two addresses.
    serverFactory: (answer) => {
      const server = createServer(serverOptions, answer);
      limitConnections(server, host.log);
      traffic.watch(server);
      return server;
    },
    bodyLimit: host.settings.maxRequestBodyBytes,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    exposeHeadRoutes: true,
    routerOptions: { maxParamLength: 16_384, querystringParser: () => ({}) },
    clientErrorHandler: answerClientError,
    frameworkErrors: (_error, request, reply) => {
      noteRequest(host, request, reply);
      try {
        admission.admit(request, reply);
        sendProblem(malformedAddress(), request, reply);
      } catch (error) {
        sendProblem(error, request, reply);
      }
    },
  });
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
