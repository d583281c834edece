import { cp, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../base/clock.ts';
import type { EngineOptions } from '../open-part.ts';
import {
  chainOf,
  day,
  factInput,
  openSession,
  refusal,
  type Session,
  startTime,
} from '../testing/engine-fixtures.ts';

/** Snapshots of a service with a folder: contract section 9. */

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corollary-snapshot-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

function openFolder(
  storageDir: string,
  options: Partial<EngineOptions> = {},
  time = startTime,
): Promise<Session> {
  return openSession({ storageDir, clock: new ManualClock(time), ...options });
}

/** An engine over a copy of the folder, as after killing the process now. */
async function afterKill({ clock }: Session, folder: string): Promise<Session> {
  const copy = await temporaryFolder();
  await cp(folder, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
  return openFolder(copy, {}, clock.now());
}

/** Ends the engine without a last snapshot. */
async function endWithout({ engine }: Session): Promise<void> {
  await engine.close(0);
}

/** Log files and snapshots with their sizes, without lock files. */
async function files(folder: string): Promise<Map<string, number>> {
  const names = (await readdir(folder)).filter((name) => /\.(log|snapshot|tmp)$/.test(name)).sort();
  return new Map(
    await Promise.all(names.map(async (name) => [name, (await stat(join(folder, name))).size] as const)),
  );
}

test('a snapshot says what it covers and replaces the log before it', async () => {
  const folder = await temporaryFolder();
  const session = await openFolder(folder);
  await session.tellAll(chainOf(50));
  const taken = await session.engine.snapshot();
  expect(taken).toEqual({ position: 2, bytes: expect.any(Number), elapsedMs: expect.any(Number) });
  expect([...(await files(folder))]).toEqual([
    ['0000000002.log', 128],
    ['0000000002.snapshot', taken.bytes],
  ]);
  await session.tell('edge(n50, n51)');
  const again = await afterKill(session, folder);
  expect(await again.list({ limit: '100' })).toEqual(await session.list({ limit: '100' }));
  expect((await again.tell('p(a)')).generation).toBe((await session.tell('p(a)')).generation);
});

test('uses by questions, salience and rule firings survive a clean end', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  await first.teach('reach(?x, ?y) :- edge(?x, ?y)');
  await first.tellAll(['edge(a, b)', 'edge(b, c)']);
  first.clock.advance(day);
  for (let time = 0; time < 12; time++) {
    await first.results('edge(a, ?x)');
    first.clock.advance(1000);
  }
  await first.results('reach(?x, ?y)');
  const { facts } = await first.list();
  const rules = await first.engine.rules(first.caller);
  expect(rules[0]?.fired).toBe(2);
  await first.engine.close();
  const second = await openFolder(folder, {}, first.clock.now());
  expect((await second.list()).facts).toEqual(facts);
  expect(await second.engine.rules(second.caller)).toEqual(rules);
});

test('a clean end writes a snapshot only if anything changed, uses included', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  await first.tell('p(a)');
  await first.engine.close();
  const written = await files(folder);
  expect([...written.keys()]).toEqual(['0000000002.log', '0000000002.snapshot']);
  await (await openFolder(folder)).engine.close();
  expect(await files(folder)).toEqual(written);
  const third = await openFolder(folder);
  await third.results('p(?x)');
  await third.engine.close();
  expect([...(await files(folder)).keys()]).toEqual(['0000000003.log', '0000000002.snapshot'].sort());
});

test('an engine without time for a last snapshot loses nothing acknowledged', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  await first.tellAll(chainOf(30));
  const { facts } = await first.list({ limit: '100' });
  await endWithout(first);
  expect([...(await files(folder)).keys()]).toEqual(['0000000001.log']);
  expect((await (await openFolder(folder)).list({ limit: '100' })).facts).toEqual(facts);
});

test('a retraction before a snapshot still counts for ifGeneration after it', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  const { generation } = await first.tell('p(a)');
  await first.forget('p(a)');
  await first.engine.close();
  const second = await openFolder(folder);
  const conflict = await refusal(second.tell('p(a)', { ifGeneration: generation }));
  expect(conflict.code).toBe('Conflict');
  expect((await second.tell('p(a)', { ifGeneration: generation + 1 })).status).toBe('asserted');
});

