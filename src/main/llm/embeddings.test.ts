import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Readiness } from '../../engine/contract/administration.ts';
import type { Searched } from '../../engine/contract/search.ts';
import { type Environment, parseConfig } from '../base/config.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';

/** EMBEDDINGS_*: contract section 13. */

const key = 'sk-embeddings-secret';

interface Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: { readonly model: string; readonly input: string[] };
}

/** What the provider answers: a status, or a body. */
type Answer = (asked: Asked) => number | object | string;

/** A provider whose vectors tell texts with pets from others. */
async function startProvider(answer: Answer = vectors, path = '/v1/embeddings') {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const call = { path: request.url ?? '', headers: request.headers, body: JSON.parse(body) } as Asked;
      const answered = call.path === path ? answer(call) : 404;
      if (call.path === path) asked.push(call);
      if (typeof answered === 'number') response.writeHead(answered).end(`{"error": {"message": "${key}"}}`);
      else
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(typeof answered === 'string' ? answered : JSON.stringify(answered));
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  return { asked, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function vectors({ body: { input } }: Pick<Asked, 'body'>): object {
  const data = input.map((each, index) => ({
    object: 'embedding',
    index,
    embedding: [/dog|cat|pet/.test(each) ? 1 : 0, 0.1],
  }));
  return { object: 'list', data, model: 'm', usage: { prompt_tokens: 1, total_tokens: 1 } };
}

async function start(address: string, more: Environment = {}): Promise<ServiceUnderTest> {
  const service = await startServiceUnderTest({
    EMBEDDINGS_BASE_URL: address,
    EMBEDDINGS_MODEL: 'm',
    EMBEDDINGS_API_KEY: key,
    ...more,
  });
  onTestFinished(() => service.close());
  return service;
}

async function stateOf(service: ServiceUnderTest): Promise<unknown> {
  const { status, body } = await service.call<Readiness>('GET', '/health/ready');
  expect([status, body.status]).toEqual([200, 'ready']);
  return body.subsystems.embeddings;
}

async function until(service: ServiceUnderTest, state: string): Promise<void> {
  await vi.waitFor(async () => expect(await stateOf(service)).toBe(state), { timeout: 60_000 });
}

async function tell(service: ServiceUnderTest, predicate: string, ...args: string[]): Promise<void> {
  expect((await service.call('POST', '/tell', { predicate, args })).status).toBe(200);
}

async function found(service: ServiceUnderTest, query: string): Promise<unknown[]> {
  const { status, body } = await service.call<Searched>('POST', '/search', { text: query });
  expect(status).toBe(200);
  return body.hits.map(({ atom, why }) => [atom, why[0]?.signal]);
}

describe('a provider of embeddings', () => {
  it.each(['/v1/embeddings', '/embeddings'])('is asked at %s of an address without a path', async (path) => {
    const provider = await startProvider(vectors, path);
    const service = await start(provider.address);
    await tell(service, 'keeps', 'ann', 'dog');
    await tell(service, 'likes', 'bob', 'tea');
    await until(service, 'ready');
    expect(await found(service, 'Who has a pet?')).toEqual([['keeps(ann, dog)', 'meaning']]);
    expect(provider.asked.map(({ body: { model } }) => model)).toContain('m');
    expect(new Set(provider.asked.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${key}`]),
    );
  });

  it('is asked under the path of its address, without a key where none is set', async () => {
    const provider = await startProvider(vectors, '/api/openai/embeddings');
    const service = await start(`${provider.address}/api/openai/`, { EMBEDDINGS_API_KEY: '' });
    await tell(service, 'keeps', 'ann', 'dog');
    await until(service, 'ready');
    expect(provider.asked.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  it('counts from the least cosine on that is set', async () => {
    const provider = await startProvider();
    const service = await start(provider.address, { EMBEDDINGS_MIN_SCORE: '0' });
    await tell(service, 'keeps', 'ann', 'dog');
    await tell(service, 'likes', 'bob', 'tea');
    await until(service, 'ready');
    expect(await found(service, 'a pet')).toEqual([
      ['keeps(ann, dog)', 'meaning'],
      ['likes(bob, tea)', 'meaning'],
    ]);
  });

  it('is absent from readiness where none is set', async () => {
    const service = await startServiceUnderTest();
    onTestFinished(() => service.close());
    expect(await stateOf(service)).toBeUndefined();
  });

  it.each<[string, Answer]>([
    ['refuses the key', () => 401],
    ['does not know the model', () => 404],
    ['fails', () => 500],
    ['answers HTML', () => '<html>'],
    ['answers too few vectors', () => ({ data: [] })],
    [
      'answers vectors of different lengths',
      ({ body }) => ({ data: body.input.map((_, at) => ({ embedding: Array(at + 1).fill(1) })) }),
    ],
    ['answers vectors of zeros', ({ body }) => ({ data: body.input.map(() => ({ embedding: [0, 0] })) })],
    ['answers no numbers', ({ body }) => ({ data: body.input.map(() => ({ embedding: ['1', null] })) })],
  ])('that %s costs only this signal, and its key is told nowhere', async (_, answer) => {
    const provider = await startProvider(answer);
    const service = await start(provider.address);
    await tell(service, 'keeps', 'ann', 'dog');
    await tell(service, 'keeps', 'bob', 'cat');
    await until(service, 'failed');
    expect(await found(service, 'the dog')).toContainEqual(['keeps(ann, dog)', 'mention']);
    expect(await found(service, 'a pet')).toEqual([]);
    const warned = service.logged.filter(({ msg }) => String(msg).startsWith('Embeddings cannot be had'));
    expect(warned).toHaveLength(1);
    expect(JSON.stringify(service.logged)).not.toContain(key);
  });

  it('that cannot be reached is called again later', async () => {
    let isAwake = false;
    const provider = await startProvider((asked) => (isAwake ? vectors(asked) : 503));
    const service = await start(provider.address);
    await tell(service, 'keeps', 'ann', 'dog');
    await until(service, 'failed');
    isAwake = true;
    await until(service, 'ready');
    expect(await found(service, 'a pet')).toEqual([['keeps(ann, dog)', 'meaning']]);
  });

  it('is not asked again for what is in the folder, whose file is sealed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'corollary-embeddings-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const provider = await startProvider();
    const settings = { STORAGE_DIR: folder, ENCRYPTION_KEY: '11'.repeat(32) };
    const first = await start(provider.address, settings);
    await tell(first, 'keeps', 'ann', 'dog');
    await until(first, 'ready');
    await first.close();
    expect((await readFile(join(folder, 'vectors'))).includes('dimensions')).toBe(false);
    const asked = provider.asked.length;
    const second = await start(provider.address, settings);
    await until(second, 'ready');
    expect(provider.asked).toHaveLength(asked);
    expect(await found(second, 'a pet')).toEqual([['keeps(ann, dog)', 'meaning']]);
  });

  it.each([
    [{ EMBEDDINGS_BASE_URL: 'http://127.0.0.1:1' }, 'EMBEDDINGS_MODEL: got nothing'],
    [{ EMBEDDINGS_MODEL: 'm' }, 'EMBEDDINGS_BASE_URL: got nothing'],
    [{ EMBEDDINGS_MIN_SCORE: '2' }, 'EMBEDDINGS_MIN_SCORE: got "2"'],
  ])('is configured as a whole: %j', (environment, complaint) => {
    expect(() => parseConfig(environment)).toThrow(complaint);
  });
});
