/**
 * The HTTP application: hooks, routes of the operations table, files, documentation.
 *
 * What is added here in what order is the whole of it; each part is in a module of its own. The application
 * neither listens nor knows when the engine is open: that is the composition root's business.
 */
import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance, LogController } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { EngineError } from '../../engine/index.ts';
import { requirePermission } from '../dispatch.ts';
import { Activity } from './activity.ts';
import { createAdmission } from './admission.ts';
import { ClientGone, hasBody, parseJsonBody, readBody, requireJson } from './body.ts';
import { answerClientError } from './client-error.ts';
import { addDescription } from './description.ts';
import { addDocs } from './docs.ts';
import { addFiles } from './files.ts';
import { createGuard } from './guard.ts';
import type { HttpHost } from './host.ts';
import { logRequests, noteRequest } from './log-requests.ts';
import { sendProblem } from './problem.ts';
import { addOperationRoutes, leaveBodiesUnread } from './routes.ts';
import { ConnectionTraffic } from './traffic.ts';

export interface HttpApp {
  readonly app: FastifyInstance;
  readonly activity: Activity;
  readonly traffic: ConnectionTraffic;
}

/** Adds the routes of another surface, behind the same refusals; bodies are parsed JSON there. */
export type Mount = (app: FastifyInstance) => void | Promise<void>;

export async function createHttpApp(host: HttpHost, mounts: readonly Mount[] = []): Promise<HttpApp> {
  const admission = createAdmission(host);
  const activity = new Activity();
  const traffic = new ConnectionTraffic();
  const guard = createGuard(host);
  const app: FastifyInstance = fastify({
    loggerInstance: host.log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    genReqId: requestIdOf,
    http: { requireHostHeader: false },
    // A body that is streamed may take any time; others are limited where they are read.
    requestTimeout: 0,
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
  traffic.watch(app.server);
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof ClientGone)) return sendProblem(error, request, reply);
    reply.hijack();
    reply.raw.destroy();
    return reply;
  });
  logRequests(app, host);
  admission.install(app);
  await app.register(async (scope) => {
    leaveBodiesUnread(scope);
    addOperationRoutes(scope, host, guard, activity);
    addDescription(scope, host, guard);
    await addFiles(scope, { workbench: host.workbenchFolder, samples: host.samplesFolder });
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
  return { app, activity, traffic };
}

/** The client's own id where it is 1 to 128 printable ASCII characters, else a new one. */
function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\x20-\x7e]{1,128}$/.test(given) ? given : randomUUID();
}

function malformedAddress(): EngineError {
  return new EngineError('ValidationException', 'the address is not percent-encoded UTF-8');
}
