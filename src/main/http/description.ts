import type { FastifyInstance, FastifyRequest } from 'fastify';
import { setImmediate } from 'node:timers/promises';
import { EngineError } from '../../engine/index.ts';
import { requirePermission } from '../base/dispatch.ts';
import { hasBody } from './body.ts';
import type { Guard } from './guard.ts';
import type { HttpHost } from './host.ts';
import { openApiSteps } from './openapi.ts';
import { parseQuery } from './query-string.ts';

/** What describes the service itself, for whoever has a credential: `/openapi.json`, `/metrics` and what those were. */
export function addDescription(app: FastifyInstance, host: HttpHost, guard: Guard): void {
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

/** The text of `/openapi.json`, made without holding up others. */
async function writtenDocument(version: string): Promise<string> {
  const steps = openApiSteps(version);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return JSON.stringify(step.value);
    await setImmediate();
  }
}

function admit(guard: Guard, request: FastifyRequest): void {
  requirePermission(guard.identify(request), { role: 'reader' });
  const [unknown] = Object.keys(parseQuery(request.raw.url ?? ''));
  if (unknown !== undefined)
    throw new EngineError('ValidationException', `${unknown}: unknown query parameter`, {
      errors: [{ path: unknown, message: 'unknown query parameter' }],
    });
  if (hasBody(request.raw)) throw new EngineError('ValidationException', 'a GET request takes no body');
}
