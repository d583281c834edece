import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { Endpoint } from './client.ts';
import { ApiError } from './problem.ts';
import { runTransaction, type TransactionWrite } from './transaction.ts';

interface Seen {
  readonly path: string;
  readonly transaction: string | undefined;
  readonly body: unknown;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A service that notes what it is asked; `refuse` gives the problem that a request is answered with. */
async function serve(refuse: (seen: Seen) => object | null): Promise<{ endpoint: Endpoint; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
    request.on('end', () => {
      const asked: Seen = {
        path: request.url ?? '',
        transaction: request.headers['x-transaction-id']?.toString(),
        body: text === '' ? null : (JSON.parse(text) as unknown),
      };
      seen.push(asked);
      const problem = refuse(asked);
      response.statusCode = problem === null ? 200 : 409;
      const answer = { id: 't1', status: 'open', expiresAt: 0, operations: 2, generation: 7 };
      response.end(JSON.stringify(problem ?? answer));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const endpoint = { origin: `http://127.0.0.1:${port}`, database: 'db', tenant: 'acme', key: null };
  return { endpoint, seen };
}

const writes: TransactionWrite[] = [
  { operation: 'retract', input: { predicate: 'p', args: ['a'], ifGeneration: 3 } },
  { operation: 'assertFact', input: { predicate: 'p', args: ['b'], ifGeneration: 3 } },
];

test('writes are made in their order within one transaction, then committed', async () => {
  const { endpoint, seen } = await serve(() => null);
  const made: number[] = [];
  const committed = await runTransaction(endpoint, writes, { onProgress: (count) => made.push(count) });
  expect(committed.generation).toBe(7);
  expect(made).toEqual([1, 2]);
  expect(seen.map(({ path, transaction }) => [path, transaction])).toEqual([
    ['/tx/begin', undefined],
    ['/retract', 't1'],
    ['/assert/fact', 't1'],
    ['/tx/commit/t1', undefined],
  ]);
  expect(seen[1]?.body).toEqual({ predicate: 'p', args: ['a'], ifGeneration: 3 });
});

test('a refused write rolls all back and is told as it was refused', async () => {
  const problem = { code: 'Conflict', detail: 'p(b) was changed since', requestId: 'r' };
  const { endpoint, seen } = await serve(({ path }) => (path === '/assert/fact' ? problem : null));
  const failure = await runTransaction(endpoint, writes).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect(failure).toMatchObject({ code: 'Conflict', detail: 'p(b) was changed since' });
  expect(seen.map(({ path }) => path)).toEqual(['/tx/begin', '/retract', '/assert/fact', '/tx/rollback/t1']);
});

test('a transaction that has ended by its refusal needs no rolling back', async () => {
  const problem = { code: 'Conflict', detail: 'no', requestId: 'r' };
  const { endpoint } = await serve(({ path }) => (path === '/tx/begin' ? null : problem));
  await expect(runTransaction(endpoint, writes)).rejects.toMatchObject({ detail: 'no' });
});

test('giving up rolls back', async () => {
  const { endpoint, seen } = await serve(() => null);
  const controller = new AbortController();
  const run = runTransaction(endpoint, writes, {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  });
  await expect(run).rejects.toMatchObject({ name: 'AbortError' });
  expect(seen.map(({ path }) => path)).toEqual(['/tx/begin', '/retract', '/tx/rollback/t1']);
});

test('a dry run asks the commit for its outcome and leaves nothing open', async () => {
  const { endpoint, seen } = await serve(() => null);
  await runTransaction(endpoint, writes, { dryRun: true });
  expect(seen.at(-2)).toMatchObject({ path: '/tx/commit/t1', body: { dryRun: true } });
  expect(seen.at(-1)?.path).toBe('/tx/rollback/t1');
});
