import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundleProgram } from '../../engine/testing/child-program.ts';
import { type ServiceUnderTest, startServiceUnderTest } from '../testing/service-under-test.ts';
import { reasoningHost } from './reasoning-host.ts';

/** A service with reasoning threads that are workers, as built. */

let reasoningFile = '';
beforeAll(async () => {
  reasoningFile = await bundleProgram(new URL('../entry/reasoning-thread.ts', import.meta.url));
});

async function start(reasoningAfterMs = 0): Promise<ServiceUnderTest> {
  const options = { reasoningFile, reasoningAfterMs };
  const service = await startServiceUnderTest({ REASONING_THREADS: '1' }, options);
  onTestFinished(() => service.close());
  return service;
}

/** A closure of some hundred thousand pairs. */
async function teachPaths(service: ServiceUnderTest, nodes = 700): Promise<void> {
  const facts = Array.from({ length: nodes }, (_, at) => ({
    predicate: 'edge',
    args: [`n${at}`, `n${at + 1}`],
  }));
  expect((await service.call('POST', '/assert/facts', { facts })).status).toBe(200);
  for (const text of ['path(?x, ?y) :- edge(?x, ?y)', 'path(?x, ?z) :- path(?x, ?y), edge(?y, ?z)'])
    expect((await service.call('POST', '/teach', { text })).status).toBe(200);
}

async function figure(service: ServiceUnderTest, name: string): Promise<number> {
  const { body } = await service.call<string>('GET', '/metrics');
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(body)?.[1]);
}

interface Answer {
  readonly count: number;
  readonly total: number;
  readonly results: string[];
}

test('a heavy question moves to a worker, and sees what was written before it', async () => {
  const service = await start();
  await teachPaths(service);
  const ask = { text: 'path(?x, ?y)', limit: 5000, timeoutMs: 600_000, maxDerivations: 1_000_000_000 };
  const { status, body } = await service.call<Answer>('POST', '/ask', ask);
  expect(status).toBe(200);
  expect([body.count, body.total, body.results[0]]).toEqual([5000, 245_350, 'path(n0, n1)']);
  expect(await figure(service, 'service_reasoning_threads')).toBe(1);
  expect(await figure(service, 'service_reasoning_moved_questions_total')).toBe(1);
  expect(await figure(service, 'service_reasoning_copies')).toBe(1);
  expect(await figure(service, 'service_reasoning_bytes')).toBeGreaterThan(100_000);
  await service.call('POST', '/tell', { predicate: 'edge', args: ['n700', 'n701'] });
  expect((await service.call<Answer>('POST', '/ask', ask)).body.total).toBe(246_051);
  expect(await figure(service, 'service_reasoning_moved_questions_total')).toBe(2);
});

const edges = { predicate: 'edge', args: ['?x', '?y'] };
const moving: readonly (readonly [path: string, body: object])[] = [
  ['/ask', { text: 'path(?x, ?y)' }],
  ['/query', edges],
  ['/explain', { predicate: 'path', args: ['n0', '?y'], mode: 'why' }],
  ['/explain', { predicate: 'path', args: ['n9', 'n0'], mode: 'whyNot' }],
  ['/aggregate', { ...edges, operation: 'COUNT', groupBy: ['?x'] }],
  ['/aggregate', { predicate: 'path', operation: 'COUNT', infer: true }],
  ['/whatIf', { assert: [{ predicate: 'edge', args: ['n9', 'n0'] }] }],
];

test('every read that moves answers from a worker as in place, and sees what was written before it', async () => {
  const [there, here] = [await start(0), await startServiceUnderTest({ REASONING_THREADS: '0' })];
  onTestFinished(() => here.close());
  for (const each of [there, here]) await teachPaths(each, 5);
  let moved = 0;
  for (const [at, [path, body]] of moving.entries()) {
    const edge = { predicate: 'edge', args: [`n${5 + at}`, `n${6 + at}`] };
    for (const each of [there, here]) expect((await each.call('POST', '/tell', edge)).status).toBe(200);
    const [moving, staying] = [await there.call('POST', path, body), await here.call('POST', path, body)];
    expect(moving.status, path).toBe(200);
    const written = (answer: unknown): string =>
      JSON.stringify(answer, (key, value: unknown) =>
        key === 'elapsedMs' || key === 'ruleId' || key === 'factId' ? 0 : value,
      );
    expect(written(moving.body), path).toBe(written(staying.body));
    expect(await figure(there, 'service_reasoning_moved_questions_total'), path).toBe(++moved);
  }
});

