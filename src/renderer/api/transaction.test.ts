import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { endScriptedServices, scriptedService } from './testing/scripted-service.ts';
import { runTransaction, type TransactionWrite } from './transaction.ts';

endScriptedServices();

interface Answer {
  readonly status?: number;
  readonly body: object;
}

/** A service that records requests as `METHOD path (transaction) body` and responds with `answer`. */
async function serve(answer: (path: string, request: IncomingMessage) => Answer | null) {
  const asked: string[] = [];
  const endpoint = await scriptedService((request, response, body) => {
    const path = request.url ?? '';
    const transaction = request.headers['x-transaction-id'];
    asked.push([path, ...(transaction === undefined ? [] : [`in ${String(transaction)}`]), body].join(' '));
    const { status = 200, body: told } = answer(path, request) ?? defaultAnswer(path);
    response.statusCode = status;
    response.end(JSON.stringify(told));
  });
  return { endpoint, asked };
}

function defaultAnswer(path: string): Answer {
  if (path === '/tx/begin') return { body: { id: 'x1', status: 'open', expiresAt: 0 } };
  if (path.startsWith('/tx/commit/'))
    return { body: { id: 'x1', status: 'committed', operations: 2, generation: 7 } };
  if (path.startsWith('/tx/rollback/'))
    return { body: { id: 'x1', status: 'rolled_back', operations: 0, generation: 7 } };
  return { body: { status: 'pending' } };
}

const problem = (code: string, more: object = {}) => ({ code, detail: 'no', requestId: 'r', ...more });

const writes: TransactionWrite[] = [
  { operation: 'retract', input: { body: { predicate: 'p', args: ['a'] } } },
  { operation: 'assertFact', input: { body: { predicate: 'p', args: ['b'] } } },
];
const begun = '/tx/begin ';
const written = [
  '/retract in x1 {"predicate":"p","args":["a"]}',
  '/assert/fact in x1 {"predicate":"p","args":["b"]}',
];

test('sends the writes in order between begin and commit', async () => {
  const { endpoint, asked } = await serve(() => null);
  expect(await runTransaction(endpoint, writes)).toMatchObject({ status: 'committed', generation: 7 });
  expect(asked).toEqual([begun, ...written, '/tx/commit/x1 {"dryRun":false}']);
});

test('sends the precondition of a guarded write, and none for the others', async () => {
  const guards: unknown[] = [];
  const { endpoint } = await serve((_, request) => {
    guards.push(request.headers['if-match']);
    return null;
  });
  const rename = { params: { id: 'r' }, body: { name: 'n' } };
  await runTransaction(endpoint, [
    ...writes.slice(0, 1),
    { operation: 'updateRule', input: rename, ifMatch: '"tag"' },
  ]);
  expect(guards).toEqual([undefined, undefined, '"tag"', undefined]);
});

test('reports how many writes were made', async () => {
  const { endpoint } = await serve(() => null);
  const made: number[] = [];
  await runTransaction(endpoint, writes, { onProgress: (count) => made.push(count) });
  expect(made).toEqual([1, 2]);
});

test('previews the commit in a dry run and leaves nothing open', async () => {
  const { endpoint, asked } = await serve(() => null);
  await runTransaction(endpoint, writes, { dryRun: true });
  expect(asked).toEqual([begun, ...written, '/tx/commit/x1 {"dryRun":true}', '/tx/rollback/x1 ']);
});

test('ends at a refused write, and throws its problem', async () => {
  const refusal = { status: 409, body: problem('Conflict', { transaction: 'rolled_back' }) };
  const { endpoint, asked } = await serve((path) => (path === '/retract' ? refusal : null));
  await expect(runTransaction(endpoint, writes)).rejects.toMatchObject({ code: 'Conflict', requestId: 'r' });
  expect(asked).toEqual([begun, written[0]]);
});

test('rolls back what a failed write leaves open', async () => {
  const refusal = { status: 429, body: problem('RateLimited') };
  const { endpoint, asked } = await serve((path) => (path === '/assert/fact' ? refusal : null));
  await expect(runTransaction(endpoint, writes)).rejects.toMatchObject({ code: 'RateLimited' });
  expect(asked).toEqual([begun, ...written, '/tx/rollback/x1 ']);
});

test('throws a refused commit, and rolls back one that stays open', async () => {
  for (const [status, code, rollsBack] of [
    [409, 'Conflict', false],
    [507, 'StorageUnavailable', true],
  ] as const) {
    const { endpoint, asked } = await serve((path) =>
      path.startsWith('/tx/commit/') ? { status, body: problem(code) } : null,
    );
    await expect(runTransaction(endpoint, writes)).rejects.toMatchObject({ code });
    expect(asked.at(-1) === '/tx/rollback/x1 ').toBe(rollsBack);
  }
});

test('hides no error when the roll back fails', async () => {
  const { endpoint } = await serve((path) => {
    if (path.startsWith('/tx/rollback/')) return { status: 404, body: problem('TransactionNotFound') };
    return path === '/retract' ? { status: 403, body: problem('Forbidden') } : null;
  });
  await expect(runTransaction(endpoint, writes)).rejects.toMatchObject({ code: 'Forbidden' });
});

test('rolls back when it is cancelled', async () => {
  const controller = new AbortController();
  const { endpoint, asked } = await serve((path) => {
    if (path === '/retract') controller.abort();
    return null;
  });
  await expect(runTransaction(endpoint, writes, { signal: controller.signal })).rejects.toMatchObject({
    name: 'AbortError',
  });
  expect(asked.at(-1)).toBe('/tx/rollback/x1 ');
});
