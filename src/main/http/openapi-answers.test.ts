import { once } from 'node:events';
import fs, { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type OperationName, operations } from '../../engine/contract/operations.ts';
import type { OperationSpec } from '../../engine/contract/operation-spec.ts';
import { type ProblemCode, problems } from '../../engine/contract/problems.ts';
import { EngineError, present } from '../../engine/index.ts';
import { type ScriptedProvider, startScriptedProvider } from '../llm/testing/scripted-provider.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { openApiDocument } from './openapi.ts';
import { problemOf } from './answers.ts';
import { takesKey } from './idempotency.ts';
import { recipes } from './testing/answer-recipes.ts';
import {
  type Answered,
  endedTransaction,
  failingLanguage,
  type Recipe,
  silenced,
  type Sent,
  type World,
} from './testing/recipe-world.ts';
import {
  type Came,
  DescribedApi,
  type DescribedOperation,
  type OpenApiDocument,
} from './testing/described-api.ts';

/**
 * Provokes every documented answer over HTTP, for each operation and problem code, and compares it with its
 * description: status, media type, headers and body. The tests run in order, since a full disk and a shutdown happen
 * once for all operations.
 */
const api = new DescribedApi(openApiDocument('1.0.0') as unknown as OpenApiDocument);
const apiKey = 'the-admin-of-the-test';
const bodyLimit = 4000;
const table = Object.entries<OperationSpec>(operations) as [OperationName, OperationSpec][];

type Subject = OperationName | 'metrics' | 'openapi' | 'docs';

/** Documented, but no operation of the table. */
const documents = (
  [
    ['metrics', '/metrics', 'reader'],
    ['openapi', '/openapi.json', 'reader'],
    ['docs', '/docs', 'public'],
  ] as const
).map(([name, path, role]): [Subject, OperationSpec] => [name, { ...operations.health, path, role }]);

const subjects: readonly [Subject, OperationSpec][] = [...table, ...documents];
const specs = new Map<Subject, OperationSpec>(subjects);

type OwnRecipes = Readonly<Record<string, Recipe | null | undefined>> & { readonly success: Recipe };

function recipesOf(name: Subject): OwnRecipes {
  const all: Partial<Record<Subject, object>> = recipes;
  return (all[name] ?? { success: () => ({}) }) as OwnRecipes;
}

/** Keys, a provider, and a folder on the disk. */
let main: ServiceUnderTest;
/** No keys, no provider, little memory. */
let small: ServiceUnderTest;
let provider: ScriptedProvider;
const folder = mkdtempSync(join(tmpdir(), 'corollary-answers-'));

/** What was provoked and found to be as described: `name code`. */
const seen = new Set<string>();

beforeAll(async () => {
  provider = await startScriptedProvider({ replies: ({ input, schema }) => reply(input, schema) });
  [main, small] = await Promise.all([
    startServiceUnderTest({
      AUTH_ENABLED: 'true',
      API_KEY: apiKey,
      SERVICE_ADMIN_PASS: 'the password',
      STORAGE_DIR: folder,
      MAX_REQUEST_BODY_BYTES: String(bodyLimit),
      LOCAL_LLM_BASE_URL: provider.address,
      LLM_MODEL: 'scripted',
      EXTRACTION_ENABLED: 'true',
    }),
    startServiceUnderTest({ MEMORY_BUDGET_BYTES: String(1024 * 1024) }),
  ]);
  const edges = ['ab', 'bc', 'cd'].map(([from, to]) => ({ predicate: 'edge', args: [from, to] }));
  await world.call('POST', '/assert/facts', { facts: edges });
  await world.call('POST', '/teach', { text: 'path(?x, ?y) :- edge(?x, ?y)' });
  await world.call('POST', '/teach', { text: 'path(?x, ?z) :- edge(?x, ?y), path(?y, ?z)' });
  for (const call of [world.call, world.callSmall]) {
    await call('POST', '/tell', { predicate: 'n', args: [1] });
    await call('POST', '/teach', { text: 'n(?y) :- n(?x), ?y = ?x + 1' });
  }
});

afterAll(async () => {
  await Promise.all([main.close(), small.close(), provider.close()]);
  rmSync(folder, { recursive: true });
});