test('earlier knowledge is rebuilt and asked on a worker, which reads the folder itself', async () => {
  const storageDir = mkdtempSync(join(tmpdir(), 'corollary-past-'));
  onTestFinished(() => rmSync(storageDir, { recursive: true, force: true }));
  const environment = { REASONING_THREADS: '1', STORAGE_DIR: storageDir, ENCRYPTION_KEY: 'ab'.repeat(32) };
  const service = await startServiceUnderTest(environment, { reasoningFile, reasoningAfterMs: 15 });
  onTestFinished(() => service.close());
  await teachPaths(service, 50);
  await service.call('POST', '/admin/snapshot');
  await service.call('POST', '/tell', { predicate: 'edge', args: ['n50', 'n51'] });
  await service.call('POST', '/tell', { predicate: 'edge', args: ['n51', 'n52'] });
  const ask = (asKnown: number) => service.call<Answer>('POST', '/ask', { text: 'path(?x, ?y)', asKnown });
  expect((await ask(3)).body.total).toBe(1275);
  expect((await ask(4)).body.total).toBe(1326);
  // Long enough to come as text.
  const long = { text: 'path(?x, ?y)', asKnown: 4, withProof: true, limit: 5000 };
  const { body } = await service.call<Answer & { knowledgeGeneration: number }>('POST', '/ask', long);
  expect(JSON.stringify(body).length).toBeGreaterThan(100_000);
  expect([body.results.length, body.knowledgeGeneration]).toEqual([1326, 4]);
  expect(await figure(service, 'service_reasoning_copies')).toBe(2);
  expect(await figure(service, 'service_reasoning_moved_questions_total')).toBe(3);
  const forgotten = await service.call('POST', '/admin/forget', { tenant: 'default', entity: 'n50' });
  expect(forgotten.status).toBe(200);
  expect(await figure(service, 'service_reasoning_copies')).toBe(0);
  expect((await ask(4)).body.total).toBe(1225);
});

test('a thread is started by the first question that takes long, and takes those after it', async () => {
  const service = await start(15);
  await teachPaths(service, 50);
  expect((await service.call<Answer>('POST', '/ask', { text: 'path(?x, ?y)' })).body.total).toBe(1275);
  await service.call('POST', '/teach', { text: 'count(?y) :- count(?x), ?y = ?x + 1' });
  await service.call('POST', '/tell', { predicate: 'count', args: ['0'] });
  const ask = { text: 'count(?x)', timeoutMs: 300, maxDerivations: 1_000_000_000 };
  const moved = async (): Promise<number> => {
    expect((await service.call('POST', '/ask', ask)).status).toBe(422);
    return figure(service, 'service_reasoning_moved_questions_total');
  };
  expect(await moved()).toBe(0);
  await expect.poll(moved, { timeout: 600_000 }).toBe(1);
  expect(service.logged.filter(({ level }) => level === 'WARN')).toEqual([]);
});

test('a heavy question ends at its time', async () => {
  const service = await start();
  await service.call('POST', '/teach', { text: 'count(?y) :- count(?x), ?y = ?x + 1' });
  await service.call('POST', '/tell', { predicate: 'count', args: ['0'] });
  const ask = { text: 'count(?x)', timeoutMs: 200, maxDerivations: 1_000_000_000 };
  const { status, body } = await service.call('POST', '/ask', ask);
  expect(status).toBe(422);
  expect(body).toMatchObject({ code: 'InferenceLimitExceeded', limit: 'timeoutMs' });
});

