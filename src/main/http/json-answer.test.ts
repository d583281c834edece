import { request as connect } from 'node:http';
import fastify from 'fastify';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Answer } from '../../engine/contract/inference.ts';
import { sendFailure, sendJson } from './answers.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

let service: ServiceUnderTest;

beforeAll(async () => {
  service = await startServiceUnderTest();
  const facts = Array.from({ length: 5000 }, (_, index) => ({
    predicate: 'many',
    args: [index, 'caf\u00e9 "1"'],
  }));
  await service.call('POST', '/assert/facts', { facts });
});

afterAll(() => service.close());

it('returns large answers complete', async () => {
  const question = { predicate: 'many', args: ['?n', '?text'], withProof: true };
  const { body, headers } = await service.call<Answer>('POST', '/ask', question);
  expect(body.count).toBe(5000);
  expect([body.results.length, body.bindings.length, body.proof?.steps.length]).toEqual([5000, 5000, 5000]);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('x-request-id')).not.toBeNull();
});

it('returns large queries complete, with an array as the whole body', async () => {
  const { body } = await service.call('POST', '/query', { predicate: 'many', args: ['?n', '?text'] });
  expect(body).toHaveLength(5000);
});

it('logs no bug if the client goes away before a large answer begins', async () => {
  const app = fastify({ forceCloseConnections: true });
  onTestFinished(() => app.close());
  const failures: unknown[] = [];
  const bugs: unknown[] = [];
  app.setErrorHandler((error, request, reply) => {
    failures.push(error);
    request.log.error = (...said: unknown[]) => void bugs.push(said);
    return sendFailure(error, request, reply);
  });
  app.post('/', (_request, reply) => {
    reply.raw.destroy();
    return sendJson(
      reply,
      Array.from({ length: 20_000 }, (_, index) => `a text ${index}`),
    );
  });
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const broken = await new Promise((resolve) =>
    connect(address, { method: 'POST', headers: { 'content-type': 'application/json' } })
      .on('error', resolve)
      .end('{}'),
  );
  expect(broken).toMatchObject({ code: 'ECONNRESET' });
  await expect.poll(() => failures).toMatchObject([{ code: 'ERR_STREAM_PREMATURE_CLOSE' }]);
  expect(bugs).toEqual([]);
});