/** The model's answer: facts, planned queries or words, as the schema requires. */
function reply(input: string, schema: Record<string, unknown>) {
  if (input.includes(failingLanguage)) return { status: 401, body: '{"error": {"message": "no"}}' };
  const { properties = {} } = schema as { properties?: object };
  if ('answer' in properties) return { json: { answer: 'To b, c and d.' } };
  if ('queries' in properties) {
    const query = input.includes('count')
      ? { predicate: 'n', args: ['?x'] }
      : { predicate: 'path', args: ['a', '?y'] };
    return { json: { queries: [query] } };
  }
  const quote = 'Carol is the mother of Emil';
  const found = { predicate: 'mother', args: ['Carol', 'Emil'], negated: false, confidence: 0.9, quote };
  return { json: { facts: [found], rules: [] } };
}

let names = 0;
const world: World = {
  fresh: () => `name${++names}`,
  call: (method, path, body, headers = {}) => succeed(main, method, path, body, headers),
  callSmall: (method, path, body) => succeed(small, method, path, body, {}),
  attempt: async (method, path, body) => void (await main.call(method, path, body)),
};

async function succeed(
  service: ServiceUnderTest,
  method: string,
  path: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answered> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const sent = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(`${service.address}${path}`, {
    method,
    headers: { 'x-tenant-id': 'default', 'x-api-key': apiKey, ...type, ...headers },
    ...(body === undefined ? {} : { body: sent }),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${answer}`);
  // The last of several lines carries the outcome.
  return JSON.parse(answer.trim().split('\n').at(-1) ?? '') as Answered;
}

/** As a request on the wire; `path` if it is not the operation's first. */
function asRequest(spec: OperationSpec, sent: Sent, path = spec.path): { url: string; init: RequestInit } {
  const { params = {}, query = '', body } = sent;
  const url = path.replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(params[name] ?? (name === 'arity' ? '1' : 'x')),
  );
  const headers = new Headers({ 'x-tenant-id': 'default', 'x-api-key': apiKey });
  if (body !== undefined) headers.set('content-type', 'application/json');
  for (const [name, value] of Object.entries(sent.headers ?? {}))
    if (value === '') headers.delete(name);
    else headers.set(name, value);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const init = { method: spec.method, headers, ...(body === undefined ? {} : { body: text }) };
  return { url: `${url}${query}`, init };
}

async function send(
  service: ServiceUnderTest,
  spec: OperationSpec,
  sent: Sent,
  path?: string,
): Promise<Came> {
  const { url, init } = asRequest(spec, sent, path);
  const ended = new AbortController();
  const response = await fetch(`${service.address}${url}`, { ...init, signal: ended.signal });
  const { status, headers, body } = response;
  if (spec.stream !== 'events' || status !== 200 || body === null)
    return { status, headers, text: await response.text() };
  let text = '';
  for await (const bytes of body) {
    text += new TextDecoder().decode(bytes);
    if (text.includes('data: ') && text.endsWith('\n\n')) break;
  }
  ended.abort();
  return { status, headers, text };
}

/** A request with existing names in its path, and a body if one is required. */
function plainOf({ takes }: OperationSpec): Sent {
  const params = { name: 'default', id: 'default' };
  return takes === undefined
    ? { params }
    : { params, body: 'p,a\n', headers: { 'content-type': 'text/csv' } };
}

function described(spec: OperationSpec): DescribedOperation {
  const item = api.document.paths[spec.path.replace(/:(\w+)/g, '{$1}')];
  const operation = item?.[spec.method.toLowerCase()];
  if (operation === undefined) throw new Error(`${spec.path} is not described`);
  return operation;
}

/** The problem codes documented for an operation. */
function codesOf(operation: DescribedOperation): ProblemCode[] {
  return Object.keys(operation.responses).flatMap((status) => {
    const content = api.responseOf(operation, Number(status))?.content?.['application/problem+json'];
    const { code } = (content?.schema?.['properties'] ?? {}) as { code?: { enum: ProblemCode[] } };
    return code?.enum ?? [];
  });
}

/** Records that the answer has the code and is as described; otherwise reports the difference. */
function hold(name: Subject, code: ProblemCode | 'success', came: Came): string[] {
  const complaints = api.complaintsOf(described(present(specs.get(name), 'it is there')), came);
  const got: unknown = came.status < 300 ? 'success' : (JSON.parse(came.text) as { code?: unknown }).code;
  if (got !== code) complaints.unshift(`${code} was to come, and ${String(got)} came: ${came.text}`);
  if (complaints.length === 0) seen.add(`${name} ${code}`);
  return complaints.map((complaint) => `${name} ${code}: ${complaint}`);
}

/** How to provoke a problem, given the kind of operation; null: in a test of its own, or not at all. */
function sharedRecipe(code: ProblemCode, name: Subject, spec: OperationSpec): Recipe | null {
  const plain = plainOf(spec);
  switch (code) {
    case 'ValidationException':
      return () => ({ ...plain, query: '?no-such-parameter=1' });
    case 'Unauthenticated':
      return () => ({ ...plain, headers: { ...plain.headers, 'x-api-key': '' } });
    case 'Forbidden':
      return () => ({ ...plain, headers: { ...plain.headers, origin: 'http://elsewhere.example' } });
    case 'DatabaseNotFound':
      return () => ({ ...plain, headers: { ...plain.headers, 'x-database': 'nowhere' } });
    case 'PayloadTooLarge':
      return () => ({ ...plain, body: 'x'.repeat(bodyLimit + 1) });
    case 'UnsupportedMediaType':
      return () => ({ ...plain, body: '<p>', headers: { 'content-type': 'text/html' } });
    case 'TransactionNotFound':
      return async () => within('nowhere', await recipesOf(name).success(world));
    case 'QuotaExceeded':
      if (spec.counts === undefined) return null;
      return async () => silenced(world, await recipesOf(name).success(world));
    case 'Conflict':
      if (spec.transaction === undefined) return null;
      return async () => within(await endedTransaction(world), await recipesOf(name).success(world));
    default:
      return null;
  }
}

function within(transaction: string, sent: Sent): Sent {
  return { ...sent, headers: { ...sent.headers, 'x-transaction-id': transaction } };
}

describe('a full disk', () => {
  it('makes every write and /health/ready return the documented answer', async () => {
    const prepared: [OperationName, OperationSpec, Sent][] = [];
    for (const [name, spec] of table)
      if (spec.problems.includes('StorageUnavailable'))
        prepared.push([name, spec, await recipesOf(name).success(world)]);
    const write = vi.spyOn(fs, 'write').mockImplementation((...given: unknown[]) => {
      const done = given.at(-1) as (error: Error) => void;
      setImmediate(() => done(Object.assign(new Error('no space left'), { code: 'ENOSPC' })));
    });
    const complaints: string[] = [];
    for (const [name, spec, sent] of prepared)
      if (spec.stream === 'lines') complaints.push(...holdLine(name, await send(main, spec, sent)));
      else complaints.push(...hold(name, 'StorageUnavailable', await send(main, spec, sent)));
    const ready = await send(main, operations.ready, {});
    write.mockRestore();
    expect(complaints).toEqual([]);
    expect(api.complaintsOf(described(operations.ready), ready)).toEqual([]);
    expect([ready.status, JSON.parse(ready.text)]).toMatchObject([
      503,
      { subsystems: { storage: 'failed' } },
    ]);
    expect(prepared.length).toBeGreaterThan(30);
    await expect.poll(async () => (await send(main, operations.ready, {})).status).toBe(200);
  });
});

/** A stream of lines may carry the problem in its last line. */
function holdLine(name: OperationName, came: Came): string[] {
  const complaints = api.complaintsOf(described(operations[name]), came);
  if (!came.text.includes('"code":"StorageUnavailable"')) complaints.push(`no problem came: ${came.text}`);
  if (complaints.length === 0) seen.add(`${name} StorageUnavailable`);
  return complaints;
}

describe('provokes every documented answer', () => {
  it.each(subjects)('of %s', async (name, spec) => {
    const own = recipesOf(name);
    const complaints: string[] = [];
    const succeeding = async (): Promise<void> => {
      if (name === 'moveLog') return;
      for (const path of [spec.path, ...(spec.aliases ?? [])])
        complaints.push(
          ...hold(name, 'success', await send(main, spec, await recipesOf(name).success(world), path)),
        );
    };
    const provoking = async (code: ProblemCode): Promise<void> => {
      const recipe = own[code] === undefined ? sharedRecipe(code, name, spec) : own[code];
      if (recipe === null) return;
      const sent = await recipe(world);
      complaints.push(...hold(name, code, await send(sent.isAtSmall ? small : main, spec, sent)));
    };
    const codes = codesOf(described(spec));
    // The bootstrap refuses these only before it is done.
    for (const code of codes.filter((each) => problems[each].status <= 401)) await provoking(code);
    await succeeding();
    for (const code of codes.filter((each) => problems[each].status > 401)) await provoking(code);
    expect(complaints).toEqual([]);
  });

  it('of a write in a transaction', async () => {
    const complaints: string[] = [];
    for (const [name, spec] of table) {
      if (spec.transaction !== 'write') continue;
      const { id } = await world.call('POST', '/tx/begin');
      const came = await send(main, spec, within(id, await recipesOf(name).success(world)));
      expect(JSON.parse(came.text), name).toMatchObject({ status: 'pending' });
      complaints.push(...hold(name, 'success', came));
      const bad = await send(main, spec, within(id, { ...plainOf(spec), query: '?no-such-parameter=1' }));
      expect(JSON.parse(bad.text), name).toMatchObject({ transaction: 'rolled_back' });
      complaints.push(...hold(name, 'ValidationException', bad));
    }
    expect(complaints).toEqual([]);
  });

  it('of a write whose Idempotency-Key belongs to another request or one still running', async () => {
    const complaints: string[] = [];
    for (const [name, spec] of table) {
      if (!takesKey(spec)) continue;
      const headers = { 'idempotency-key': world.fresh() };
      // The content of an upload is known only once it is read: its body makes it a different request.
      const different = async (query: string): Promise<Sent> =>
        spec.takes === undefined ? { ...plainOf(spec), query } : recipesOf(name).success(world);
      const sendKeyed = async (sent: Sent): Promise<Came> =>
        send(main, spec, { ...sent, headers: { ...sent.headers, ...headers } });
      await sendKeyed(await different('?a=1'));
      const other = await sendKeyed(await different('?b=1'));
      complaints.push(...hold(name, 'IdempotencyMismatch', other));
      if (!answeredAtOnce.has(name)) complaints.push(...(await holdTwice(name, spec)));
    }
    expect(complaints).toEqual([]);
  });

  it('of an address that does not exist (404), and of a method that an address lacks (405, with Allow)', async () => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
    const problem = { $ref: '#/components/schemas/Problem' };
    for (const [path, item] of Object.entries(api.document.paths)) {
      const has = Object.keys(item).map((method) => method.toUpperCase());
      const address = path.replaceAll(/\{\w+\}/g, 'x');
      // `/rules/validate` also matches `/rules/{id}`, with that route's methods.
      const allowed = (await main.call('OPTIONS', address)).headers.get('allow')?.split(', ') ?? [];
      expect(allowed, path).toEqual(expect.arrayContaining(has));
      const another = methods.find((method) => !allowed.includes(method)) ?? '';
      const { status, headers, body } = await main.call(another, address);
      expect([status, body.code], path).toEqual([405, 'MethodNotAllowed']);
      expect(headers.get('allow')?.split(', '), path).toEqual(allowed);
      expect(api.complaints(problem, body), path).toEqual([]);
      const nothing = await main.call(has[0] ?? '', `${path}/and/much/more`);
      expect([nothing.status, nothing.body.code], path).toEqual([404, 'NotFound']);
      expect(api.complaints(problem, nothing.body), path).toEqual([]);
    }
  });

  it('of a client over its rate limit', async () => {
    const limited = await startServiceUnderTest({ RATE_LIMIT_PER_MINUTE: '1' });
    await limited.call('GET', '/predicates');
    const complaints: string[] = [];
    for (const [name, spec] of subjects)
      if (spec.role !== 'public')
        complaints.push(...hold(name, 'RateLimited', await send(limited, spec, plainOf(spec))));
    await limited.close();
    expect(complaints).toEqual([]);
  });

  it('of a service that is shutting down', async () => {
    const upload = httpRequest(`${main.address}/import`, {
      method: 'POST',
      headers: { 'x-tenant-id': 'default', 'x-api-key': apiKey, 'content-type': 'text/csv' },
    });
    upload.write('late,a\n');
    await expect.poll(() => inFlight()).toBe(1);
    const closed = main.close();
    const complaints: string[] = [];
    for (const [name, spec] of subjects) {
      const came = await send(main, spec, plainOf(spec));
      if (['health', 'metrics', 'replicationStatus'].includes(name))
        complaints.push(...hold(name, 'success', came));
      else if (name === 'ready') {
        expect(came.status).toBe(503);
        complaints.push(...api.complaintsOf(described(spec), came));
      } else complaints.push(...hold(name, 'NotReady', came));
    }
    upload.end();
    const [answer] = (await once(upload, 'response')) as [NodeJS.ReadableStream];
    answer.resume();
    await closed;
    expect(complaints).toEqual([]);
  });
});

async function inFlight(): Promise<number> {
  const { body } = await main.call<string>('GET', '/metrics', undefined, {
    headers: { 'x-api-key': apiKey },
  });
  return Number(/^service_http_requests_in_flight (\d+)/m.exec(body)?.[1]) - 1;
}

/** The same write twice with one key: the second arrives while the disk delays the first. */
async function holdTwice(name: OperationName, spec: OperationSpec): Promise<string[]> {
  const sent = await recipes[name].success(world);
  const keyed = { ...sent, headers: { ...sent.headers, 'idempotency-key': world.fresh() } };
  const { write } = fs;
  let release = (): void => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  let arrive = (): void => {};
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const slow = vi.spyOn(fs, 'write').mockImplementation((...given: unknown[]) => {
    arrive();
    void released.then(() => {
      Reflect.apply(write, fs, given);
    });
  });
  const first = send(main, spec, keyed);
  await Promise.race([arrived, first]);
  const second = await send(main, spec, keyed);
  slow.mockRestore();
  release();
  return [...hold(name, 'success', await first), ...hold(name, 'Conflict', second)];
}

/** These write nothing to disk: they are answered before another request can arrive. */
const answeredAtOnce: ReadonlySet<OperationName> = new Set([
  'beginTransaction',
  'rollbackTransaction',
  // Refused at once: it takes the nodes of a store.
  'moveLog',
]);

const judged = table.filter(([, { isJudged }]) => isJudged === true).map(([name]) => name);

/** What is documented and cannot be provoked here, and why. */
const notProvoked: Readonly<Record<string, readonly string[]>> = {
  'constraints.test.ts provokes it': judged.map((name) => `${name} ConstraintViolated`),
  'test-runs.test.ts provokes it': table
    .filter(([, { runsTests }]) => runsTests === true)
    .map(([name]) => `${name} TestsFailed`),
  'it takes a check of ten seconds': judged
    .filter((name) => recipesOf(name).InferenceLimitExceeded === undefined)
    .map((name) => `${name} InferenceLimitExceeded`),
  'it takes a store in PostgreSQL, as in ../service/store.test.ts': subjects.flatMap(([name, spec]) =>
    codesOf(described(spec))
      .filter((code) => ['NoOwner', 'OutcomeUnknown', 'HistoryChanged', 'TransactionLost'].includes(code))
      .map((code) => `${name} ${code}`),
  ),
  'it takes the nodes of a store, as in ../service/nodes.test.ts': [
    'moveLog success',
    'moveLog NotFound',
    'moveLog DatabaseNotFound',
  ],
  'there is no follower yet that would refuse a write': table
    .filter(([, { kind }]) => kind === 'write')
    .map(([name]) => `${name} NotLeader`),
  'it is a bug, and none is known': subjects.map(([name]) => `${name} Internal`),
  'another rule would have to be taught between the check of the text and its write': [
    'extract RuleException',
  ],
  'it takes a damaged file, or one that retention removes while it is read': [
    'history HistoryGone',
    'forgetEntity HistoryGone',
    'factHistory HistoryGone',
  ],
  'it takes more facts than fit into the memory': [
    'history InferenceLimitExceeded',
    'factHistory InferenceLimitExceeded',
    'revert InferenceLimitExceeded',
  ],
  'it is answered before a second request with its key can come': ['beginTransaction Conflict'],
  'it takes a full memory': ['assertRule QuotaExceeded'],
  'it takes more tests than a request has room for, as in stored-tests.test.ts': ['storeTests QuotaExceeded'],
  'it takes more rules than are planned within a millisecond': ['plan InferenceLimitExceeded'],
  'rebuilding the past takes longer than a test may': ['historyDiff InferenceLimitExceeded'],
  'it takes more facts than are read within ten seconds': [
    'memoryStats InferenceLimitExceeded',
    'diffContext InferenceLimitExceeded',
    'ingest InferenceLimitExceeded',
    'summarizeContext InferenceLimitExceeded',
    'search InferenceLimitExceeded',
    'entity InferenceLimitExceeded',
    'describeEntity InferenceLimitExceeded',
  ],
};

describe('what is documented', () => {
  it('was all provoked, except what cannot be', () => {
    const all = subjects.flatMap(([name, spec]) =>
      ['success', ...codesOf(described(spec))].map((code) => `${name} ${code}`),
    );
    expect(all.filter((each) => !seen.has(each)).toSorted()).toEqual(
      Object.values(notProvoked).flat().toSorted(),
    );
  });

  it('has the form of every problem, even if it cannot be provoked', () => {
    const leader = 'http://leader.example';
    for (const error of [
      new EngineError('NotLeader', 'to the leader', { leader }),
      new EngineError('Internal', 'a bug'),
    ]) {
      const headers = new Headers({
        'content-type': 'application/problem+json',
        'x-request-id': 'a',
        'x-api-version': '1',
      });
      const came = { status: error.status, headers, text: JSON.stringify(problemOf(error, 'a')) };
      expect(api.complaintsOf(described(operations.assertFact), came)).toEqual([]);
    }
  });
});