test('a worker that never comes back is ended, its caller is answered, and another question begins again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'corollary-stuck-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [flag, program] = [join(folder, 'stuck'), join(folder, 'program.mjs')];
  writeFileSync(
    program,
    `import { existsSync, rmSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
await import(${JSON.stringify(pathToFileURL(reasoningFile).href)});
parentPort.on('message', ({ kind, task }) => {
  if (kind !== 'ask' || task.kind !== 'explain' || !existsSync(${JSON.stringify(flag)})) return;
  rmSync(${JSON.stringify(flag)});
  for (;;);
});
`,
  );
  const service = await startServiceUnderTest(
    { REASONING_THREADS: '1' },
    { reasoningFile: program, reasoningAfterMs: 0 },
  );
  onTestFinished(() => service.close());
  await teachPaths(service, 9);
  writeFileSync(flag, '');
  const why = { predicate: 'path', args: ['n0', '?y'], mode: 'why', timeoutMs: 2000 };
  const stuck = service.call('POST', '/explain', why);
  await expect.poll(() => existsSync(flag), { interval: 10 }).toBe(false);
  const other = service.call<Answer>('POST', '/ask', { text: 'path(?x, ?y)', timeoutMs: 600_000 });
  expect(await stuck).toMatchObject({ status: 422, body: { limit: 'timeoutMs' } });
  expect((await other).body.total).toBe(45);
  expect(await figure(service, 'service_reasoning_replaced_threads_total')).toBe(1);
});

test('an export to a slow reader comes from a worker, whole, while others are served', async () => {
  const service = await start();
  const args = Array.from({ length: 60 }, (_, at) => `${at}${'x'.repeat(60_000)}`);
  const facts = args.map((text) => ({ predicate: 'long', args: [text] }));
  for (let from = 0; from < facts.length; from += 10)
    expect(
      (await service.call('POST', '/assert/facts', { facts: facts.slice(from, from + 10) })).status,
    ).toBe(200);
  await teachPaths(service, 9);
  const headers = { 'x-tenant-id': 'default' };
  const response = await fetch(`${service.address}/export?rules=false&predicate=long`, { headers });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  expect(await figure(service, 'service_reasoning_moved_questions_total')).toBe(1);
  expect((await service.call<Answer>('POST', '/ask', { text: 'path(?x, ?y)' })).body.total).toBe(45);
  await service.call('POST', '/tell', { predicate: 'long', args: ['later'] });
  const decoder = new TextDecoder();
  let text = decoder.decode(first?.value, { stream: true });
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read())
    text += decoder.decode(next.value, { stream: true });
  const lines = text.split('\n').slice(0, -1);
  expect(lines.map((line) => (JSON.parse(line) as { args: string[] }).args[0])).toEqual(args);
});

test('threads that cannot start leave the questions on the serving thread', async () => {
  const service = await startServiceUnderTest(
    { REASONING_THREADS: '1' },
    { reasoningFile: `${reasoningFile}.missing`, reasoningAfterMs: 0 },
  );
  onTestFinished(() => service.close());
  await teachPaths(service, 300);
  for (let at = 0; at < 3; at++) {
    const ask = { text: 'path(?x, ?y)', limit: 1 + at, timeoutMs: 600_000 };
    expect((await service.call<Answer>('POST', '/ask', ask)).body.total).toBe(45_150);
  }
  const said = service.logged.map(({ msg }) => String(msg)).filter((each) => /thread/.test(each));
  expect(said).toEqual([
    expect.stringMatching(/^Reasoning threads do not start here, so all questions stay/),
  ]);
});

test('a program without reasoning threads says so once, and answers in place', async () => {
  const service = await startServiceUnderTest({ REASONING_THREADS: '1' });
  onTestFinished(() => service.close());
  await teachPaths(service, 10);
  expect((await service.call<Answer>('POST', '/ask', { text: 'path(?x, ?y)' })).body.total).toBe(55);
  const said = service.logged.filter(({ msg }) => /this program was not built/.test(String(msg)));
  expect(said).toHaveLength(1);
  expect(await figure(service, 'service_reasoning_threads')).toBe(0);
});

test('a worker that runs out of its heap ends alone, and its owner is told', async () => {
  const settings = { memoryBytes: 2 ** 40, questionBytes: 2 ** 40, log: null };
  const host = reasoningHost(reasoningFile, { count: 1000, ...settings });
  let ended: unknown = null;
  const link = host.start({
    message: () => undefined,
    ended: (error) => {
      ended = error;
    },
  });
  link.post({ kind: 'open', copy: 1, database: 'default', tenant: 'default' }, []);
  for (let batch = 0; batch < 100 && ended === null; batch++) {
    const names = Array.from({ length: 2000 }, (_, at) => `${batch} ${at} ${'x'.repeat(4000)}`);
    link.post({ kind: 'scopes', copy: 1, names }, []);
    await setImmediate();
  }
  await expect.poll(() => String(ended)).toMatch(/memory/);
});