test('writes continue while snapshots are written, and all are recovered', async () => {
  const folder = await temporaryFolder();
  const session = await openFolder(folder);
  await session.tellAll(chainOf(5000));
  let isDone = false;
  const snapshots = async (): Promise<number[]> => {
    const positions: number[] = [];
    while (!isDone) positions.push((await session.engine.snapshot()).position);
    return positions;
  };
  const writing = Promise.all(
    Array.from({ length: 8 }, async (_, writer) => {
      for (let count = 0; count < 60; count++)
        if (count % 7 === 6) await session.forgetPattern(`edge(n${writer * 100 + count}, ?_)`);
        else if (count % 11 === 10) await session.tellAll(chainOf(400, `many${writer}`));
        else await session.tell(`single(${writer}, ${count})`, { metadata: { count } });
    }),
  ).finally(() => {
    isDone = true;
  });
  const [positions] = await Promise.all([snapshots(), writing]);
  expect(positions).toEqual([...positions].sort((left, right) => left - right));
  const stored = async ({ list, query }: Session): Promise<unknown[]> => [
    await query('edge(?x, ?y)'),
    await query('single(?x, ?y)'),
    await query('many3(?x, ?y)'),
    (await list()).total,
  ];
  const all = await stored(session);
  expect(await stored(await afterKill(session, folder))).toEqual(all);
  await session.engine.close();
  expect(await stored(await openFolder(folder))).toEqual(all);
});

test('two concurrent requests both get a snapshot that contains their earlier writes', async () => {
  const session = await openFolder(await temporaryFolder());
  await session.tell('p(a)');
  const first = session.engine.snapshot();
  const second = session.tell('p(b)').then(() => session.engine.snapshot());
  const third = session.engine.snapshot();
  const [, { position }] = await Promise.all([first, second, third]);
  expect(position).toBe(3);
});

test('disk usage follows the current data, not its history', async () => {
  const folder = await temporaryFolder();
  const session = await openFolder(folder);
  const long = 'x'.repeat(1000);
  for (let round = 0; round < 5; round++)
    await session.tellAll(Array.from({ length: 500 }, (_, at) => `p("${round} ${at} ${long}")`));
  await session.forgetPattern('p(?x)');
  await session.tell('p(last)');
  await session.engine.snapshot();
  const sizes = [...(await files(folder)).values()];
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(2_500_000 / 4);
});

test('snapshots are written periodically', async () => {
  const folder = await temporaryFolder();
  const session = await openFolder(folder, { snapshotIntervalMs: 20 });
  await session.tell('p(a)');
  await expect.poll(async () => [...(await files(folder)).keys()]).toContain('0000000002.snapshot');
  await session.tell('p(b)');
  await expect
    .poll(async () => [...(await files(folder)).keys()])
    .toEqual(['0000000003.log', '0000000003.snapshot']);
});

test('an engine that has closed takes no snapshot', async () => {
  const session = await openFolder(await temporaryFolder());
  await session.engine.close();
  expect((await refusal(session.engine.snapshot())).code).toBe('NotReady');
});

test('a folder with a longer constant than is accepted today opens, and keeps it', async () => {
  const folder = await temporaryFolder();
  const first = await openFolder(folder);
  // An earlier version of the schemas accepted this fact.
  const long = 'x'.repeat(200_000);
  await first.engine.tell(first.caller, { ...factInput('p(a, b)'), args: ['a', long] });
  await first.teach('q(?x) :- p(?x, ?y), ?y != "z"');
  const fromLog = await afterKill(first, folder);
  await first.engine.fork(first.caller, { source: null, target: 's' });
  await first.engine.snapshot();
  const fromSnapshot = await afterKill(first, folder);
  for (const session of [first, fromLog, fromSnapshot]) {
    const { bindings } = await session.ask('p(a, ?long)', { unscoped: true });
    expect(bindings).toEqual([{ long }]);
    expect(await session.results('q(?x)', { unscoped: true })).toEqual(['q(a)']);
  }
  expect((await first.forgetPattern('p(a, ?any)')).retracted).toBe(2);
});
